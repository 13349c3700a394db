//go:build e2e && linux

package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// mark is a variable that every process of a run carries, however far it went.
func mark(p place) string { return "BELAY_E2E_PLACE=" + p.home }

// sweep ends every process that carries the mark and gives how many there were.
func sweep(t *testing.T, mark string) int {
	t.Helper()
	seen := map[int]bool{}
	deadline := time.Now().Add(10 * time.Second)
	for {
		found := marked(mark)
		if len(found) == 0 {
			return len(seen)
		}
		if time.Now().After(deadline) {
			t.Fatalf("processes %v cannot be ended", found)
		}
		for _, pid := range found {
			seen[pid] = true
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may be gone by now
		}
	}
}

// marked are the processes that carry the mark and are not dead already.
func marked(mark string) []int {
	files, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is sound
	var out []int
	for _, f := range files {
		env, err := os.ReadFile(f)
		if err != nil { // gone, or somebody else's
			continue
		}
		for e := range bytes.SplitSeq(env, []byte{0}) {
			if string(e) == mark {
				pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(f))) // the pattern allows digits only
				out = append(out, pid)
			}
		}
	}
	return out
}
