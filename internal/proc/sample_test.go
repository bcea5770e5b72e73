package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// kernel builds a file system of the given contents.
func kernel(files map[string]string) fstest.MapFS {
	root := fstest.MapFS{}
	for name, content := range files {
		root[name] = &fstest.MapFile{Data: []byte(content)}
	}
	return root
}

func statLine(command string, utime, stime, threads int) string {
	return fmt.Sprintf("42 (%s) S 1 42 42 0 -1 4194304 900 0 3 0 %d %d 0 0 20 0 %d 0 12345 220000 900\n", command, utime, stime, threads)
}

func TestParseStat(t *testing.T) {
	for _, tc := range []struct {
		in   string
		want stat
		ok   bool
	}{
		{statLine("relay", 250, 50, 12), stat{3 * time.Second, 12}, true},
		{statLine("a) R 1 2 (b", 1, 0, 1), stat{tick, 1}, true},
		{statLine("", 0, 0, 1), stat{0, 1}, true},
		{"", stat{}, false},
		{"42 (relay) S 1 2", stat{}, false},
		{statLine("relay", -1, 0, 1), stat{}, false},
	} {
		got, err := parseStat([]byte(tc.in))
		if got != tc.want || (err == nil) != tc.ok {
			t.Errorf("parseStat(%q) = %+v, %v, want %+v, ok %v", tc.in, got, err, tc.want, tc.ok)
		}
	}
}

func TestParseStatus(t *testing.T) {
	const full = "Name:\tVmRSS: 1 kB\nVmRSS:\t    1748 kB\nThreads:\t1\nvoluntary_ctxt_switches:\t10\nnonvoluntary_ctxt_switches:\t3\n"
	for in, want := range map[string]status{
		full:                            {1748 << 10, 10, 3},
		"VmRSS:\t5\n":                   {},
		"voluntary_ctxt_switches:\tx\n": {},
		"":                              {},
	} {
		if got := parseStatus([]byte(in)); got != want {
			t.Errorf("parseStatus(%q) = %+v, want %+v", in, got, want)
		}
	}
}

func TestReadSample(t *testing.T) {
	files := map[string]string{
		"proc/42/stat":            statLine("relay", 100, 20, 2),
		"proc/42/status":          "VmRSS: 100 kB\nvoluntary_ctxt_switches: 1\nnonvoluntary_ctxt_switches: 1\n",
		"proc/42/smaps_rollup":    "561b-7ffd ---p 00000000 00:00 0   [rollup]\nRss:   100 kB\nPss:    40 kB\nPss_Dirty: 3 kB\n",
		"proc/42/task/42/status":  "voluntary_ctxt_switches: 1\nnonvoluntary_ctxt_switches: 1\n",
		"proc/42/task/43/status":  "voluntary_ctxt_switches: 10\nnonvoluntary_ctxt_switches: 2\n",
		"proc/42/task/44/comm":    "ended before its status was read",
		"proc/42/fd/0":            "",
		"proc/42/fd/1":            "",
		"proc/42/fd/7":            "",
		"proc/43/unrelated/entry": "",
	}
	want := Sample{CPU: 1200 * time.Millisecond, RSS: 100 << 10, PSS: 40 << 10, Voluntary: 11, Involuntary: 3, Threads: 2, Files: 3}
	got, err := readSample(kernel(files), 42)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("readSample: %v (-want +got):\n%s", err, diff)
	}

	for _, name := range []string{"smaps_rollup", "fd/0", "fd/1", "fd/7"} {
		delete(files, "proc/42/"+name)
	}
	want.PSS, want.Files = 0, -1
	got, err = readSample(kernel(files), 42)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("readSample of another user's process: %v (-want +got):\n%s", err, diff)
	}

	if _, err := readSample(kernel(files), 43); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("readSample of a process that is gone = %v, want not exist", err)
	}
}

func TestReadOurselves(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	before, err := Read(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if before.RSS < 1<<20 || before.Threads < 1 || before.Files < 4 {
		t.Errorf("Read = %+v, want a living Go program with a file open", before)
	}
	// Burn CPU until the counter moves; the deadline only ends a test that would fail.
	for begin := time.Now(); ; {
		now, err := Read(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		if now.CPU > before.CPU {
			break
		}
		if time.Since(begin) > 10*time.Second {
			t.Fatalf("CPU time stands at %v", now.CPU)
		}
	}
}
