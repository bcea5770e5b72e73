package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for something that must happen.
const patience = 10 * time.Second

// number is the parser of most tests: a file holds one decimal number.
func number(doc []byte) (int, error) { return strconv.Atoi(string(bytes.TrimSpace(doc))) }

// logs collects log lines of a source under test.
type logs struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logs) count(what string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.buf.String(), what)
}

func (l *logs) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

func mustNew[T any](t *testing.T, cfg Config[T]) *Source[T] {
	t.Helper()
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustLoad[T any](t *testing.T, s *Source[T]) {
	t.Helper()
	if err := s.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// start runs s until the test ends.
func start[T any](t *testing.T, s *Source[T]) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Run = %v, want context.Canceled", err)
		}
	})
}

// until waits for ok, looking again after every value; it covers what changes without one by looking now and then.
func until[T any](t *testing.T, s *Source[T], what string, ok func() bool) {
	t.Helper()
	deadline := time.After(patience)
	for {
		changed := s.Changed()
		if ok() {
			return
		}
		select {
		case <-changed:
		case <-time.After(5 * time.Millisecond):
		case <-deadline:
			t.Fatalf("no %s within %v; status %+v", what, patience, s.Status())
		}
	}
}

func untilValue(t *testing.T, s *Source[int], want int) {
	t.Helper()
	until(t, s, fmt.Sprintf("value %d", want), func() bool { return s.Get() == want })
}

func untilWatching(t *testing.T, s *Source[int]) {
	t.Helper()
	until(t, s, "watch", func() bool { return s.Status().Watching })
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func putByRename(t *testing.T, path, content string) {
	t.Helper()
	put(t, path+"~", content)
	if err := os.Rename(path+"~", path); err != nil {
		t.Fatal(err)
	}
}

func TestLoadPublishesAndKeeps(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n")
	s := mustNew(t, Config[int]{Locations: []string{path}, Parse: One(number)})
	if err := s.Load(t.Context()); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("Load of a missing file = %v, want not exist", err)
	}
	if st := s.Status(); s.Get() != 0 || !st.Loaded.IsZero() || st.Age(time.Now()) != 0 {
		t.Fatalf("value %d and %+v before the first load", s.Get(), st)
	}

	put(t, path, "7")
	changed := s.Changed()
	mustLoad(t, s)
	<-changed
	for _, bad := range []string{"", "seven", strings.Repeat("7", 2<<20)} {
		put(t, path, bad)
		if err := s.Load(t.Context()); err == nil {
			t.Errorf("Load of %d bad bytes succeeded", len(bad))
		}
		if s.Get() != 7 {
			t.Fatalf("value %d after bad content, want 7", s.Get())
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := s.Load(t.Context()); err == nil || s.Get() != 7 {
		t.Errorf("after removal: Load = %v, value %d", err, s.Get())
	}
	st := s.Status()
	if st.Err == nil || st.FailingSince.IsZero() || st.Failures != 5 || st.Changes != 1 {
		t.Errorf("status after five failures: %+v", st)
	}
}

func TestSameContentIsNoChange(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n")
	parsed := 0
	s := mustNew(t, Config[int]{Locations: []string{path}, Parse: func(docs [][]byte) (int, error) {
		parsed++
		return number(docs[0])
	}})
	for _, content := range []string{"1", "1", "bad", "bad", "1"} {
		put(t, path, content)
		if err := s.Load(t.Context()); (err == nil) != (content == "1") {
			t.Errorf("Load of %q = %v", content, err)
		}
	}
	if st := s.Status(); parsed != 2 || st.Changes != 1 || st.Err != nil {
		t.Errorf("parsed %d times, status %+v; want 2 parses, one change, no error", parsed, st)
	}
}

func TestFilesChangeTogether(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	pair := func(docs [][]byte) (string, error) {
		if string(docs[0]) != string(docs[1]) {
			return "", errors.New("files differ")
		}
		return string(docs[0]), nil
	}
	put(t, a, "old")
	put(t, b, "old")
	s := mustNew(t, Config[string]{Locations: []string{a, b}, Parse: pair, Period: time.Hour})
	mustLoad(t, s)
	start(t, s)
	until(t, s, "watch", func() bool { return s.Status().Watching })
	put(t, a, "new")
	until(t, s, "refusal", func() bool { return s.Status().Err != nil })
	if s.Get() != "old" {
		t.Fatalf("value %q while the files differ, want old", s.Get())
	}
	put(t, b, "new")
	until(t, s, "new pair", func() bool { return s.Get() == "new" })
	if st := s.Status(); st.Changes != 2 || st.Err != nil {
		t.Errorf("status %+v, want two changes and no error", st)
	}
}

func TestLoadEndsWithContext(t *testing.T) {
	s := mustNew(t, Config[int]{Locations: []string{"n"}, Parse: One(number)})
	s.busy <- struct{}{} // a check that takes long
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("shutting down")
	cancel(why)
	if err := s.Load(ctx); !errors.Is(err, why) {
		t.Errorf("Load = %v, want %v", err, why)
	}
}

func TestLines(t *testing.T) {
	var l logs
	path := filepath.Join(t.TempDir(), "n")
	s := mustNew(t, Config[int]{
		Locations: []string{path}, Parse: One(number), Log: l.logger(),
		Lines: Lines{
			Reloading: "reloading n", Reloaded: "reloaded n", Unreadable: "cannot read n", Refused: "bad n",
			RefusedFor: func(err error) string {
				if strings.Contains(err.Error(), `"y"`) {
					return "odd n"
				}
				return ""
			},
		},
	})
	got := map[string]int{}
	for _, content := range []string{"1", "2", "x", "x", "y", "3"} {
		put(t, path, content)
		s.refresh(t.Context())
	}
	_ = os.Remove(path)
	s.refresh(t.Context())
	s.watch.close()
	for _, line := range []string{"reloading n", "reloaded n", "cannot read n", "bad n", "odd n", "readable again"} {
		got[line] = l.count(line)
	}
	want := map[string]int{"reloading n": 4, "reloaded n": 2, "cannot read n": 1, "bad n": 1, "odd n": 1, "readable again": 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("log lines (-want +got):\n%s", diff)
	}
}

func TestGrumble(t *testing.T) {
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	var g grumble
	for i, step := range []struct {
		after   time.Duration
		what    string
		say     bool
		repeats int
	}{
		{0, "a", true, 0},
		{time.Second, "a", false, 0},
		{2 * time.Second, "a", false, 0},
		{3 * time.Second, "b", true, 2},
		{4 * time.Second, "b", false, 0},
		{3*time.Second + grumbleEvery, "b", true, 1},
	} {
		say, repeats := g.next(at.Add(step.after), step.what)
		if say != step.say || repeats != step.repeats {
			t.Errorf("step %d: next(%q) = %v, %d, want %v, %d", i, step.what, say, repeats, step.say, step.repeats)
		}
	}
}

func TestDigestTellsBoundaries(t *testing.T) {
	if digest([][]byte{[]byte("ab"), []byte("c")}) == digest([][]byte{[]byte("a"), []byte("bc")}) {
		t.Error("a byte that moved between two documents was not seen")
	}
}
