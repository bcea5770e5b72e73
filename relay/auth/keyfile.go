package auth

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/moqmesh/moqmesh/token"
)

// keyFile is a local key file, read again when it has changed. A file that
// became unreadable leaves the last good keys in use.
type keyFile struct {
	path string
	log  *slog.Logger

	mu   sync.Mutex  // guards the rest, and reading the file
	info fs.FileInfo // of the content last read; nil = none
	set  *token.KeySet
	err  error // of the last look; nil = set is what the file holds
}

func openKeyFile(path string, log *slog.Logger) (*keyFile, error) {
	f := &keyFile{path: path, log: log}
	_, err := f.look(time.Time{})
	return f, err
}

func (f *keyFile) get(_ context.Context, now time.Time, _ string) (*token.KeySet, error) {
	set, err := f.look(now)
	if set != nil {
		return set, nil
	}
	return nil, err
}

// look returns the last good keys, and why they are not the file's present content.
func (f *keyFile) look(now time.Time) (*token.KeySet, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	info, err := os.Stat(f.path)
	switch {
	case err != nil:
		f.info = nil
		f.fail(err)
	case f.info == nil || changed(f.info, info, now):
		f.read(info)
	}
	return f.set, f.err
}

// settled is how old a file must be before its times can be trusted to tell one
// write from the next.
const settled = 2 * time.Second

func changed(was, is fs.FileInfo, now time.Time) bool {
	return !os.SameFile(was, is) || is.Size() != was.Size() || !is.ModTime().Equal(was.ModTime()) ||
		now.Sub(is.ModTime()) < settled
}

func (f *keyFile) read(info fs.FileInfo) {
	f.info = info // from before the read: a write in between is seen next time
	data, err := readBounded(f.path)
	if err != nil {
		f.fail(err)
		return
	}
	set, err := token.ParseKeySet(data)
	if err != nil {
		f.fail(fmt.Errorf("%s: %w", f.path, err))
		return
	}
	f.set, f.err = set, nil
}

// fail logs a reason once, however many connections meet it.
func (f *keyFile) fail(err error) {
	if f.set != nil && (f.err == nil || f.err.Error() != err.Error()) {
		warn(f.log, f.path, err)
	}
	f.err = err
}

func readBounded(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, token.MaxKeyBytes+1)) // the parser refuses the longer ones
}
