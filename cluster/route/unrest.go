package route

import "time"

const (
	// calm is how long the way has to stay for its earlier changes to be forgotten.
	calm = time.Minute
	// maxUnrest is how many changes in a row end the discount.
	maxUnrest = 20
)

// unrest counts how often the way that readers are told of has changed, each time
// within calm of the last.
//
// Relays that follow every discount, as others' do, can be driven in circles by
// ours. Without discounts there are only sums of prices, with which a mesh always
// comes to rest. So a name that does not loses its discount until it does.
type unrest struct {
	changes int
	last    instant // 0 = there are none
}

func (u *unrest) change(now instant) { u.changes, u.last = u.changes+1, now }

func (u *unrest) expire(now instant) {
	if u.ends().past(now) {
		*u = unrest{}
	}
}

// ends is when all is forgotten; 0 = there is nothing to forget.
func (u *unrest) ends() instant {
	if u.last == 0 {
		return 0
	}
	return u.last.add(calm)
}

// tooMuch says that the name is to be told of at its real price.
func (u *unrest) tooMuch() bool { return u.changes >= maxUnrest }
