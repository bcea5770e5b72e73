package wire

import "errors"

// What can be wrong with a message. Decoders wrap these; test with errors.Is.
var (
	// ErrShort says that the body ended before its fields did.
	ErrShort = errors.New("message too short")
	// ErrTrailing says that bytes were left over after the last field.
	ErrTrailing = errors.New("bytes left over")
	// ErrValue says that a field holds a value its type does not have.
	ErrValue = errors.New("invalid value")
	// ErrTooLarge says that a number or a length is above its bound.
	ErrTooLarge = errors.New("too large")
	// ErrTooMany says that a list has more entries than its bound.
	ErrTooMany = errors.New("too many entries")
	// ErrUTF8 says that a string is not UTF-8.
	ErrUTF8 = errors.New("invalid UTF-8")
	// ErrDuplicate says that an entry which must be unique is repeated.
	ErrDuplicate = errors.New("duplicate entry")
)
