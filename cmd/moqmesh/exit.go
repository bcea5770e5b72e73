package main

import (
	"errors"
	"flag"
	"fmt"

	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/client"
	"github.com/moqmesh/moqmesh/token"
)

// The exit statuses, as statuses tells them.
const (
	exitOK = iota
	exitFailed
	exitUsage
	exitRefused
	exitNotFound
)

const statuses = `
Exit status: 0 done, 1 failed, 2 wrong use, 3 refused or not authorised,
4 no such broadcast, track or group.
`

// usageError is a wrong command line.
type usageError struct {
	command string // as it is called, such as "moqmesh token sign"
	err     error
}

func (e *usageError) Error() string { return e.err.Error() }

func (e *usageError) Unwrap() error { return e.err }

// helpError is a command line that asks for help.
type helpError struct{ text string }

func (e *helpError) Error() string { return flag.ErrHelp.Error() }

// report tells how a command ended and returns the exit status.
func report(std streams, command string, err error) int {
	var help *helpError
	if errors.As(err, &help) {
		fmt.Fprint(std.out, help.text)
		return exitOK
	}
	if err == nil {
		return exitOK
	}
	fmt.Fprintf(std.err, "%s: %v\n", command, err)
	var wrong *usageError
	if errors.As(err, &wrong) {
		fmt.Fprintf(std.err, "Run %q for help.\n", wrong.command+" -h")
	}
	return exitStatus(err)
}

func exitStatus(err error) int {
	var wrong *usageError
	var bad *token.Error
	switch {
	case errors.As(err, &wrong):
		return exitUsage
	case errors.As(err, &bad), client.Refused(err):
		return exitRefused
	case errors.Is(err, moq.ErrNotFound), errors.Is(err, moq.ErrUnroutable):
		return exitNotFound
	}
	return exitFailed
}
