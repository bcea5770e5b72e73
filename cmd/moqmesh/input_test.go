package main

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/moqmesh/moqmesh/moq"
)

// drain reads frames until an error other than the end.
func drain(t *testing.T, next func() ([]byte, error)) (frames []string) {
	t.Helper()
	for {
		f, err := next()
		if err == io.EOF {
			return frames
		}
		if err != nil {
			t.Fatal(err)
		}
		frames = append(frames, string(f))
	}
}

func TestCutInput(t *testing.T) {
	for _, tc := range []struct {
		name string
		cut  func(io.Reader) func() ([]byte, error)
		in   string
		want []string
	}{
		{"lines", lines, "one\n\nthree", []string{"one", "", "three"}},
		{"no line", lines, "", nil},
		{"chunks", func(r io.Reader) func() ([]byte, error) { return chunks(r, 4) }, "one\ntwo\nx", []string{"one\n", "two\n", "x"}},
		{"no chunk", func(r io.Reader) func() ([]byte, error) { return chunks(r, 4) }, "", nil},
	} {
		got := drain(t, tc.cut(iotest.OneByteReader(strings.NewReader(tc.in))))
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

// newTrack returns a track with nobody behind it.
func newTrack(t *testing.T) (*moq.Broadcast, *moq.TrackWriter) {
	t.Helper()
	b := moq.NewBroadcast(moq.NewCache(0), nil)
	track, err := b.Create("data", moq.TrackInfo{MaxAge: moq.Unlimited, Timescale: 1_000_000})
	if err != nil {
		t.Fatal(err)
	}
	return b, track
}

// whole reads everything of a track that has ended, as group/index:payload.
func whole(t *testing.T, b *moq.Broadcast) (frames []received) {
	t.Helper()
	opts := moq.SubscribeOptions{MaxAge: moq.Unlimited, Start: moq.Start{Kind: moq.StartAt}}
	err := read(t.Context(), b, moq.TrackKey{Name: "data"}, opts, func(*moq.Track) error { return nil }, func(f received) error {
		frames = append(frames, f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return frames
}

func TestGrouper(t *testing.T) {
	b, track := newTrack(t)
	wrote := 0
	g := &grouper{track: track, size: 2, began: time.Now(), wrote: func(uint64, int) { wrote++ }}
	big := make([]byte, moq.MaxGroup/2)
	for _, payload := range [][]byte{[]byte("a"), []byte("b"), []byte("c"), big, big, big} {
		if err := g.write(payload); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.end(); err != nil {
		t.Fatal(err)
	}
	if err := g.write([]byte("late")); !errors.Is(err, errOver) {
		t.Errorf("write after the end = %v, want %v", err, errOver)
	}
	track.Finish()
	var groups []uint64
	for _, f := range whole(t, b) {
		groups = append(groups, f.group)
	}
	if want := []uint64{0, 0, 1, 1, 2, 3}; !slices.Equal(groups, want) || wrote != len(want) {
		t.Errorf("frames in groups %v, %d told of, want %v: the last two do not fit together", groups, wrote, want)
	}
}
