package source

import (
	"cmp"
	"time"
)

// Lines are the log messages of a source, so that operators find the words they know. Each is a constant lower-case
// event; the location and the error are attributes. Failures are logged by Run; Load returns them instead.
type Lines struct {
	// Reloading (info) is said before new content is parsed, when there is a value to lose. Empty means not said.
	Reloading string
	// Reloaded (info) is said when a new value has replaced an older one. Empty means "source reloaded".
	Reloaded string
	// Unreadable (warn) is said when the locations could not be read. Empty means
	// "source unreadable; keeping the last good value".
	Unreadable string
	// Refused (warn) is said when the parser refused the content. Empty means
	// "source content refused; keeping the last good value".
	Refused string
	// RefusedFor picks another line than Refused for an error of the parser. Nil, or an empty answer, means Refused.
	RefusedFor func(err error) string
	// Unwatched (warn) is said when file notifications do not work. Empty means
	// "source cannot be watched; polling instead".
	Unwatched string
}

func (l Lines) orDefault() Lines {
	return Lines{
		Reloading:  l.Reloading,
		Reloaded:   cmp.Or(l.Reloaded, "source reloaded"),
		Unreadable: cmp.Or(l.Unreadable, "source unreadable; keeping the last good value"),
		Refused:    cmp.Or(l.Refused, "source content refused; keeping the last good value"),
		RefusedFor: l.RefusedFor,
		Unwatched:  cmp.Or(l.Unwatched, "source cannot be watched; polling instead"),
	}
}

// refused is the line for content that the parser does not take.
func (l Lines) refused(err error) string {
	if l.RefusedFor == nil {
		return l.Refused
	}
	return cmp.Or(l.RefusedFor(err), l.Refused)
}

// grumbleEvery is how often a complaint that stays the same is repeated.
const grumbleEvery = 10 * time.Minute

// grumble decides which failures of a row are logged: the first, each of another kind, and one an interval.
type grumble struct {
	last    string
	at      time.Time
	repeats int
}

// next reports whether to log what at now, and how many times it was left out since the last line.
func (g *grumble) next(now time.Time, what string) (say bool, repeats int) {
	if what == g.last && now.Sub(g.at) < grumbleEvery {
		g.repeats++
		return false, 0
	}
	repeats = g.repeats
	*g = grumble{last: what, at: now}
	return true, repeats
}
