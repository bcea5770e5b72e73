package bench

import (
	"os"
	"strconv"
	"strings"
	"time"
)

// userHZ is the unit of /proc/stat, the same on all of Linux's platforms.
const userHZ = 100

// busyNow is the time that all processors together have worked since the machine
// began; zero where the kernel does not tell.
func busyNow() time.Duration {
	stat, _ := os.ReadFile("/proc/stat")
	return busy(string(stat))
}

// busy reads the first line of a /proc/stat: all of its columns but the two of
// idleness. Time of guests is in the first two already.
func busy(stat string) time.Duration {
	line, _, _ := strings.Cut(stat, "\n")
	columns := strings.Fields(line)
	if len(columns) < 9 || columns[0] != "cpu" {
		return 0
	}
	var ticks uint64
	for i, column := range columns[1:9] {
		n, err := strconv.ParseUint(column, 10, 64)
		if err != nil {
			return 0
		}
		if i != 3 && i != 4 { // idle, iowait
			ticks += n
		}
	}
	return time.Duration(ticks) * (time.Second / userHZ)
}
