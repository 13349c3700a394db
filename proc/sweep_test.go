package proc

import (
	"slices"
	"testing"
)

// A process that dies has no mark any more and is no zombie yet: a sweep that is
// over now would leave it behind. Its number may be another's meanwhile.
func TestSweepWaitsForTheDying(t *testing.T) {
	t.Parallel()
	h := newHunt(0)
	h.seen = map[int]process{1: {pid: 1, start: 10}, 2: {pid: 2, start: 20}, 3: {pid: 3, start: 30}, 4: {pid: 4, start: 40}}
	all := []process{
		{pid: 1, start: 10},               // in the list of the marked
		{pid: 2, start: 20},               // dies
		{pid: 3, start: 30, zombie: true}, // is dead
		{pid: 4, start: 41},               // somebody else
		{pid: 5, start: 50},               // a stranger
	}
	var pids []int
	for _, p := range h.withDying(all, slices.Clip(all[:1])) {
		pids = append(pids, p.pid)
	}
	if !slices.Equal(pids, []int{1, 2}) {
		t.Errorf("hunted %v, want 1 and 2", pids)
	}
}
