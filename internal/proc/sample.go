package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"syscall"
	"time"
)

// Sample is one reading of a process. Its parts are read one after the other, not at one instant.
type Sample struct {
	// CPU is user and system time since the process began, in steps of 10 ms.
	CPU time.Duration
	// RSS is the resident memory in bytes, shared pages included.
	RSS uint64
	// PSS is the resident memory in bytes with shared pages divided among their users. It is 0 where the kernel does not
	// let us read it.
	PSS uint64
	// Voluntary and Involuntary count context switches of the threads that are alive; those of ended threads are lost,
	// so that a later figure can be smaller. They are 0 where the kernel does not count them.
	Voluntary, Involuntary uint64
	// Threads is the number of threads.
	Threads int
	// Files is the number of open file descriptors. It is -1 where the kernel does not let us read it.
	Files int
}

// Read returns a sample of the process with the given id.
func Read(pid int) (Sample, error) { return readSample(os.DirFS("/"), pid) }

func readSample(root fs.FS, pid int) (s Sample, err error) {
	dir := path.Join("proc", strconv.Itoa(pid))
	stat, err := readStat(root, dir)
	if err != nil {
		return Sample{}, fmt.Errorf("process %d: %w", pid, err)
	}
	s.CPU, s.Threads = stat.cpu, stat.threads
	own, err := readStatus(root, dir)
	if err != nil {
		return Sample{}, fmt.Errorf("process %d: %w", pid, err)
	}
	s.RSS = own.rss
	if s.Voluntary, s.Involuntary, err = readSwitches(root, dir); err != nil {
		return Sample{}, fmt.Errorf("process %d: %w", pid, err)
	}
	s.PSS = readPSS(root, dir)
	s.Files = countFiles(root, dir)
	return s, nil
}

func readStat(root fs.FS, dir string) (stat, error) {
	b, err := fs.ReadFile(root, path.Join(dir, "stat"))
	if err != nil {
		return stat{}, err
	}
	return parseStat(b)
}

func readStatus(root fs.FS, dir string) (status, error) {
	b, err := fs.ReadFile(root, path.Join(dir, "status"))
	if err != nil {
		return status{}, err
	}
	return parseStatus(b), nil
}

// readSwitches sums over the threads: the file of the process itself speaks of its first thread alone.
func readSwitches(root fs.FS, dir string) (voluntary, involuntary uint64, err error) {
	tasks, err := fs.ReadDir(root, path.Join(dir, "task"))
	if err != nil {
		return 0, 0, err
	}
	for _, task := range tasks {
		s, err := readStatus(root, path.Join(dir, "task", task.Name()))
		if gone(err) {
			continue
		}
		if err != nil {
			return 0, 0, err
		}
		voluntary += s.voluntary
		involuntary += s.involuntary
	}
	return voluntary, involuntary, nil
}

func readPSS(root fs.FS, dir string) uint64 {
	b, err := fs.ReadFile(root, path.Join(dir, "smaps_rollup"))
	if err != nil {
		return 0
	}
	pss, _ := parseKiB(b, "Pss")
	return pss
}

func countFiles(root fs.FS, dir string) int {
	files, err := fs.ReadDir(root, path.Join(dir, "fd"))
	if err != nil {
		return -1
	}
	return len(files)
}

// gone says that a thread ended between being listed and being read: the kernel then has no file, or no such process.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH)
}
