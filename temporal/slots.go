package temporal

import (
	"io/fs"
	"strconv"
	"strings"
)

const (
	slotMemory = 1 << 30 // bytes that an agent may take
	leastSlots = 2
	blindSlots = 16 // where nobody says how much memory there is
)

// slots is how many agents the memory holds that this process may use: that of the
// machine, or of the container if that has less. root is the root of the file system.
func slots(root fs.FS) int {
	most := int64(0)
	for _, m := range []int64{
		machineMemory(read(root, "proc/meminfo")),
		limit(read(root, "sys/fs/cgroup/memory.max")),                   // a container with the second version of cgroups
		limit(read(root, "sys/fs/cgroup/memory/memory.limit_in_bytes")), // with the first: no limit is a very big one
	} {
		if m > 0 && (most == 0 || m < most) {
			most = m
		}
	}
	if most == 0 {
		return blindSlots
	}
	return max(leastSlots, int(most/slotMemory))
}

// read is a file, or nothing.
func read(root fs.FS, name string) string {
	b, err := fs.ReadFile(root, name)
	if err != nil {
		return ""
	}
	return string(b)
}

func machineMemory(text string) int64 {
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "MemTotal:" {
			return limit(f[1]) << 10
		}
	}
	return 0
}

// limit is a number of bytes; 0 = none.
func limit(text string) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}
