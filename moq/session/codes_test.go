package session_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// TestBothRegistriesAreRead: a refusal says the same in today's codes and in those
// of relays before 0.17 (§13).
func TestBothRegistriesAreRead(t *testing.T) {
	for code, want := range map[session.StreamCode]error{
		session.StreamInternal:   moq.ErrCancelled,
		session.StreamNotFound:   moq.ErrNotFound,
		session.StreamUnroutable: moq.ErrUnroutable,
		session.StreamEvicted:    moq.ErrEvicted,

		13: moq.ErrNotFound,
		14: moq.ErrWrongSize,
		24: moq.ErrCancelled,
		25: moq.ErrClosed,
		26: moq.ErrExpired,
		27: moq.ErrFrameTooLarge,
		29: moq.ErrTimestamp,
		30: moq.ErrUnroutable,
		31: moq.ErrEvicted,
	} {
		t.Run(code.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const v = lite.V05
				relay := newSide(3)
				peer := relay.announcer(t, v)
				s := relay.subscribe(t, moq.SubscribeOptions{})
				answerTrack(t, peer, v)
				answers, _ := accept(t, peer)
				answers.Reset(code)
				synctest.Wait()
				if _, _, _, err := s.End(); !errors.Is(err, want) {
					t.Errorf("the subscription ends with %v, want %v", err, want)
				}
			})
		})
	}
}
