package peers

import (
	"maps"
	"slices"
)

// Owner is who wants a peer dialled. A lesser one decides how.
type Owner uint8

// The owners.
const (
	Static Owner = iota // the configuration
	API                 // the list of cluster.connect_api
	Gossip              // the peer's own announcement
	owners
)

func (o Owner) String() string { return [...]string{"connect", "connect_api", "gossip"}[o] }

// ActionKind is what is to be done about a link.
type ActionKind uint8

// The kinds of actions. Nothing is the zero value.
const (
	Nothing ActionKind = iota
	Dial               // there is no link yet
	Redial             // the link stays until one with the new settings is up
	Reprice            // the link stays, at another price
	Stop               // nobody wants the link any more
)

func (k ActionKind) String() string {
	return [...]string{"nothing", "dial", "redial", "reprice", "stop"}[k]
}

// Action is what a change of wishes comes to, for one link.
type Action struct {
	Kind  ActionKind
	Entry Entry // the settings now in force; for Stop those that were
	Owner Owner // whose they are
	// Handed says that the settings are another owner's than before. Not for Dial and Stop.
	Handed bool
}

// Set is who wants which peers. Each owner's settings are kept for as long as it wants the peer; those of the first
// owner count. Make one with NewSet.
type Set struct {
	own   Key
	peers map[Key]*wishes
}

type wishes struct {
	entries [owners]Entry
	wanted  [owners]bool
}

// NewSet returns an empty set for the relay with the key own, which never links with itself; "" is nobody.
func NewSet(own Key) *Set { return &Set{own: own, peers: make(map[Key]*wishes)} }

// first is the owner that decides; ok is false where there is none.
func (w *wishes) first() (o Owner, ok bool) {
	i := slices.Index(w.wanted[:], true)
	return Owner(max(i, 0)), i >= 0
}

// Want notes that o wants a peer in this way, in place of what it wanted before.
func (s *Set) Want(o Owner, e Entry) Action {
	if e.Key == s.own {
		return Action{}
	}
	return s.change(e.Key, func(w *wishes) { w.entries[o], w.wanted[o] = e, true })
}

// Drop notes that o does not want the peer any more.
func (s *Set) Drop(o Owner, k Key) Action {
	if s.peers[k] == nil {
		return Action{}
	}
	return s.change(k, func(w *wishes) { w.entries[o], w.wanted[o] = Entry{}, false })
}

// Replace makes list all that o wants. Actions come in the order of the list, those for peers that are not in it
// afterwards, by key; without those that are Nothing.
func (s *Set) Replace(o Owner, list []Entry) []Action {
	var actions []Action
	add := func(a Action) {
		if a.Kind != Nothing {
			actions = append(actions, a)
		}
	}
	listed := make(map[Key]bool, len(list))
	for _, e := range list {
		listed[e.Key] = true
		add(s.Want(o, e))
	}
	for _, k := range s.Keys() {
		if !listed[k] && s.peers[k].wanted[o] {
			add(s.Drop(o, k))
		}
	}
	return actions
}

func (s *Set) change(k Key, apply func(*wishes)) Action {
	w := s.peers[k]
	if w == nil {
		w = new(wishes)
		s.peers[k] = w
	}
	before, had := w.first()
	old := w.entries[before]
	apply(w)
	after, has := w.first()
	if !has {
		delete(s.peers, k)
	}
	switch {
	case !had && !has:
		return Action{}
	case !had:
		return Action{Kind: Dial, Entry: w.entries[after], Owner: after}
	case !has:
		return Action{Kind: Stop, Entry: old, Owner: before}
	}
	return Action{Kind: Transition(old, w.entries[after]), Entry: w.entries[after], Owner: after, Handed: before != after}
}

// Transition is what a link needs to follow other settings.
func Transition(from, to Entry) ActionKind {
	if from == to {
		return Nothing
	}
	if from.Cost = to.Cost; from == to {
		return Reprice
	}
	return Redial
}

// Keys lists the peers that somebody wants, in order.
func (s *Set) Keys() []Key { return slices.Sorted(maps.Keys(s.peers)) }

// Len is how many peers somebody wants.
func (s *Set) Len() int { return len(s.peers) }

// Owners lists who wants a peer, the one that decides first.
func (s *Set) Owners(k Key) (list []Owner) {
	if w := s.peers[k]; w != nil {
		for o := range owners {
			if w.wanted[o] {
				list = append(list, o)
			}
		}
	}
	return list
}
