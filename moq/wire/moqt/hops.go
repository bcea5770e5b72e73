package moqt

import (
	"fmt"
	"slices"

	"github.com/moqmesh/moqmesh/moq/wire"
)

func appendHops(b []byte, enc wire.Encoding, hops []uint64) []byte {
	for _, hop := range hops {
		b = enc.AppendVarint(b, hop)
	}
	return b
}

// hopPath reads the value of HOP_PATH and holds it to the rules (§13.5): one to
// MaxHops ids that fill the length, none above wire.MaxVarint and none twice
// but 0, which stands for an unknown relay.
func (r *reader) hopPath() (hops []uint64) {
	r.nested(func(r *reader) {
		for r.Len() > 0 {
			hop := r.Varint()
			if err := checkHop(hops, hop); err != nil {
				r.Fail(fmt.Errorf("hop %d: %w", hop, err))
			}
			hops = append(hops, hop)
		}
		if len(hops) == 0 && r.Err() == nil {
			r.Fail(fmt.Errorf("no hop: %w", wire.ErrValue))
		}
	})
	return hops
}

// checkHop reports what is wrong with a hop that follows others.
func checkHop(before []uint64, hop uint64) error {
	switch {
	case len(before) == MaxHops:
		return wire.ErrTooMany
	case hop > wire.MaxVarint:
		return wire.ErrTooLarge
	case hop != 0 && slices.Contains(before, hop):
		return wire.ErrDuplicate
	default:
		return nil
	}
}
