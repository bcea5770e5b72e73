package session_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// TestIdle: a session is idle without subscriptions, in the eyes of both its ends; announcements do not count.
func TestIdle(t *testing.T) {
	eachVersion(t, lite.V01, func(t *testing.T, v lite.Version) {
		m := newMesh(t, v)
		m.create(t)
		if !m.up.Idle() || !m.down.Idle() {
			t.Fatalf("before anybody subscribes: idle %v, %v", m.up.Idle(), m.down.Idle())
		}
		sub := m.viewer.subscribe(t, moq.SubscribeOptions{MaxAge: time.Second})
		if m.up.Idle() || m.down.Idle() {
			t.Errorf("with a subscription: idle %v, %v", m.up.Idle(), m.down.Idle())
		}
		sub.Close()
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if !m.up.Idle() || !m.down.Idle() {
			t.Errorf("after it: idle %v, %v", m.up.Idle(), m.down.Idle())
		}
	})
}
