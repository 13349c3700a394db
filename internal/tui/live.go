package tui

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay"
)

// maxLanes is how many running steps are shown at once.
const maxLanes = 12

// Live is what runs now, one line each, cut to the width, and a line of counts.
// tail gives the last line that an attempt printed.
func (b *Board) Live(now time.Time, width int, tail func(belay.Key) string) []string {
	var lines []string
	running := 0
	for _, key := range b.order {
		l := b.open[key]
		if l.child || l.ended != nil {
			continue // its own steps are shown
		}
		if running++; running > maxLanes {
			continue
		}
		lines = append(lines, Cut(l.format(now, tail), width))
	}
	if running > maxLanes {
		lines = append(lines, fmt.Sprintf("  … and %d more", running-maxLanes))
	}
	if next, ok := b.nextRetry(); ok {
		lines = append(lines, Cut(next.format(now), width))
	}
	for _, at := range slices.SortedFunc(maps.Keys(b.forTrees), func(a, c place) int {
		return strings.Compare(StepName(a.run, a.path), StepName(c.run, c.path))
	}) {
		lines = append(lines, Cut(Line{Word: "waiting", Step: StepName(at.run, at.path), Text: b.forTrees[at]}.Format(false), width))
	}
	if len(lines) == 0 {
		return nil
	}
	counts := fmt.Sprintf("  %d done, %d running", b.done, running)
	failed := 0
	for _, n := range b.failed {
		failed += n
	}
	if failed > 0 {
		counts += fmt.Sprintf(", %d failed", failed)
	}
	if len(b.waiting) > 0 {
		counts += fmt.Sprintf(", %d to be tried again", len(b.waiting))
	}
	return append(lines, Cut(counts, width))
}

func (l *lane) format(now time.Time, tail func(belay.Key) string) string {
	word := "running"
	if l.role == belay.RoleVerify {
		word = "checking"
	}
	var notes []string
	if l.agent != "" {
		notes = append(notes, l.agent)
	}
	if l.of > 1 || l.n > 1 {
		notes = append(notes, fmt.Sprintf("attempt %d of %d", l.n, max(l.n, l.of)))
	}
	if last := tail(l.key); last != "" {
		notes = append(notes, last)
	}
	return Line{
		Word: word, Step: StepName(l.run, l.path), Took: Took(now.Sub(l.since)), Text: strings.Join(notes, "  "),
	}.Format(false)
}

// next is a step that waits for its time.
type next struct {
	place
	retry
}

// nextRetry is the first step that will be tried again.
func (b *Board) nextRetry() (next, bool) {
	var best next
	found := false
	for at, r := range b.waiting {
		if !found || r.due.Before(best.due) || r.due.Equal(best.due) && at.path < best.path {
			best, found = next{at, r}, true
		}
	}
	return best, found
}

func (n next) format(now time.Time) string {
	return Line{
		Word: "waiting", Step: StepName(n.run, n.path), Took: Took(n.due.Sub(now)),
		Text: fmt.Sprintf("then attempt %d of %d", n.n, max(n.n, n.of)),
	}.Format(false)
}
