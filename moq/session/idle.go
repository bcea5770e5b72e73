package session

// Idle says whether nothing runs over the session: no subscription of ours, none of the peer's, and no answer owed.
// What the two announce to each other does not count.
func (s *Session) Idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.subscribed) == 0 && len(s.served) == 0 && s.owed == 0
}
