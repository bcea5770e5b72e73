package bench

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

// Machine is where a report comes from.
type Machine struct {
	Host   string `json:"host"`
	OS     string `json:"os"`
	Kernel string `json:"kernel"`
	CPU    string `json:"cpu"`
	CPUs   int    `json:"cpus"`
	Go     string `json:"go"`
	// Load is the load average of the last minute before the first measurement.
	Load string `json:"load_average"`
}

// thisMachine reads what the kernel tells; what it does not stays empty.
func thisMachine() Machine {
	host, _ := os.Hostname()
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	cpu, _ := os.ReadFile("/proc/cpuinfo")
	load, _ := os.ReadFile("/proc/loadavg")
	average, _, _ := strings.Cut(string(load), " ")
	return Machine{
		Host: host, OS: runtime.GOOS + "/" + runtime.GOARCH, Kernel: strings.TrimSpace(string(kernel)),
		CPU: cpuModel(string(cpu)), CPUs: cpuCount(string(cpu)), Go: runtime.Version(), Load: average,
	}
}

// String is the machine on one line.
func (m Machine) String() string {
	return fmt.Sprintf("%s, %d processors, Linux %s, %s, load average before %s", m.CPU, m.CPUs, m.Kernel, m.Go, m.Load)
}

// cpuCount is the number of processors in a /proc/cpuinfo, also of those that this
// process is kept off; without one, that of those it may use.
func cpuCount(info string) int {
	n := 0
	for line := range strings.Lines(info) {
		if key, _, _ := strings.Cut(line, ":"); strings.TrimSpace(key) == "processor" {
			n++
		}
	}
	return max(n, runtime.NumCPU())
}

// cpuModel is the model of the first processor in a /proc/cpuinfo.
func cpuModel(info string) string {
	for line := range strings.Lines(info) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
