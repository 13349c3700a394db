package proc

import (
	"bytes"

	"github.com/belay-run/belay"
)

// The environment by which a process of a run is known again.
const (
	markVar = "BELAY_MARK" // the root run
	keyVar  = "BELAY_KEY"  // the attempt
)

// variable is the value of a name in a NUL-separated environment.
func variable(env []byte, name string) (string, bool) {
	for entry := range bytes.SplitSeq(env, []byte{0}) {
		if v, ok := bytes.CutPrefix(entry, []byte(name)); ok && len(v) > 0 && v[0] == '=' {
			return string(v[1:]), true
		}
	}
	return "", false
}

// marked tells whether the process carries the mark of the run.
func marked(pid int, run belay.RunID) bool {
	env, err := environ(pid)
	if err != nil {
		return false // gone, or another user's
	}
	v, ok := variable(env, markVar)
	return ok && v == string(run)
}

// descendants is every process below the roots, the roots left out. stop holds
// pids below which nothing is looked for.
func descendants(all []process, roots map[int]bool, stop map[int]bool) []process {
	below := map[int][]process{}
	for _, p := range all {
		below[p.ppid] = append(below[p.ppid], p)
	}
	var found []process
	seen := map[int]bool{}
	var queue []int
	for pid := range roots {
		queue = append(queue, pid)
	}
	for len(queue) > 0 {
		pid := queue[0]
		queue = queue[1:]
		for _, p := range below[pid] {
			if seen[p.pid] || stop[p.pid] || roots[p.pid] {
				continue
			}
			seen[p.pid] = true
			found = append(found, p)
			queue = append(queue, p.pid)
		}
	}
	return found
}
