package session_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// TestOvertakenGroupsArrive: a clean end has every group that the publisher sent,
// although streams overtake each other and the end overtakes them. START names the
// first group that was sent, which need not be the lowest.
func TestOvertakenGroupsArrive(t *testing.T) {
	for _, tt := range []struct {
		name          string
		before, after []uint64 // groups that come before and after the end
	}{
		{"the lowest counts for no other", []uint64{1, 0}, []uint64{2}},
		{"the lowest comes last", []uint64{1, 2}, []uint64{0}},
		{"all come after", nil, []uint64{1, 2, 0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			eachVersion(t, lite.V05, func(t *testing.T, v lite.Version) {
				relay := newSide(3)
				peer := relay.announcer(t, v)
				s := relay.subscribe(t, moq.SubscribeOptions{MaxAge: 5 * time.Second, Start: moq.Start{Kind: moq.StartAt}})
				info, _ := accept(t, peer)
				info.Write(lite.TrackInfo{Timescale: 1000, MaxAge: 5 * time.Second}.Append(nil, v))
				info.Close()
				answers, _ := accept(t, peer)
				answers.Write(lite.SubscribeStart{Group: 1}.Append(nil, v))
				send(t, peer, v, tt.before)
				answers.Write(lite.SubscribeEnd{Group: 3, Streams: 3}.Append(nil, v))
				answers.Close()
				synctest.Wait()
				time.Sleep(20 * time.Millisecond) // what streams may be apart
				send(t, peer, v, tt.after)
				if diff := cmp.Diff([]string{"0", "1", "2"}, sorted(groups(t, s))); diff != "" {
					t.Errorf("groups (-want +got):\n%s", diff)
				}
				time.Sleep(2 * time.Second)
				if end, _, complete, err := s.End(); end != 3 || !complete || err != nil {
					t.Errorf("End() = %d, complete %v, %v, want 3, clean", end, complete, err)
				}
			})
		})
	}
}

// send says groups of one frame, whose payload is their sequence, one after the other.
func send(t *testing.T, peer *fakeConn, v lite.Version, sequences []uint64) {
	t.Helper()
	for _, n := range sequences {
		b := lite.AppendGroupStream(nil, v, lite.GroupHeader{Sequence: n})
		payload := fmt.Append(nil, n)
		b = lite.AppendFrameHeader(b, v, int64(n), uint64(len(payload)))
		say(t, peer, append(b, payload...))
		synctest.Wait()
	}
}
