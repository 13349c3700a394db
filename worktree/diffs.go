package worktree

import (
	"slices"
	"strings"
	"sync"

	"github.com/belay-run/belay"
)

// memo keeps what git said about trees: one merge asks for the same several times.
// A tree is named by its content, so the answer is always the same.
type memo[V any] struct {
	sync.Mutex
	of map[[2]string]V
}

var (
	diffs  memo[[]delta] // in what two trees differ
	wholes memo[bool]    // whether nothing in a tree stands for a file that is not kept
)

// Limits of what is kept.
const (
	maxMemo   = 100
	maxDeltas = 10_000 // of one difference; a longer list is asked for again
)

func (m *memo[V]) get(a, b string) (V, bool) {
	m.Lock()
	defer m.Unlock()
	v, known := m.of[[2]string{a, b}]
	return v, known
}

// put keeps an answer. A name that is no id may stand for another tree the next time.
func (m *memo[V]) put(a, b string, v V) {
	if !isID(a) || b != "" && !isID(b) {
		return
	}
	m.Lock()
	defer m.Unlock()
	if m.of == nil || len(m.of) >= maxMemo {
		m.of = map[[2]string]V{}
	}
	m.of[[2]string{a, b}] = v
}

// tell keeps in what two trees differ.
func tell(from, to string, list []delta) {
	if len(list) <= maxDeltas {
		diffs.put(from, to, slices.Clone(list))
	}
}

// deltas are changes without renames: a file that was moved is gone from one path and
// new at another.
func deltas(list []change) []delta {
	var out []delta
	for _, c := range list {
		switch {
		case c.Change == belay.FileRenamed:
			out = append(out, delta{path: c.old, was: c.was}, delta{path: c.Path, now: c.now})
		case c.Change == belay.FileAdded:
			out = append(out, delta{path: c.Path, now: c.now})
		default:
			out = append(out, delta{c.Path, c.was, c.now})
		}
	}
	slices.SortFunc(out, func(a, b delta) int { return strings.Compare(a.path, b.path) })
	return out
}
