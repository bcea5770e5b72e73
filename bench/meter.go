package bench

import (
	"fmt"
	"os"
	"time"

	"github.com/moqmesh/moqmesh/internal/proc"
)

// Usage is what a process used during a span.
type Usage struct {
	Span        time.Duration `json:"span_ns"`
	CPU         time.Duration `json:"cpu_ns"` // user and system time
	RSS         uint64        `json:"rss_bytes"`
	Voluntary   uint64        `json:"voluntary_switches"`
	Involuntary uint64        `json:"involuntary_switches"`
	Threads     int           `json:"threads"`
}

// Share is the CPU time as a share of one core.
func (u Usage) Share() float64 {
	if u.Span <= 0 {
		return 0
	}
	return float64(u.CPU) / float64(u.Span)
}

// meter reads a process twice.
type meter struct {
	pid   int
	begun time.Time
	first proc.Sample
}

func (m *meter) begin() (err error) {
	m.begun = time.Now()
	if m.first, err = proc.Read(m.pid); err != nil {
		return fmt.Errorf("read process %d: %w", m.pid, err)
	}
	return nil
}

func (m *meter) end() (Usage, error) {
	last, err := proc.Read(m.pid)
	if err != nil {
		return Usage{}, fmt.Errorf("read process %d: %w", m.pid, err)
	}
	return Usage{
		Span: time.Since(m.begun), CPU: last.CPU - m.first.CPU, RSS: last.RSS, Threads: last.Threads,
		Voluntary:   risen(m.first.Voluntary, last.Voluntary),
		Involuntary: risen(m.first.Involuntary, last.Involuntary),
	}, nil
}

// usages are what the load and the relay used during the same span.
type usages struct {
	self  Usage
	relay *Usage // nil = unknown
}

// meters read this process and a relay's, whose ID 0 means unknown.
type meters struct{ self, relay meter }

func newMeters(relay int) *meters {
	return &meters{self: meter{pid: os.Getpid()}, relay: meter{pid: relay}}
}

func (m *meters) begin() error {
	if err := m.self.begin(); err != nil || m.relay.pid == 0 {
		return err
	}
	return m.relay.begin()
}

func (m *meters) end() (u usages, err error) {
	if u.self, err = m.self.end(); err != nil || m.relay.pid == 0 {
		return u, err
	}
	relay, err := m.relay.end()
	u.relay = &relay
	return u, err
}

// risen is the growth of a count that may lose what ended threads had counted.
func risen(from, to uint64) uint64 { return max(to, from) - from }
