package session

import (
	"context"
	"errors"

	"github.com/moqmesh/moqmesh/moq"
)

// streamCodes pairs the model's reasons with the stream codes that say them.
var streamCodes = []struct {
	err  error
	code StreamCode
}{
	{moq.ErrNotFound, StreamNotFound},
	{moq.ErrUnroutable, StreamUnroutable},
	{moq.ErrCancelled, StreamCancelled},
	{moq.ErrClosed, StreamCancelled},
	{moq.ErrExpired, StreamExpired},
	{moq.ErrEvicted, StreamEvicted},
	{moq.ErrWrongSize, StreamWrongSize},
	{moq.ErrFrameTooLarge, StreamFrameTooLarge},
	{moq.ErrGroupTooLarge, StreamGroupTooLarge},
	{moq.ErrTimestamp, StreamTimestamp},
	{moq.ErrMalformed, StreamMalformed},
	{moq.ErrDuplicate, StreamCancelled},
	{moq.ErrGoingAway, StreamGoingAway},
	{moq.ErrTimeout, StreamControlTimeout},
}

// formerCodes are those of relays before 0.17, which had one registry for streams
// and sessions, as far as no code of today means something else.
var formerCodes = map[StreamCode]error{
	13: moq.ErrNotFound,
	14: moq.ErrWrongSize,
	24: moq.ErrCancelled, // "dropped"
	25: moq.ErrClosed,
	26: moq.ErrExpired, // "lagged"
	27: moq.ErrFrameTooLarge,
	29: moq.ErrTimestamp,
	30: moq.ErrUnroutable,
	31: moq.ErrEvicted,
}

// streamCode returns the code that tells a peer why a stream ends.
func streamCode(err error) StreamCode {
	for _, c := range streamCodes {
		if errors.Is(err, c.err) {
			return c.code
		}
	}
	var reset *StreamError
	if errors.As(err, &reset) && reset.Coded {
		return reset.Code
	}
	if errors.Is(err, context.Canceled) {
		return StreamCancelled
	}
	return StreamInternal
}

// modelError returns what the model calls the end of a stream or of the connection;
// other errors are returned as they are.
func modelError(err error) error {
	var reset *StreamError
	switch {
	case overWith(err):
		return moq.ErrClosed
	case !errors.As(err, &reset):
		return err
	}
	if !reset.Coded || reset.Code == StreamInternal {
		return moq.ErrCancelled
	}
	for _, c := range streamCodes {
		if reset.Code == c.code {
			return c.err
		}
	}
	if former, ok := formerCodes[reset.Code]; ok {
		return former
	}
	return err
}

// violation is an error for which the session must end with a close code.
type violation struct {
	code SessionCode
	err  error
}

func (v *violation) Error() string { return v.err.Error() }
func (v *violation) Unwrap() error { return v.err }

func violated(err error) error { return &violation{CodeProtocolViolation, err} }
