package proc

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of CPU times in /proc. The kernel's interface to user space has it at 1/100 s whatever its own
// timer does.
const tick = 10 * time.Millisecond

// stat is what we use of /proc/PID/stat.
type stat struct {
	cpu     time.Duration
	threads int
}

// parseStat reads proc(5) stat. The second field is the command in parentheses, in which anything may stand, spaces
// and parentheses included: counting begins behind the last one.
func parseStat(b []byte) (stat, error) {
	end := bytes.LastIndexByte(b, ')')
	if end < 0 {
		return stat{}, errors.New("stat: no command in parentheses")
	}
	fields := strings.Fields(string(b[end+1:]))
	const utime, stime, threads = 14 - 3, 15 - 3, 20 - 3 // fields count from 1; the first here is the third
	if len(fields) <= threads {
		return stat{}, fmt.Errorf("stat: only %d fields", len(fields)+2)
	}
	user, err1 := strconv.ParseUint(fields[utime], 10, 48)
	system, err2 := strconv.ParseUint(fields[stime], 10, 48)
	n, err3 := strconv.Atoi(fields[threads])
	if err := errors.Join(err1, err2, err3); err != nil {
		return stat{}, fmt.Errorf("stat: %w", err)
	}
	return stat{cpu: time.Duration(user+system) * tick, threads: n}, nil
}

// status is what we use of /proc/PID/status. What a kernel leaves out is 0.
type status struct {
	rss                    uint64 // bytes
	voluntary, involuntary uint64
}

func parseStatus(b []byte) (s status) {
	s.rss, _ = parseKiB(b, "VmRSS")
	s.voluntary = parseCount(b, "voluntary_ctxt_switches")
	s.involuntary = parseCount(b, "nonvoluntary_ctxt_switches")
	return s
}

// parseKiB reads a line such as "Pss:   295 kB" and returns bytes.
func parseKiB(b []byte, name string) (uint64, error) {
	v, ok := strings.CutSuffix(field(b, name), " kB")
	n, err := strconv.ParseUint(v, 10, 54)
	if err != nil || !ok {
		return 0, fmt.Errorf("no %s in kB", name)
	}
	return n << 10, nil
}

// parseCount reads a line such as "Threads: 12".
func parseCount(b []byte, name string) uint64 {
	n, _ := strconv.ParseUint(field(b, name), 10, 64)
	return n
}

// field returns what stands behind "name:" at the beginning of a line, empty when there is none.
func field(b []byte, name string) string {
	for line := range bytes.Lines(b) {
		if v, ok := bytes.CutPrefix(line, []byte(name+":")); ok {
			return string(bytes.TrimSpace(v))
		}
	}
	return ""
}

// parseWord reads a line such as "inactive_file 1234" of a control group's memory.stat.
func parseWord(b []byte, name string) uint64 {
	for line := range bytes.Lines(b) {
		if v, ok := bytes.CutPrefix(line, []byte(name+" ")); ok {
			n, _ := strconv.ParseUint(string(bytes.TrimSpace(v)), 10, 64)
			return n
		}
	}
	return 0
}
