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

// maxPending is how many steps are shown that have not begun, of the run and of each step
// that runs.
const maxPending = 6

// maxEnded is how many steps that ended are shown below one that runs.
const maxEnded = 6

// pendingWord is how the line of a step begins that has not begun.
const pendingWord = "pending"

// Live is the run as a tree: what runs now with what has ended and what is to come below
// it, then what comes after it, and a line of counts, all cut to the width and no more
// of them than the height. tail gives the last line that an attempt printed.
func (b *Board) Live(now time.Time, width, height int, tail func(belay.Key) string) []string {
	rows, running := b.lanes(now, tail)
	retries := b.story.Retries()
	if len(retries) > 0 {
		rows = append(rows, retry(&retries[0], now))
	}
	for _, st := range b.story.ForTrees() {
		l := line("waiting", st.Place, "", WaitsForTree(st.Run, st.TreeOf))
		rows = append(rows, l)
	}
	if len(rows) == 0 {
		return nil
	}
	if running > maxLanes {
		rows = append(rows, Line{Word: more, Step: fmt.Sprintf("and %d more", running-maxLanes), stands: running - maxLanes})
	}
	rows = fitting(b.asTree(append(b.ended(), append(rows, b.pending()...)...)), height-1)
	wide := b.nameWidth(width + 1) // as the lines that are printed have it
	lines := make([]string, 0, len(rows)+1)
	for _, l := range rows {
		if l.Word == more {
			indent := strings.Repeat("  ", l.at.Run.Depth())
			lines = append(lines, readable.Cut("  "+pad("", wordWidth)+" "+indent+"… "+l.Step, width))
			continue
		}
		l.Step = readable.CutMiddle(l.Step, wide)
		lines = append(lines, readable.Cut(l.format(false, wide), width))
	}
	return append(lines, readable.Cut(b.counts(now, running, len(retries)), width))
}

// more is the word of a row that stands for several.
const more = "…"

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

// lanes are the lines of attempts that run, and how many of them do work of their own.
func (b *Board) lanes(now time.Time, tail func(belay.Key) string) (rows []Line, running int) {
	for _, a := range b.story.Open() {
		if a.Observation != nil {
			continue
		}
		if a.Child == "" {
			if running++; running > maxLanes {
				continue
			}
		}
		rows = append(rows, lane(a, now, tail))
	}
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
	shown, left := map[belay.RunID]int{}, map[belay.RunID]int{}
	var runs []belay.RunID
	for _, at := range b.plan.pending {
		switch {
		case open[at]:
		case shown[at.Run] == maxPending:
			if left[at.Run]++; left[at.Run] == 1 {
				runs = append(runs, at.Run)
			}
		default:
			shown[at.Run]++
			rows = append(rows, line(pendingWord, at, "", ""))
		}
	}
	for _, run := range runs {
		rows = append(rows, Line{Word: more, Step: fmt.Sprintf("and %d more %s", left[run], pendingWord), stands: left[run], at: story.Place{Run: run, Path: lastOfRun}})
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
			notes = append(notes, strings.TrimPrefix(last, "· "))
		}
	}
	l := line(word, beside(a), readable.Took(now.Sub(a.Since)), strings.Join(notes, " · "))
	l.holds = a.Child != ""
	return l
}

// retry is the line of a step that waits for its time.
func retry(st *story.Step, now time.Time) Line {
	return line("waiting", st.Place, readable.Took(st.Again.Due.Sub(now)), fmt.Sprintf("then attempt %d of %d", st.Again.N, st.Again.Of))
}
