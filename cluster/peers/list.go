package peers

import (
	"encoding/json"
	"errors"
	"fmt"
)

// MaxPeers is the longest list of peers that is taken.
const MaxPeers = 1024

// ErrNotList says that a document is not a JSON array.
var ErrNotList = errors.New("not a JSON array of peers")

// ParseList reads a JSON array of URLs and objects. The relay whose key is own is left out of it; "" is nobody. A list
// is good as a whole or not at all: the error tells everything that is wrong, by index, and wraps ErrNotList where
// there is no array. Bare hosts are accepted.
func ParseList(doc []byte, own Key) ([]Entry, error) {
	var raw []json.RawMessage
	if err := json.Unmarshal(doc, &raw); err != nil || raw == nil {
		return nil, ErrNotList
	}
	if len(raw) > MaxPeers {
		return nil, fmt.Errorf("%d peers, more than %d", len(raw), MaxPeers)
	}
	list := make([]Entry, 0, len(raw))
	var errs []error
	for i, r := range raw {
		e, err := decode(r)
		if err != nil {
			errs = append(errs, fmt.Errorf("invalid peer at index %d: %w", i, err))
		}
		list = append(list, e)
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return Unique(list, own)
}

func decode(raw json.RawMessage) (Entry, error) {
	var o Object
	if err := json.Unmarshal(raw, &o); err != nil {
		return Entry{}, err
	}
	e, _, err := o.Entry()
	return e, err
}

// Unique returns list with repetitions and the relay whose key is own left out, in its order. A peer that is there
// twice with different settings is an error.
func Unique(list []Entry, own Key) ([]Entry, error) {
	first := make(map[Key]int, len(list))
	kept := make([]Entry, 0, len(list))
	var errs []error
	for i, e := range list {
		at, known := first[e.Key]
		switch {
		case e.Key == own:
		case !known:
			first[e.Key] = i
			kept = append(kept, e)
		case list[at] != e:
			errs = append(errs, fmt.Errorf("invalid peer at index %d: %s is at index %d with different settings", i, e.Key, at))
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return kept, nil
}
