package source

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/google/go-cmp/cmp"
)

// Without notifications these tests would wait an hour for the next check.
func watched(t *testing.T, path string) *Source[int] {
	t.Helper()
	s := mustNew(t, Config[int]{Locations: []string{path}, Parse: One(number), Period: time.Hour})
	start(t, s)
	untilWatching(t, s)
	return s
}

func TestSavesAreSeen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n")
	put(t, path, "0")
	s := watched(t, path)
	untilValue(t, s, 0)
	for i := 1; i <= 5; i++ {
		putByRename(t, path, strconv.Itoa(i))
		untilValue(t, s, i)
	}
	put(t, path, "6")
	untilValue(t, s, 6)
	if st := s.Status(); st.Changes > 7 {
		t.Errorf("%d changes for the first load and 6 saves", st.Changes)
	}
}

func TestBurstIsOneReload(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n")
	put(t, path, "0")
	s := watched(t, path)
	for i := 1; i <= 100; i++ {
		put(t, path, strconv.Itoa(i))
	}
	untilValue(t, s, 100)
	if st := s.Status(); st.Changes > 5 {
		t.Errorf("%d changes for a burst of 100 writes", st.Changes)
	}
}

func TestTruncatedWriteKeepsTheOld(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n")
	put(t, path, "1")
	s := watched(t, path)
	untilValue(t, s, 1)
	put(t, path, "")
	until(t, s, "refusal", func() bool { return s.Status().Err != nil })
	if s.Get() != 1 {
		t.Fatalf("value %d after truncation, want 1", s.Get())
	}
	put(t, path, "2")
	untilValue(t, s, 2)
}

func TestFileThatComesLater(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "mounted", "late")
	s := watched(t, filepath.Join(dir, "n"))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "n"), "1")
	untilValue(t, s, 1)
}

func TestDirectoryMadeAnew(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "conf")
	path := filepath.Join(dir, "n")
	create := func(content string) {
		t.Helper()
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		put(t, path, content)
	}
	create("1")
	s := watched(t, path)
	untilValue(t, s, 1)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	until(t, s, "failure", func() bool { return s.Status().Err != nil })
	create("2")
	untilValue(t, s, 2)
}

// configMap lays out a mounted ConfigMap as the kubelet does: the file links into ..data, and ..data links to a
// directory of its own for each version.
type configMap struct {
	t   *testing.T
	dir string
}

func (c configMap) swap(version, content string) {
	c.t.Helper()
	must := func(err error) {
		c.t.Helper()
		if err != nil {
			c.t.Fatal(err)
		}
	}
	old, _ := os.Readlink(filepath.Join(c.dir, "..data"))
	must(os.Mkdir(filepath.Join(c.dir, version), 0o700))
	put(c.t, filepath.Join(c.dir, version, "n"), content)
	must(os.Symlink(version, filepath.Join(c.dir, "..data_tmp")))
	must(os.Rename(filepath.Join(c.dir, "..data_tmp"), filepath.Join(c.dir, "..data")))
	if old != "" {
		must(os.RemoveAll(filepath.Join(c.dir, old)))
	}
}

func TestConfigMapSwaps(t *testing.T) {
	c := configMap{t, t.TempDir()}
	c.swap("..2026_11_30_10_00_00.1", "1")
	path := filepath.Join(c.dir, "n")
	if err := os.Symlink("..data/n", path); err != nil {
		t.Fatal(err)
	}
	s := watched(t, path)
	untilValue(t, s, 1)
	c.swap("..2026_11_30_10_01_00.2", "2")
	untilValue(t, s, 2)
	c.swap("..2026_11_30_10_02_00.3", "3")
	untilValue(t, s, 3)
}

// A link elsewhere that changes its target gives events only in its own directory.
func TestLinkOnTheWayMoves(t *testing.T) {
	root := t.TempDir()
	for _, release := range []string{"1", "2"} {
		if err := os.Mkdir(filepath.Join(root, release), 0o700); err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(root, release, "n"), release)
	}
	current := filepath.Join(root, "current")
	if err := os.Symlink("1", current); err != nil {
		t.Fatal(err)
	}
	s := watched(t, filepath.Join(current, "n"))
	untilValue(t, s, 1)
	if err := os.Symlink("2", current+"~"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(current+"~", current); err != nil {
		t.Fatal(err)
	}
	untilValue(t, s, 2)
	put(t, filepath.Join(root, "2", "n"), "3")
	untilValue(t, s, 3)
}

func TestPollWithoutWatcher(t *testing.T) {
	closed := func() (*fsnotify.Watcher, error) {
		w, err := fsnotify.NewWatcher()
		if err == nil {
			err = w.Close()
		}
		return w, err
	}
	for name, open := range map[string]func() (*fsnotify.Watcher, error){
		"no instance": func() (*fsnotify.Watcher, error) { return nil, errors.New("too many open files") },
		"add fails":   closed,
	} {
		t.Run(name, func(t *testing.T) {
			var l logs
			path := filepath.Join(t.TempDir(), "n")
			put(t, path, "1")
			s := mustNew(t, Config[int]{
				Locations: []string{path}, Parse: One(number), Period: 10 * time.Millisecond, Log: l.logger(),
			})
			s.watch.open = open
			start(t, s)
			for i := 1; i <= 5; i++ {
				put(t, path, strconv.Itoa(i))
				untilValue(t, s, i)
			}
			if n := l.count("cannot be watched"); n != 1 || s.Status().Watching {
				t.Errorf("%d warnings, status %+v; want one, not watching", n, s.Status())
			}
		})
	}
}

func TestWatcherComesBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n")
	put(t, path, "1")
	s := mustNew(t, Config[int]{Locations: []string{path}, Parse: One(number), Period: 10 * time.Millisecond})
	tries := 0
	s.watch.open = func() (*fsnotify.Watcher, error) {
		if tries++; tries < 3 {
			return nil, syscall.EMFILE
		}
		return fsnotify.NewWatcher()
	}
	start(t, s)
	untilWatching(t, s)
}

func TestNotRegularIsRefused(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Skipf("no named pipes here: %v", err)
	}
	for _, path := range []string{dir, fifo} {
		if _, err := readFile(path, 10); err == nil {
			t.Errorf("readFile(%s) succeeded", path)
		}
	}
}

func TestWatchDirs(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"a", "b"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	put(t, filepath.Join(root, "b", "file"), "")
	for link, target := range map[string]string{
		"a/hop":   "../c/file",
		"c":       filepath.Join(root, "b"),
		"a/loop":  "loop",
		"a/dead":  "../b/nothing/here",
		"a/again": "hop",
	} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string][]string{
		"b/file":       {"b"},
		"b/missing":    {"b"},
		"missing/file": {""},
		"c/file":       {"", "b"},
		"a/hop":        {"", "a", "b"},
		"a/again":      {"", "a", "b"},
		"a/loop":       {"a"},
		"a/dead":       {"a", "b"},
	} {
		for i, dir := range want {
			want[i] = filepath.Join(root, dir)
		}
		if diff := cmp.Diff(want, watchDirs(filepath.Join(root, path))); diff != "" {
			t.Errorf("watchDirs(%s) (-want +got):\n%s", path, diff)
		}
	}
}

func TestDebounce(t *testing.T) {
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	ms := func(n int) time.Time { return at.Add(time.Duration(n) * time.Millisecond) }
	var d debounce
	for _, step := range []struct{ event, due int }{
		{0, 100}, {50, 150}, {149, 249}, {880, 980}, {950, 1000}, {999, 1000},
	} {
		if got := d.add(ms(step.event)); !got.Equal(ms(step.due)) {
			t.Errorf("event at %d ms is due at %v, want %d ms", step.event, got.Sub(at), step.due)
		}
	}
	d.clear()
	if got := d.add(ms(2000)); !got.Equal(ms(2100)) {
		t.Errorf("first event of the next burst is due at %v, want 2.1s", got.Sub(at))
	}
}
