package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
)

// Memory is what this process may use.
type Memory struct {
	// Total is the memory of the machine or the tightest limit of a control group that we are in, in bytes.
	Total uint64
	// Available is what can still be taken before the machine swaps or a limit is hit, in bytes. Page cache that the
	// kernel can drop counts as available.
	Available uint64
	// Limited says that Total is a control group's limit.
	Limited bool
}

// ReadMemory returns the memory of this process now.
func ReadMemory() (Memory, error) { return readMemory(os.DirFS("/")) }

func readMemory(root fs.FS) (Memory, error) {
	b, err := fs.ReadFile(root, "proc/meminfo")
	if err != nil {
		return Memory{}, err
	}
	m, err := parseMeminfo(b)
	if err != nil {
		return Memory{}, fmt.Errorf("meminfo: %w", err)
	}
	for _, g := range readGroups(root) {
		m = m.within(g)
	}
	return m, nil
}

func parseMeminfo(b []byte) (m Memory, err error) {
	if m.Total, err = parseKiB(b, "MemTotal"); err != nil {
		return Memory{}, err
	}
	m.Available, err = parseKiB(b, "MemAvailable")
	return m, err
}

// usage is the state of one control group, in bytes.
type usage struct {
	limit, used, droppable uint64
}

// within narrows m to what g leaves.
func (m Memory) within(g usage) Memory {
	if g.limit < m.Total {
		m.Total, m.Limited = g.limit, true
	}
	held := g.used - min(g.droppable, g.used)
	m.Available = min(m.Available, g.limit-min(held, g.limit))
	return m
}

// readGroups returns every limited control group from ours up. A system without any has none.
func readGroups(root fs.FS) (all []usage) {
	groups, err1 := fs.ReadFile(root, "proc/self/cgroup")
	mounts, err2 := fs.ReadFile(root, "proc/self/mountinfo")
	if errors.Join(err1, err2) != nil {
		return nil
	}
	for _, g := range findGroups(string(groups), string(mounts)) {
		for _, dir := range g.dirs() {
			if u, ok := g.layout.read(root, dir); ok {
				all = append(all, u)
			}
		}
	}
	return all
}

// layout names the files of a memory control group; versions 1 and 2 differ.
type layout struct{ limit, used, droppable string }

var (
	layoutV1 = layout{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"}
	layoutV2 = layout{"memory.max", "memory.current", "inactive_file"}
)

// read reports false for a group without a limit. Version 2 then says "max"; version 1 says a number that no machine
// has, which narrows nothing.
func (l layout) read(root fs.FS, dir string) (u usage, ok bool) {
	limit, err1 := readNumber(root, path.Join(dir, l.limit))
	used, err2 := readNumber(root, path.Join(dir, l.used))
	if errors.Join(err1, err2) != nil {
		return usage{}, false
	}
	u = usage{limit: limit, used: used}
	if b, err := fs.ReadFile(root, path.Join(dir, "memory.stat")); err == nil {
		u.droppable = parseWord(b, l.droppable)
	}
	return u, true
}

func readNumber(root fs.FS, name string) (uint64, error) {
	b, err := fs.ReadFile(root, name)
	if err != nil {
		return 0, err
	}
	return strconv.ParseUint(strings.TrimSpace(string(b)), 10, 64)
}
