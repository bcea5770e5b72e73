package moqt

// Codes have names that last and numbers that drafts move around (§10), so
// each kind of code is a type of ours with a table of its numbers.

// assignment is the number of a code in some drafts.
type assignment[C ~uint8] struct {
	code        C
	number      uint64
	first, last Version
}

// assignments is the registry of one kind of code.
type assignments[C ~uint8] []assignment[C]

// number returns the number of a code, ok false if the draft has none for it.
func (as assignments[C]) number(code C, v Version) (n uint64, ok bool) {
	for _, a := range as {
		if a.code == code && a.first <= v && v <= a.last {
			return a.number, true
		}
	}
	return 0, false
}

// code is the inverse of number.
func (as assignments[C]) code(n uint64, v Version) (code C, ok bool) {
	for _, a := range as {
		if a.number == n && a.first <= v && v <= a.last {
			return a.code, true
		}
	}
	return code, false
}
