package main

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/moqmesh/moqmesh/moq"
)

func frames(payloads ...string) (out []moq.Frame) {
	for _, p := range payloads {
		out = append(out, moq.Frame{Payload: []byte(p)})
	}
	return out
}

// Groups that arrive out of order are handed on by number, as far as they are there.
func TestReadInOrder(t *testing.T) {
	b, track := newTrack(t)
	for _, g := range []struct {
		sequence uint64
		payloads []string
	}{{2, []string{"e"}}, {0, []string{"a", ""}}, {1, []string{"c", "d"}}} {
		if err := track.WriteGroup(g.sequence, frames(g.payloads...)...); err != nil {
			t.Fatal(err)
		}
	}
	track.Finish()
	type line struct {
		Group   uint64
		Index   int
		Payload string
	}
	var got []line
	for _, f := range whole(t, b) {
		got = append(got, line{f.group, f.index, string(f.Payload)})
	}
	want := []line{{0, 0, "a"}, {0, 1, ""}, {1, 0, "c"}, {1, 1, "d"}, {2, 0, "e"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("frames (-want +got):\n%s", diff)
	}
}

// A group that is cut short is left behind, and so is one that has become stale.
func TestReadLeavesBrokenGroups(t *testing.T) {
	b, track := newTrack(t)
	cut, err := track.Group(0)
	if err != nil {
		t.Fatal(err)
	}
	stuck, err := track.Group(1)
	if err != nil {
		t.Fatal(err)
	}
	begin := func(*moq.Track) error {
		if err := stuck.WriteFrame(moq.Frame{Timestamp: 1, Payload: []byte("stuck")}); err != nil {
			return err
		}
		cut.Abort(moq.ErrCancelled)
		return track.WriteGroup(2, moq.Frame{Timestamp: 2, Payload: []byte("live")})
	}
	first := ""
	opts := moq.SubscribeOptions{Start: moq.Start{Kind: moq.StartAt}} // no age: the live edge alone
	err = read(t.Context(), b, moq.TrackKey{Name: "data"}, opts, begin, func(f received) error {
		first = string(f.Payload)
		return errEnough
	})
	if !errors.Is(err, errEnough) || first != "live" {
		t.Errorf("read %q, %v, want the live group at once", first, err)
	}
}

func TestReadFailure(t *testing.T) {
	b, track := newTrack(t)
	track.Abort(moq.ErrMalformed)
	err := read(t.Context(), b, moq.TrackKey{Name: "data"}, moq.SubscribeOptions{},
		func(*moq.Track) error { return nil }, func(received) error { return nil })
	if err == nil {
		t.Error("a track that was aborted reads as one that ended")
	}
}
