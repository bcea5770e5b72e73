package peers

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const key = Key("https://a.example/")

// of is an entry that differs between owners in what cannot be changed in place.
func of(o Owner) Entry { return Entry{Key: key, Token: o.String()} }

// TestOwners removes one owner from each set of owners (A07): the link ends with the last one, changes hands when
// the one that decided goes, and stays as it is otherwise.
func TestOwners(t *testing.T) {
	for set := range 1 << owners {
		for gone := range owners {
			t.Run(fmt.Sprintf("%03b-%s", set, gone), func(t *testing.T) {
				s := NewSet("")
				var have []Owner
				for o := range owners {
					if set&(1<<o) != 0 {
						s.Want(o, of(o))
						have = append(have, o)
					}
				}
				left := slices.DeleteFunc(slices.Clone(have), func(o Owner) bool { return o == gone })
				if got, want := s.Drop(gone, key), dropped(have, left); got != want {
					t.Errorf("Drop = %+v, want %+v", got, want)
				}
				if got := s.Owners(key); !slices.Equal(got, left) {
					t.Errorf("owners %v, want %v", got, left)
				}
				if got := s.Len(); got != min(len(left), 1) {
					t.Errorf("%d peers, want %d", got, min(len(left), 1))
				}
			})
		}
	}
}

// dropped is the action that a set of owners owes to the loss of one.
func dropped(have, left []Owner) Action {
	switch {
	case len(have) == 0:
		return Action{}
	case len(left) == 0:
		return Action{Kind: Stop, Entry: of(have[0]), Owner: have[0]}
	case left[0] == have[0]:
		return Action{Kind: Nothing, Entry: of(have[0]), Owner: have[0]}
	}
	return Action{Kind: Redial, Entry: of(left[0]), Owner: left[0], Handed: true}
}

func TestWant(t *testing.T) {
	plain := Entry{Key: key}
	priced, token, query, egress := plain, plain, plain, plain
	priced.Cost, token.Token, query.Query, egress.Egress = Fixed(3), "t", "a=1", Fixed(2)
	auto := plain
	auto.Cost = Auto
	both := token
	both.Cost = Fixed(3)
	for _, tc := range []struct {
		name     string
		from, to Entry
		want     ActionKind
	}{
		{"identical", priced, priced, Nothing},
		{"cost", plain, priced, Reprice},
		{"cost withdrawn", priced, plain, Reprice},
		{"measured cost", priced, auto, Reprice},
		{"token", plain, token, Redial},
		{"token and cost", plain, both, Redial},
		{"query", plain, query, Redial},
		{"egress, which only SETUP can say", plain, egress, Redial},
	} {
		s := NewSet("")
		if a := s.Want(API, tc.from); a != (Action{Kind: Dial, Entry: tc.from, Owner: API}) {
			t.Errorf("%s: first wish: %+v", tc.name, a)
		}
		if a := s.Want(API, tc.to); a != (Action{Kind: tc.want, Entry: tc.to, Owner: API}) {
			t.Errorf("%s: %+v, want %s", tc.name, a, tc.want)
		}
	}
}

// A lesser owner's change is remembered and acted on only when the one before it goes.
func TestFallbackIsKeptUpToDate(t *testing.T) {
	s := NewSet("")
	s.Want(Static, of(Static))
	s.Want(API, of(API))
	changed := of(API)
	changed.Query = "v=2"
	if a := s.Want(API, changed); a.Kind != Nothing || a.Entry != of(Static) {
		t.Errorf("change of a fallback: %+v", a)
	}
	if a := s.Drop(Static, key); a != (Action{Kind: Redial, Entry: changed, Owner: API, Handed: true}) {
		t.Errorf("the fallback takes over: %+v", a)
	}
	if a := s.Want(Static, changed); a != (Action{Kind: Nothing, Entry: changed, Owner: Static, Handed: true}) {
		t.Errorf("an identical entry of a better owner: %+v", a)
	}
}

func TestReplace(t *testing.T) {
	entry := func(host string, cost uint64) Entry {
		return Entry{Key: Key("https://" + host + "/"), Cost: Fixed(cost)}
	}
	s := NewSet("https://me/")
	step := func(list []Entry, want ...string) {
		t.Helper()
		var got []string
		for _, a := range s.Replace(API, list) {
			got = append(got, fmt.Sprint(a.Kind, " ", a.Entry.Key))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	step([]Entry{entry("b", 1), entry("a", 1), entry("me", 1)}, "dial https://b/", "dial https://a/")
	step([]Entry{entry("a", 1), entry("b", 1)})
	s.Want(Static, entry("d", 1))
	step([]Entry{entry("c", 1), entry("b", 2), entry("d", 9)}, "dial https://c/", "reprice https://b/", "stop https://a/")
	step(nil, "stop https://b/", "stop https://c/")
	if got := s.Keys(); !slices.Equal(got, []Key{"https://d/"}) {
		t.Errorf("left: %v, want the static peer", got)
	}
}

func TestNoLinkWithOneself(t *testing.T) {
	s := NewSet(key)
	for o := range owners {
		if a := s.Want(o, of(o)); a != (Action{}) {
			t.Errorf("%s: %+v", o, a)
		}
	}
	if a := s.Drop(Gossip, key); a != (Action{}) || s.Len() != 0 {
		t.Errorf("Drop of what nobody wanted: %+v", a)
	}
}
