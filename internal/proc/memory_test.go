package proc

import (
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	mib      = 1 << 20
	meminfo  = "MemTotal:       16777216 kB\nMemFree:         1048576 kB\nMemAvailable:    8388608 kB\n"
	mountV2  = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
	mountV1  = "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
	otherV1  = "36 31 0:33 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n"
	hybridV2 = "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n"
)

func TestReadMemory(t *testing.T) {
	for name, tc := range map[string]struct {
		files map[string]string
		want  Memory
	}{
		"no groups": {nil, Memory{Total: 16384 * mib, Available: 8192 * mib}},
		"v2, limited": {map[string]string{
			"proc/self/cgroup":                   "0::/a/b\n",
			"proc/self/mountinfo":                mountV2,
			"sys/fs/cgroup/a/b/memory.max":       "1073741824\n",
			"sys/fs/cgroup/a/b/memory.current":   "805306368\n",
			"sys/fs/cgroup/a/b/memory.stat":      "anon 5\ninactive_file 268435456\n",
			"sys/fs/cgroup/a/memory.max":         "max\n",
			"sys/fs/cgroup/a/memory.current":     "805306368\n",
			"sys/fs/cgroup/a/b/cgroup.procs":     "1\n",
			"sys/fs/cgroup/memory.stat":          "inactive_file 1\n",
			"sys/fs/cgroup/elsewhere/memory.max": "1\n",
		}, Memory{Total: 1024 * mib, Available: 512 * mib, Limited: true}},
		"v2, limit above is tighter": {map[string]string{
			"proc/self/cgroup":                 "0::/a/b\n",
			"proc/self/mountinfo":              mountV2,
			"sys/fs/cgroup/a/b/memory.max":     "1073741824\n",
			"sys/fs/cgroup/a/b/memory.current": "104857600\n",
			"sys/fs/cgroup/a/memory.max":       "536870912\n",
			"sys/fs/cgroup/a/memory.current":   "524288000\n",
		}, Memory{Total: 512 * mib, Available: 12 * mib, Limited: true}},
		"v2, machine is tighter": {map[string]string{
			"proc/self/cgroup":             "0::/\n",
			"proc/self/mountinfo":          mountV2,
			"sys/fs/cgroup/memory.max":     "34359738368\n",
			"sys/fs/cgroup/memory.current": "0\n",
		}, Memory{Total: 16384 * mib, Available: 8192 * mib}},
		"v2, over its limit": {map[string]string{
			"proc/self/cgroup":             "0::/\n",
			"proc/self/mountinfo":          mountV2,
			"sys/fs/cgroup/memory.max":     "1048576\n",
			"sys/fs/cgroup/memory.current": "2097152\n",
			"sys/fs/cgroup/memory.stat":    "inactive_file 9\n",
		}, Memory{Total: mib, Available: 0, Limited: true}},
		"v1 in a container": {map[string]string{
			"proc/self/cgroup":                           "9:memory:/docker/abc\n3:cpu:/docker/abc\n0::/\n",
			"proc/self/mountinfo":                        "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n" + otherV1,
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "1073741824\n",
			"sys/fs/cgroup/memory/memory.usage_in_bytes": "805306368\n",
			"sys/fs/cgroup/memory/memory.stat":           "inactive_file 7\ntotal_inactive_file 268435456\n",
		}, Memory{Total: 1024 * mib, Available: 512 * mib, Limited: true}},
		"v1, no limit, beside an empty v2": {map[string]string{
			"proc/self/cgroup":                           "4:memory:/\n0::/\n",
			"proc/self/mountinfo":                        mountV1 + hybridV2,
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
			"sys/fs/cgroup/memory/memory.usage_in_bytes": "805306368\n",
		}, Memory{Total: 16384 * mib, Available: 8192 * mib}},
	} {
		root := kernel(tc.files)
		root["proc/meminfo"] = kernel(map[string]string{"m": meminfo})["m"]
		got, err := readMemory(root)
		if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

func TestReadMemoryWithoutAnswer(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"no file":      nil,
		"no total":     {"proc/meminfo": "MemAvailable: 1 kB\n"},
		"no available": {"proc/meminfo": "MemTotal: 1 kB\n"},
		"no unit":      {"proc/meminfo": "MemTotal: 1\nMemAvailable: 1\n"},
	} {
		if m, err := readMemory(kernel(files)); err == nil {
			t.Errorf("%s: readMemory = %+v, want an error", name, m)
		}
	}
}

func TestFindGroups(t *testing.T) {
	const inContainer = "30 23 0:26 /docker/abc /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
	for _, tc := range []struct{ name, groups, mounts, want string }{
		{"own path", "0::/a/b\n", mountV2, "sys/fs/cgroup/a/b"},
		{"root of all", "0::/\n", mountV2, "sys/fs/cgroup"},
		{"part of the hierarchy", "0::/docker/abc/x\n", inContainer, "sys/fs/cgroup/x"},
		{"mount is the group", "0::/docker/abc\n", inContainer, "sys/fs/cgroup"},
		{"name that begins alike", "0::/docker/abcdef\n", inContainer, "sys/fs/cgroup"},
		{"outside the namespace", "0::/../other\n", mountV2, "sys/fs/cgroup"},
		{"memory among others", "3:cpu,memory:/x\n", mountV1, "sys/fs/cgroup/memory/x"},
		{"colon in the path", "0::/a:b\n", mountV2, "sys/fs/cgroup/a:b"},
		{"not mounted", "0::/a\n", otherV1, ""},
		{"nonsense", "zero\n0\n::\n", "nothing here\n - \n", ""},
	} {
		got := ""
		if all := findGroups(tc.groups, tc.mounts); len(all) > 0 {
			got = all[0].dirs()[0]
		}
		if got != tc.want {
			t.Errorf("%s: group at %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestOurMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	m, err := ReadMemory()
	if err != nil || m.Total < 16*mib || m.Available > m.Total {
		t.Errorf("ReadMemory = %+v, %v", m, err)
	}
}
