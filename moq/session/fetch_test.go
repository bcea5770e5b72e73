package session_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// archive is a publisher's source that serves fetches as the test says.
type archive struct {
	asked     []*moq.GroupWriter
	cancelled []bool
}

func (a *archive) Open(w *moq.TrackWriter) { w.SetInfo(moq.TrackInfo{Timescale: 1000}) }

func (a *archive) Fetch(_ moq.TrackKey, g *moq.GroupWriter, _ uint64, _ uint8) (cancel func()) {
	i := len(a.asked)
	a.asked, a.cancelled = append(a.asked, g), append(a.cancelled, false)
	return func() { a.cancelled[i] = true }
}

// archived is a viewer that fetches through a relay from an archive.
func archived(t *testing.T, v lite.Version) (a *archive, fetch func() *moq.Fetched) {
	t.Helper()
	a = new(archive)
	publisher, relay, viewer := newSide(1), newSide(3), newSide(2)
	join(t, v, publisher, relay)
	join(t, v, viewer, relay)
	publisher.origin.Publish(camera, moq.NewBroadcast(publisher.origin.Cache(), a))
	synctest.Wait()
	return a, func() *moq.Fetched {
		t.Helper()
		track, err := viewer.remote(t).Hold(moq.TrackKey{Name: "v"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(track.Drop)
		if _, err := track.Info(t.Context()); err != nil {
			t.Fatal(err)
		}
		f, err := track.Fetch(t.Context(), 4, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		return f
	}
}

// TestAbandonedFetch is scenario H6: a fetch that the reader gives up before the
// answer or in the middle of it is cancelled at the publisher, through the relay, and
// what came of it is never taken for the whole group.
func TestAbandonedFetch(t *testing.T) {
	for name, answer := range map[string]func(*moq.GroupWriter){
		"before the answer": func(*moq.GroupWriter) {},
		"mid-group": func(g *moq.GroupWriter) {
			g.WriteFrame(moq.Frame{Payload: []byte("a")})
			g.Flush()
		},
		"mid-frame": func(g *moq.GroupWriter) {
			g.BeginFrame(0, 2)
			g.Write([]byte("a"))
			g.Flush()
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachVersion(t, lite.V05, func(t *testing.T, v lite.Version) {
				a, fetch := archived(t, v)
				f := fetch()
				if len(a.asked) != 1 {
					t.Fatalf("the publisher is asked %d times, want once", len(a.asked))
				}
				answer(a.asked[0])
				synctest.Wait()
				f.Close()
				synctest.Wait()
				if !a.cancelled[0] {
					t.Error("the publisher still works for nobody")
				}
				again := fetch()
				defer again.Close()
				if len(a.asked) != 2 {
					t.Fatalf("the publisher is asked %d times, want again", len(a.asked))
				}
				a.asked[1].WriteFrame(moq.Frame{Payload: []byte("ab")})
				a.asked[1].Close()
				if got := text(t, &again.GroupReader); got != "ab" {
					t.Errorf("fetched %q, want ab", got)
				}
			})
		})
	}
}

// TestFetchLeftAtItsEnd is scenario H6 at the last byte: the group is whole and stays,
// nothing is left to cancel.
func TestFetchLeftAtItsEnd(t *testing.T) {
	eachVersion(t, lite.V05, func(t *testing.T, v lite.Version) {
		a, fetch := archived(t, v)
		f := fetch()
		a.asked[0].WriteFrame(moq.Frame{Payload: []byte("ab")})
		a.asked[0].Close()
		synctest.Wait()
		f.Close()
		synctest.Wait()
		if a.cancelled[0] {
			t.Error("a fetch that is through was cancelled")
		}
		again := fetch()
		defer again.Close()
		if got := text(t, &again.GroupReader); got != "ab" || len(a.asked) != 1 {
			t.Errorf("fetched %q after asking the publisher %d times, want ab out of the cache", got, len(a.asked))
		}
	})
}

// TestClosedForGood is scenario H2: readers' handles end, nobody finds it any more,
// and it can never be served again.
func TestClosedForGood(t *testing.T) {
	eachVersion(t, lite.V01, func(t *testing.T, v lite.Version) {
		m := newMesh(t, v)
		w := m.create(t)
		write(t, w, 0, "x")
		s := m.viewer.subscribe(t, moq.SubscribeOptions{})
		groups(t, s)
		m.b.Close(moq.ErrClosed)
		m.handle.Withdraw()
		synctest.Wait()
		if _, ok, err := s.NextGroup(t.Context()); ok || err == nil {
			t.Errorf("a subscription to what is closed: %v, %v, want an error", ok, err)
		}
		if _, _, err := m.viewer.origin.Find(camera, moq.Reader{}); !errors.Is(err, moq.ErrUnroutable) {
			t.Errorf("looked up: %v, want unroutable", err)
		}
		if _, err := m.b.Create("v", moq.TrackInfo{}); !errors.Is(err, moq.ErrClosed) {
			t.Errorf("a new track of it: %v, want closed", err)
		}
		// Whoever announces it again all the same announces what nobody can read.
		defer m.publisher.origin.Publish(camera, m.b).Withdraw()
		synctest.Wait()
		b, _, err := m.viewer.origin.Find(camera, moq.Reader{})
		if err != nil {
			return
		}
		again, err := b.Subscribe(moq.TrackKey{Name: "v"}, moq.SubscribeOptions{}, nil)
		if err != nil {
			return
		}
		defer again.Close()
		if _, ok, err := again.NextGroup(t.Context()); ok || err == nil {
			t.Errorf("a subscription to it again: %v, %v, want an error", ok, err)
		}
	})
}
