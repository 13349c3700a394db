package temporal

import (
	"testing"
	"testing/fstest"
)

// TestSlotsOfMemory: a worker has as many slots as agents fit into the memory that it
// may use, which in a container is not that of the machine.
//
// promise: X
func TestSlotsOfMemory(t *testing.T) {
	t.Parallel()
	const machine, v2, v1 = "proc/meminfo", "sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory/memory.limit_in_bytes"
	big := "MemFree: 1 kB\nMemTotal:       268435456 kB\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  int
	}{
		"a machine of 256 GiB":          {map[string]string{machine: big}, 256},
		"a container without a limit":   {map[string]string{machine: big, v2: "max\n"}, 256},
		"a container of 12 GiB":         {map[string]string{machine: big, v2: "12884901888\n"}, 12},
		"the same, of an older kernel":  {map[string]string{machine: big, v1: "12884901888\n"}, 12},
		"no limit, of an older kernel":  {map[string]string{machine: big, v1: "9223372036854771712\n"}, 256},
		"a small one":                   {map[string]string{machine: big, v2: "1000000\n"}, leastSlots},
		"a system that does not say it": {nil, blindSlots},
	} {
		root := fstest.MapFS{}
		for file, text := range c.files {
			root[file] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := slots(root); got != c.want {
			t.Errorf("%s: %d slots, want %d", name, got, c.want)
		}
	}
}
