package tui

import (
	"fmt"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/story"
)

// maxLanes is how many running steps are shown at once.
const maxLanes = 12

// Live is what runs now, one line each, cut to the width, and a line of counts.
// tail gives the last line that an attempt printed.
func (b *Board) Live(now time.Time, width int, tail func(belay.Key) string) []string {
	var lines []string
	running := 0
	for _, a := range b.story.Open() {
		if a.Child != "" || a.Observation != nil {
			continue // its own steps are shown
		}
		if running++; running > maxLanes {
			continue
		}
		lines = append(lines, readable.Cut(lane(a, now, tail), width))
	}
	if running > maxLanes {
		lines = append(lines, fmt.Sprintf("  … and %d more", running-maxLanes))
	}
	retries := b.story.Retries()
	if len(retries) > 0 {
		lines = append(lines, readable.Cut(retry(&retries[0], now), width))
	}
	for _, st := range b.story.ForTrees() {
		text := WaitsForTree(st.Run, st.TreeOf)
		lines = append(lines, readable.Cut(Line{Word: "waiting", Step: st.Name(), Text: text}.Format(false), width))
	}
	if len(lines) == 0 {
		return nil
	}
	counts := fmt.Sprintf("  %d done, %d running", b.story.Done, running)
	if failed := b.story.Failed(); failed > 0 {
		counts += fmt.Sprintf(", %d failed", failed)
	}
	if len(retries) > 0 {
		counts += fmt.Sprintf(", %d to be tried again", len(retries))
	}
	return append(lines, readable.Cut(counts, width))
}

// lane is the line of an attempt that runs.
func lane(a *story.Attempt, now time.Time, tail func(belay.Key) string) string {
	word := "running"
	if a.Role == belay.RoleVerify {
		word = "checking"
	}
	var notes []string
	if a.Agent != "" {
		notes = append(notes, story.AgentName(a.Agent))
	}
	if a.Of > 1 || a.N > 1 {
		notes = append(notes, fmt.Sprintf("attempt %d of %d", a.N, max(a.N, a.Of)))
	}
	if last := tail(a.Key); last != "" {
		notes = append(notes, last)
	}
	return Line{
		Word: word, Step: beside(a).Name(), Took: readable.Took(now.Sub(a.Since)), Text: strings.Join(notes, "  "),
	}.Format(false)
}

// retry is the line of a step that waits for its time.
func retry(st *story.Step, now time.Time) string {
	return Line{
		Word: "waiting", Step: st.Name(), Took: readable.Took(st.Again.Due.Sub(now)),
		Text: fmt.Sprintf("then attempt %d of %d", st.Again.N, st.Again.Of),
	}.Format(false)
}
