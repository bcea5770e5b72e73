package route

import "container/heap"

// agenda orders the names that have something due, the next one first.
type agenda []*entry

func (a agenda) Len() int           { return len(a) }
func (a agenda) Less(i, j int) bool { return a[i].due < a[j].due }
func (a agenda) Swap(i, j int) {
	a[i], a[j] = a[j], a[i]
	a[i].slot, a[j].slot = i+1, j+1
}

// Push and Pop are for container/heap.
func (a *agenda) Push(x any) {
	e := x.(*entry)
	*a = append(*a, e)
	e.slot = len(*a)
}

func (a *agenda) Pop() any {
	last := len(*a) - 1
	e := (*a)[last]
	(*a)[last] = nil
	*a = (*a)[:last]
	e.slot = 0
	return e
}

// schedule puts e where its next deadline belongs; 0 takes it out.
func (a *agenda) schedule(e *entry, due instant) {
	was := e.due
	e.due = due
	switch {
	case due == was:
	case due == 0:
		heap.Remove(a, e.slot-1)
	case was == 0:
		heap.Push(a, e)
	default:
		heap.Fix(a, e.slot-1)
	}
}

// next is the earliest deadline; 0 = none.
func (a agenda) next() instant {
	if len(a) == 0 {
		return 0
	}
	return a[0].due
}
