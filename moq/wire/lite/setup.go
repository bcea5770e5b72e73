package lite

import (
	"fmt"
	"slices"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// Parameters of a SETUP.
const (
	paramProbe = 1
	paramPath  = 2
	paramRole  = 3
	paramCost  = 4
	paramHop   = 5
)

// Setup says what its sender is and can do, SETUP (§5). Both sides send one on
// a unidirectional stream of type StreamSetup, then FIN. 05 and later.
type Setup struct {
	Probe ProbeLevel // how the sender answers a probe stream
	// Path is the request path with its query, from a client whose transport
	// has no URL. It may hold credentials. Empty means the default path.
	Path string
	Role Role     // what a client is there for
	Cost Optional // price of the link for what the receiver pulls over it; absent = 1, used on 06 and later
	Hop  uint64   // the sender's own hop id; 0 = withheld
}

// ProbeLevel is what a publisher does on a probe stream.
type ProbeLevel uint8

// The probe levels. A higher one on the wire reads as ProbeIncrease.
const (
	ProbeNone     ProbeLevel = iota // nothing
	ProbeReport                     // reports what it measures anyway
	ProbeIncrease                   // may send padding to measure more
)

// Role says that a client uses only one direction.
type Role uint8

// The roles. An unknown one on the wire reads as RoleBoth.
const (
	RoleBoth Role = iota
	RolePublisher
	RoleSubscriber
)

// Append appends the framed message, parameters in the order of their ids.
func (m Setup) Append(b []byte, v Version) []byte {
	enc := v.Encoding()
	start := len(b)
	b = enc.AppendVarint(b, m.params())
	if m.Probe != ProbeNone {
		b = appendNumberParam(b, enc, paramProbe, uint64(m.Probe))
	}
	if m.Path != "" {
		b = enc.AppendString(enc.AppendVarint(b, paramPath), m.Path)
	}
	if m.Role != RoleBoth {
		b = appendNumberParam(b, enc, paramRole, uint64(m.Role))
	}
	if m.Cost.OK {
		b = appendNumberParam(b, enc, paramCost, m.Cost.V)
	}
	if m.Hop != 0 {
		b = appendNumberParam(b, enc, paramHop, m.Hop)
	}
	return enc.PrefixLength(b, start)
}

// params returns how many parameters are present.
func (m Setup) params() (n uint64) {
	for _, present := range [...]bool{m.Probe != ProbeNone, m.Path != "", m.Role != RoleBoth, m.Cost.OK, m.Hop != 0} {
		if present {
			n++
		}
	}
	return n
}

func appendNumberParam(b []byte, enc wire.Encoding, id, value uint64) []byte {
	b = enc.AppendVarint(b, id)
	b = enc.AppendVarint(b, uint64(enc.VarintLen(value)))
	return enc.AppendVarint(b, value)
}

// DecodeSetup decodes a body. Unknown parameters are ignored; a repeated one,
// known or not, is wire.ErrDuplicate.
func DecodeSetup(body []byte, v Version) (m Setup, err error) {
	r := v.reader(body)
	n := r.Varint()
	if n > MaxParams {
		r.Fail(fmt.Errorf("%d parameters: %w", n, wire.ErrTooMany))
		n = 0
	}
	seen := make([]uint64, 0, 8)
	for range n {
		id, value := r.Varint(), r.Bytes(MaxSetup)
		if r.Err() != nil {
			break
		}
		if slices.Contains(seen, id) {
			r.Fail(fmt.Errorf("parameter %d: %w", id, wire.ErrDuplicate))
		}
		seen = append(seen, id)
		if err := m.set(id, value, v); err != nil {
			r.Fail(fmt.Errorf("parameter %d: %w", id, err))
		}
	}
	return m, finish(&r, "SETUP")
}

func (m *Setup) set(id uint64, value []byte, v Version) error {
	r := v.reader(value)
	switch id {
	case paramProbe:
		m.Probe = ProbeLevel(min(r.Varint(), uint64(ProbeIncrease)))
	case paramPath:
		m.Path = r.Text()
	case paramRole:
		m.Role = readRole(&r)
	case paramCost:
		m.Cost = Some(r.Varint())
	case paramHop:
		m.Hop = r.Varint()
	default:
		return nil
	}
	return r.Close()
}

func readRole(r *wire.Reader) Role {
	switch role := r.Varint(); role {
	case uint64(RolePublisher), uint64(RoleSubscriber):
		return Role(role)
	default:
		return RoleBoth
	}
}
