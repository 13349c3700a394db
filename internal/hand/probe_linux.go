package hand

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// scratch is a new file of a directory, without a name where that can be: a
// driver that is killed in between then leaves nothing in a working tree.
func scratch(dir string) (*os.File, func() error, error) {
	f, err := os.OpenFile(dir, unix.O_TMPFILE|os.O_WRONLY, 0o600)
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EISDIR) {
		return named(dir)
	}
	return f, func() error { return nil }, err
}

// OOMKills is how many processes of this one's memory group the kernel has
// ended for want of memory, with the groups below it where they are counted
// together; 0 when nobody knows.
func OOMKills() int64 {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return 0
	}
	for _, path := range memoryFiles(string(text)) {
		if n, ok := oomKills(path); ok {
			return n
		}
	}
	return 0
}

// memoryFiles are the files that may count, the likeliest first: of the second
// version of groups, then of the first. Inside a container a group's path may
// be the one outside, while what is mounted begins with the group itself.
func memoryFiles(groups string) []string {
	const second, mixed, first = "/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/memory"
	var files []string
	for line := range strings.Lines(groups) {
		part := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(part) != 3 {
			continue
		}
		at := filepath.Clean("/" + part[2])
		switch {
		case part[0] == "0":
			files = append(files, second+at+"/memory.events", mixed+at+"/memory.events", second+"/memory.events")
		case strings.Contains(","+part[1]+",", ",memory,"):
			files = append(files, first+at+"/memory.oom_control", first+"/memory.oom_control")
		}
	}
	return files
}

// oomKills reads the line "oom_kill N".
func oomKills(path string) (int64, bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		if count, ok := strings.CutPrefix(strings.TrimSpace(line), "oom_kill "); ok {
			n, err := strconv.ParseInt(count, 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}
