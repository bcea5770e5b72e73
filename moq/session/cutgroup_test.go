package session_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// lateConn hears of its end on requests first, and on groups a second later.
type lateConn struct{ *fakeConn }

func (c lateConn) AcceptUniStream(ctx context.Context) (session.ReceiveStream, error) {
	s, err := c.fakeConn.AcceptUniStream(ctx)
	if err != nil {
		return nil, err
	}
	return &lateStream{s, c, make(chan session.StreamCode, 1)}, nil
}

type lateStream struct {
	session.ReceiveStream
	c     lateConn
	stopc chan session.StreamCode
}

func (s *lateStream) Read(p []byte) (int, error) {
	n, err := s.ReceiveStream.Read(p)
	if err == nil || s.c.Context().Err() == nil {
		return n, err
	}
	select {
	case code := <-s.stopc:
		return n, &session.StreamError{Code: code, Coded: true}
	case <-time.After(time.Second):
		return n, err
	}
}

func (s *lateStream) Stop(code session.StreamCode) {
	select {
	case s.stopc <- code:
	default:
	}
	s.ReceiveStream.Stop(code)
}

// TestGroupsGoOnOverAnotherSession: a group under way when a session breaks goes on over
// another one with the same publisher, whichever stream says first that the session is
// over. It does not look as if we had given it up.
func TestGroupsGoOnOverAnotherSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &mesh{publisher: newSide(1), relay: newSide(3)}
		m.relay.keep(t)
		join(t, lite.V06, m.publisher, m.relay)
		m.b = moq.NewBroadcast(m.publisher.origin.Cache(), nil)
		m.publisher.origin.Publish(camera, m.b)
		w := m.create(t)
		synctest.Wait()
		there, here := newFakeConns()
		conf := m.relay.conf
		conf.Server, conf.Version = true, lite.V06
		go func() {
			if s, err := session.Handshake(t.Context(), lateConn{here}, conf); err == nil {
				s.Run(context.Background(), m.relay.access)
			}
		}()
		m.publisher.run(t, there, lite.V06, false) // the newest serves
		synctest.Wait()
		s := m.relay.subscribe(t, moq.SubscribeOptions{MaxAge: time.Second})
		g, err := w.Group(0)
		if err != nil {
			t.Fatal(err)
		}
		g.WriteFrame(moq.Frame{Payload: []byte("a")})
		synctest.Wait()
		r, ok := s.Next()
		if !ok {
			t.Fatal("no group")
		}
		there.Close(session.CodeInternal, "")
		time.Sleep(2 * time.Second)
		g.WriteFrame(moq.Frame{Payload: []byte("b")})
		g.Close()
		synctest.Wait()
		if got := text(t, &r); got != "ab" || r.Err() != nil {
			t.Errorf("read %q, %v, want the whole group", got, r.Err())
		}
	})
}
