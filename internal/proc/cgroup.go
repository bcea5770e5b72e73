package proc

import (
	"path"
	"slices"
	"strings"
)

// group is the memory control group of this process.
type group struct {
	mount  string // where its hierarchy is mounted, without the leading slash
	below  string // its path below that mount; "." = the mount itself
	layout layout
}

// dirs returns the directories of the group and of all groups above it, whose limits hold as well.
func (g group) dirs() (dirs []string) {
	for at := g.below; ; at = path.Dir(at) {
		dirs = append(dirs, path.Join(g.mount, at))
		if at == "." {
			return dirs
		}
	}
}

// findGroups reads /proc/self/cgroup (cgroups(7)) beside /proc/self/mountinfo (proc(5)): the one tells the path within
// a hierarchy, the other where that hierarchy, or the part that a container sees, is mounted.
func findGroups(groups, mounts string) (all []group) {
	for line := range strings.Lines(groups) {
		id, rest, ok1 := strings.Cut(strings.TrimSpace(line), ":")
		controllers, at, ok2 := strings.Cut(rest, ":")
		if !ok1 || !ok2 {
			continue
		}
		switch {
		case id == "0" && controllers == "":
			all = appendGroup(all, mounts, at, layoutV2)
		case slices.Contains(strings.Split(controllers, ","), "memory"):
			all = appendGroup(all, mounts, at, layoutV1)
		}
	}
	return all
}

func appendGroup(all []group, mounts, at string, l layout) []group {
	for line := range strings.Lines(mounts) {
		root, mount, ok := parseMount(line, l)
		if !ok {
			continue
		}
		below, ok := relative(root, at)
		if !ok {
			below = "." // the path is one that the container does not see: its mount is its group
		}
		return append(all, group{mount: strings.TrimPrefix(mount, "/"), below: below, layout: l})
	}
	return all
}

// parseMount returns the part of the hierarchy that is mounted, and where, when the line is about l's hierarchy.
//
//	35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory
func parseMount(line string, l layout) (root, mount string, ok bool) {
	front, back, ok := strings.Cut(line, " - ")
	f, b := strings.Fields(front), strings.Fields(back)
	if !ok || len(f) < 5 || len(b) < 3 {
		return "", "", false
	}
	if l == layoutV2 {
		return f[3], f[4], b[0] == "cgroup2"
	}
	return f[3], f[4], b[0] == "cgroup" && slices.Contains(strings.Split(b[2], ","), "memory")
}

// relative returns at seen from root, "." for root itself.
func relative(root, at string) (below string, ok bool) {
	if strings.HasPrefix(at, "/..") {
		return "", false // outside of the namespace
	}
	root, at = path.Clean(root), path.Clean(at)
	if root == at {
		return ".", true
	}
	below, ok = strings.CutPrefix(at, strings.TrimSuffix(root, "/")+"/")
	return below, ok
}
