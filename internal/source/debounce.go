package source

import "time"

const (
	debounceQuiet   = 100 * time.Millisecond // silence that ends a burst of events
	debounceCeiling = time.Second            // longest wait when a burst does not end
)

// debounce turns bursts of events into single points in time. The zero value has seen none.
type debounce struct {
	first, last time.Time
}

// add notes an event and returns when the burst is due.
func (d *debounce) add(now time.Time) (due time.Time) {
	if d.first.IsZero() {
		d.first = now
	}
	d.last = now
	due = d.last.Add(debounceQuiet)
	if ceiling := d.first.Add(debounceCeiling); due.After(ceiling) {
		return ceiling
	}
	return due
}

// clear ends the burst.
func (d *debounce) clear() { *d = debounce{} }
