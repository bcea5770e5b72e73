package wire

// AppendOptional appends an integer that may be absent, the inverse of
// Reader.Optional. The largest that fits is MaxVarint-1; one more is written as
// that, since a bound taken from a dialect that sends it plain may reach it.
func (e Encoding) AppendOptional(b []byte, v uint64, ok bool) []byte {
	if !ok {
		return e.AppendVarint(b, 0)
	}
	return e.AppendVarint(b, min(v, MaxVarint-1)+1)
}

// AppendBool appends one byte, 0 or 1.
func AppendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

// AppendString appends the length of s in bytes, then s.
func (e Encoding) AppendString(b []byte, s string) []byte {
	return append(e.AppendVarint(b, uint64(len(s))), s...)
}

// AppendBytes appends the length of p, then p.
func (e Encoding) AppendBytes(b, p []byte) []byte {
	return append(e.AppendVarint(b, uint64(len(p))), p...)
}
