package moqt

// Optional is a value that may be absent. The zero value is absent.
type Optional[T any] struct {
	V  T    // the zero value when absent
	OK bool // present
}

// Some returns v as a present Optional.
func Some[T any](v T) Optional[T] { return Optional[T]{V: v, OK: true} }

// or returns the value, or v where there is none.
func (o Optional[T]) or(v T) T {
	if o.OK {
		return o.V
	}
	return v
}
