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

// maxPending is how many steps are shown that have not begun.
const maxPending = 6

// pendingWord is how the line of such a step begins.
const pendingWord = "pending"

// Live is what runs now as a tree, what comes after it, and a line of counts, all cut to
// the width. tail gives the last line that an attempt printed.
func (b *Board) Live(now time.Time, width int, tail func(belay.Key) string) []string {
	rows, running := b.lanes(now, tail)
	if running > maxLanes {
		rows = append(rows, Line{Word: "…", Step: fmt.Sprintf("and %d more", running-maxLanes)})
	}
	retries := b.story.Retries()
	if len(retries) > 0 {
		rows = append(rows, retry(&retries[0], now))
	}
	for _, st := range b.story.ForTrees() {
		rows = append(rows, Line{Word: "waiting", Step: st.Name(), Text: WaitsForTree(st.Run, st.TreeOf)})
	}
	if len(rows) == 0 {
		return nil
	}
	rows = append(rows, b.pending()...)
	wide := stepWidth
	for _, l := range rows {
		if l.Word != "…" {
			wide = min(max(wide, readable.Width(l.Step)), width/2)
		}
	}
	lines := make([]string, 0, len(rows)+1)
	for _, l := range rows {
		if l.Word == "…" {
			lines = append(lines, readable.Cut("  … "+l.Step, width))
			continue
		}
		l.Step = readable.Cut(l.Step, wide)
		lines = append(lines, readable.Cut(l.format(false, wide), width))
	}
	return append(lines, readable.Cut(b.counts(now, running, len(retries)), width))
}

// counts is the last line: how far the run is, how long it took and what it cost.
func (b *Board) counts(now time.Time, running, again int) string {
	text := fmt.Sprintf("  %d done, %d running", b.story.Done, running)
	if p := b.plan; p != nil {
		text = fmt.Sprintf("  [%d/%d] %s", p.over, p.total, readable.Took(now.Sub(p.began).Truncate(time.Second)))
		if p.micros > 0 {
			text += " " + readable.Dollars(p.micros)
		}
		text += fmt.Sprintf("  %d running", running)
	}
	if failed := b.story.Failed(); failed > 0 {
		text += fmt.Sprintf(", %d failed", failed)
	}
	if again > 0 {
		text += fmt.Sprintf(", %d to be tried again", again)
	}
	return text
}

// lanes are the lines of attempts that run, those of a child run below its step, and how
// many attempts do work of their own.
func (b *Board) lanes(now time.Time, tail func(belay.Key) string) (rows []Line, running int) {
	below, known := map[belay.RunID][]*story.Attempt{}, map[belay.RunID]bool{}
	var tops []*story.Attempt
	for _, a := range b.story.Open() {
		if a.Observation == nil {
			below[a.Run] = append(below[a.Run], a)
			known[a.Child] = a.Child != ""
		}
	}
	for _, a := range b.story.Open() {
		if a.Observation == nil && !known[a.Run] {
			tops = append(tops, a)
		}
	}
	var draw func(list []*story.Attempt, depth int)
	draw = func(list []*story.Attempt, depth int) {
		for _, a := range list {
			if a.Child == "" {
				if running++; running > maxLanes {
					continue
				}
			}
			l := lane(a, now, tail)
			if depth > 0 {
				l.Step = strings.Repeat("  ", depth) + string(a.InRun())
			}
			if a.Child == "" || running < maxLanes {
				rows = append(rows, l)
			}
			if a.Child != "" {
				draw(below[a.Child], depth+1)
			}
		}
	}
	draw(tops, 0)
	return rows, running
}

// pending are the lines of steps that have not begun.
func (b *Board) pending() (rows []Line) {
	if b.plan == nil {
		return nil
	}
	open := map[story.Place]bool{}
	for _, a := range b.story.Open() {
		open[a.Place] = true
	}
	more := 0
	for _, at := range b.plan.pending {
		switch {
		case open[at]:
		case len(rows) == maxPending:
			more++
		default:
			rows = append(rows, Line{Word: pendingWord, Step: at.Name()})
		}
	}
	if more > 0 {
		rows = append(rows, Line{Word: "…", Step: fmt.Sprintf("and %d more %s", more, pendingWord)})
	}
	return rows
}

// lane is the line of an attempt that runs.
func lane(a *story.Attempt, now time.Time, tail func(belay.Key) string) Line {
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
	if a.Child == "" {
		if last := tail(a.Key); last != "" {
			notes = append(notes, last)
		}
	}
	return Line{Word: word, Step: beside(a).Name(), Took: readable.Took(now.Sub(a.Since)), Text: strings.Join(notes, "  ")}
}

// retry is the line of a step that waits for its time.
func retry(st *story.Step, now time.Time) Line {
	return Line{
		Word: "waiting", Step: st.Name(), Took: readable.Took(st.Again.Due.Sub(now)),
		Text: fmt.Sprintf("then attempt %d of %d", st.Again.N, st.Again.Of),
	}
}
