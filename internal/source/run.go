package source

import (
	"context"
	"errors"
	"time"
)

// Run keeps the value up to date until ctx ends and returns its cause. It begins with a check, unless the source is an
// address that Load has asked already. Run it once.
func (s *Source[T]) Run(ctx context.Context) error {
	defer s.watch.close()
	tick := time.NewTicker(s.cfg.Period)
	defer tick.Stop()
	settle := time.NewTimer(time.Hour)
	settle.Stop()
	defer settle.Stop()

	var burst debounce
	if !s.reader.shares() || s.checks.Load() == 0 {
		s.refresh(ctx)
	}
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
			s.refresh(ctx)
		case <-settle.C:
			burst.clear()
			s.refresh(ctx)
		case _, ok := <-s.watch.events():
			s.stir(ok, &burst, settle)
		case _, ok := <-s.watch.errors(): // most often an overflow: events were lost
			s.stir(ok, &burst, settle)
		}
	}
}

// stir answers to the watcher: an event sets the time of the next check, a closed channel ends the watcher.
func (s *Source[T]) stir(ok bool, burst *debounce, settle *time.Timer) {
	if !ok {
		s.watch.close()
		s.noteWatch(errors.New("file watcher ended"))
		return
	}
	settle.Reset(time.Until(burst.add(time.Now())))
}

// refresh watches where the files are now, then checks. In this order nothing slips between the two: what changes after
// arm gives an event.
func (s *Source[T]) refresh(ctx context.Context) {
	if len(s.watch.files) > 0 {
		s.noteWatch(s.watch.arm())
	}
	if err := s.Load(ctx); err != nil && ctx.Err() == nil {
		s.complain(err)
	}
}

// complain logs why the old value stays. Load leaves that to its caller; here there is none.
func (s *Source[T]) complain(err error) {
	line := s.cfg.Lines.Unreadable
	if _, ok := errors.AsType[*refusal](err); ok {
		line = s.cfg.Lines.refused(err)
	}
	s.mu.Lock()
	say, repeats := s.grumble.next(time.Now(), err.Error())
	s.mu.Unlock()
	if say {
		s.cfg.Log.Warn(line, "source", s.from, "err", err, "repeats", repeats)
	}
}

// noteWatch keeps whether notifications work and logs when they stop to.
func (s *Source[T]) noteWatch(err error) {
	s.mu.Lock()
	known := s.unwatched
	s.unwatched = err != nil
	s.status.Watching = err == nil
	s.mu.Unlock()
	if err != nil && !known {
		s.cfg.Log.Warn(s.cfg.Lines.Unwatched, "source", s.from, "err", err)
	}
}
