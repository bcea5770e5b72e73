package hostcheck

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Read takes the readings of this process. What cannot be read stays unknown;
// the error says why, the other readings are valid.
func Read() (Readings, error) {
	r := Readings{GSODisabled: gsoDisabled(os.Getenv("QUIC_GO_DISABLE_GSO"))}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return r, fmt.Errorf("read the limit of open files: %w", err)
	}
	r.OpenFiles = limit.Cur
	kernel, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return r, fmt.Errorf("read the kernel release: %w", err)
	}
	r.Kernel = strings.TrimSpace(string(kernel))
	if r.ReceiveBuffer, err = number("/proc/sys/net/core/rmem_max"); err != nil {
		return r, err
	}
	r.SendBuffer, err = number("/proc/sys/net/core/wmem_max")
	return r, err
}

// number reads a file that holds one. In a container without it, it is unknown.
func number(name string) (int64, error) {
	b, err := os.ReadFile(name)
	if os.IsNotExist(err) {
		return 0, nil
	} else if err != nil {
		return 0, fmt.Errorf("read a kernel setting: %w", err)
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read %s: %w", name, err)
	}
	return n, nil
}
