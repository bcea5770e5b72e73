package source

import "time"

// Status tells how a source is doing. It is a copy.
type Status struct {
	// From names the locations without query and credentials, several joined by ", ".
	From string
	// Loaded is when the value in use was parsed. Zero means there is none yet.
	Loaded time.Time
	// Confirmed is when the locations were last seen to hold the value in use. A fresh HTTP answer that was not asked
	// again does not move it.
	Confirmed time.Time
	// Err is why the newest check failed; nil when it did not.
	Err error
	// FailingSince is when the first of the failures in a row happened. Zero means the newest check did not fail.
	FailingSince time.Time
	// Every is the time between two requests or file reads, as the last answer's freshness has it.
	Every time.Duration
	// Watching says that file notifications work; without them changes are seen at the next check.
	Watching bool
	// Changes, Failures and Cached count new values, failed checks and checks that cost no request.
	Changes, Failures, Cached uint64
}

// Age is how long ago the value in use was confirmed; zero when there is none yet.
func (st Status) Age(now time.Time) time.Duration {
	if st.Confirmed.IsZero() {
		return 0
	}
	return max(now.Sub(st.Confirmed), 0)
}

// Status returns how the source is doing now.
func (s *Source[T]) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status
}

// confirm notes a good check and reports whether it ends a row of failures that outlived a value.
func (st *Status) confirm(now time.Time, a answer, period time.Duration) (recovered bool) {
	recovered = st.Err != nil && !st.Loaded.IsZero()
	st.Err, st.FailingSince = nil, time.Time{}
	st.Every = max(a.every, period)
	if a.cached {
		st.Cached++
	} else {
		st.Confirmed = now
	}
	return recovered
}

func (st *Status) fail(now time.Time, err error) {
	if st.Err == nil {
		st.FailingSince = now
	}
	st.Err = err
	st.Failures++
}
