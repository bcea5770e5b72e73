package relay

import (
	"context"
	"crypto/tls"
	"math"
	"os"
	"runtime"
	"sync"
	"testing"

	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/client"
	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/transport"
)

// held is what a process holds.
type held struct {
	goroutines, descriptors int
	heap                    int64 // bytes
}

func holding(t *testing.T) held {
	t.Helper()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no /proc to count descriptors in")
	}
	return held{runtime.NumGoroutine(), len(fds), int64(m.HeapAlloc)}
}

// A68: sessions that have come and gone leave nothing behind, on any transport. What
// 2,000 of them may leave is less than 2 KiB each; the defect held 26.
func TestA68SessionsLeaveNothing(t *testing.T) {
	const (
		warmUp, sessions, atOnce = 60, 2000, 20
		heapBound                = 4 << 20
	)
	n := start(t)
	churn := func(count int) {
		for i := 0; i < count; i += atOnce {
			var batch sync.WaitGroup
			for j := range atOnce {
				scheme := allTransports[(i+j)%len(allTransports)]
				batch.Go(func() {
					if err := comeAndGo(n.url(scheme, "/")); err != nil {
						t.Errorf("%s: %v", scheme, err)
					}
				})
			}
			batch.Wait()
		}
		n.settled(t, 0)
	}
	idle := holding(t)
	settle := func(heap int64) (now held) { // closed connections linger for a few round trips
		t.Helper()
		eventually(t, "everything let go", func() bool {
			now = holding(t)
			return now.goroutines <= idle.goroutines+2 && now.descriptors <= idle.descriptors+2 && now.heap <= heap
		})
		return now
	}
	churn(warmUp)
	before := settle(math.MaxInt64)
	churn(sessions)
	after := settle(before.heap + heapBound)
	t.Logf("before %+v, after %+v", before, after)
}

// comeAndGo opens a session and leaves at once. Unlike dial it leaves nothing to the
// end of the test, which would hold it.
func comeAndGo(url string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, err := client.Dial(ctx, url, client.Config{
		Dial:   transport.DialConfig{TLS: &tls.Config{InsecureSkipVerify: true}, WebSocketDelay: -1},
		Origin: moq.NewOrigin(session.RandomID(), moq.NewCache(0)),
	})
	if err != nil {
		return err
	}
	leave, stop := context.WithCancel(ctx)
	stop()
	c.Run(leave)
	return nil
}
