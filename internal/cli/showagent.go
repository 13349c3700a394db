package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/tui"
	"github.com/belay-run/belay/proc"
	"github.com/belay-run/belay/story"
)

// How much of a report is shown; --json has all that is stored.
const (
	shownTools = 10
	shownFiles = 20
	shownNotes = 20
	shortID    = 9
)

// adder puts one more row under an attempt.
type adder = func(name, format string, args ...any)

// agentRows tell of an agent's attempt: who, how it went, what it used, what it
// did and what is there to be seen of it.
func agentRows(r *effect.AgentReport, at tree, add adder) {
	if r.Program != "" {
		add("program", "%s %s", r.Program, r.Version)
	}
	if r.Result.Model != "" {
		add("model", "%s", r.Result.Model)
	}
	resultRows(r, add)
	toolRows(r.Result, add)
	evidenceRows(r.Evidence, at, add)
	noteRows(r.Notes, add)
}

// errorWords are the error that an agent ended with, in words.
func errorWords(r belay.AgentResult) string {
	row := r.Class.Row()
	switch {
	case r.Cause == "":
		return row.Words
	case !row.Named:
		return r.Cause
	}
	return row.Words + ": " + r.Cause
}

func resultRows(r *effect.AgentReport, add adder) {
	a := r.Result
	if r.Resumes > 0 {
		add("resumed", "%s within this attempt", times(r.Resumes))
	}
	add("ended by", "%s", endedText(r.Ended))
	add("exit", "%s", agentExit(a))
	if a.Class != belay.ClassNone || a.Cause != "" {
		add("error", "%s", errorWords(a))
	}
	if !a.Reset.IsZero() {
		add("limit until", "%s", a.Reset.Local().Format(time.DateTime))
	} else if a.RetryAfter > 0 {
		add("limit for", "%s", readable.Took(a.RetryAfter))
	}
	if a.Retries > 0 {
		add("retries", "%d of its own", a.Retries)
	}
	if u := usageText(a.Usage); u != "" {
		add("used", "%s", u)
	}
	add("containment", "%s", proc.Level(r.Level).String())
	if r.Strays > 0 {
		add("strays", "%s", strays(r.Strays))
	}
}

// strays says how many processes an agent left behind.
func strays(n int) string {
	if n == 1 {
		return "1 process that it left behind was ended"
	}
	return fmt.Sprintf("%d processes that it left behind were ended", n)
}

// agentExit is how the agent's program ended, and what its records lack.
func agentExit(a belay.AgentResult) string {
	text := fmt.Sprint(a.Exit)
	if a.Signal != 0 {
		text = fmt.Sprintf("signal %d", a.Signal)
	}
	if !a.Final {
		text += ", without the record that ends a run"
	}
	switch a.Stop {
	case belay.StopRefused, belay.StopTruncated, belay.StopLimit, belay.StopError:
		text += ", the model stopped: " + string(a.Stop)
	case belay.StopUnknown, belay.StopDone:
	}
	return text
}

// endedText says who ended an agent.
func endedText(by effect.EndedBy) string {
	switch by {
	case effect.EndedItself:
		return "itself"
	case effect.EndedFirst:
		return "belay: it never said anything (first_event)"
	case effect.EndedSilence:
		return "belay: it said nothing for too long (silence)"
	case effect.EndedTool:
		return "belay: one tool took too long (tool)"
	case effect.EndedBabble:
		return "belay: it went on without an end or a tool (babble)"
	case effect.EndedDeadline:
		return "belay: its time was over (deadline)"
	case effect.EndedSignal:
		return "belay: the run was stopped or cancelled (signal)"
	case effect.EndedRetries:
		return "belay: it only retried (retries)"
	case effect.EndedOutput:
		return "belay: its answer is over the limit (output)"
	}
	return "belay: " + string(by)
}

func usageText(u belay.Usage) string {
	var words []string
	for _, part := range []struct {
		n    int64
		word string
	}{{u.Input, "in"}, {u.Output, "out"}, {u.CacheRead, "read from cache"}, {u.CacheWrite, "written to cache"}} {
		if part.n > 0 {
			words = append(words, fmt.Sprintf("%d %s", part.n, part.word))
		}
	}
	text := ""
	if len(words) > 0 {
		text = "tokens: " + strings.Join(words, ", ")
	}
	if u.MicroUSD > 0 {
		text = strings.TrimPrefix(text+"; "+readable.Dollars(u.MicroUSD), "; ")
	}
	return text
}

// toolRows are the counts of tool calls and the last of them.
func toolRows(a belay.AgentResult, add adder) {
	if a.ToolCount == 0 && len(a.Denied) == 0 {
		return
	}
	failed, denied := 0, 0
	for _, t := range a.Tools {
		switch {
		case t.Denied:
			denied++
		case t.Failed:
			failed++
		}
	}
	text := fmt.Sprintf("%s, %d failed, %d denied", readable.Many(a.ToolCount, "call"), failed, max(denied, len(a.Denied)))
	if a.ToolCount > len(a.Tools) {
		text += fmt.Sprintf(", of the %d on record", len(a.Tools))
	}
	add("tools", "%s", text)
	if len(a.Denied) > 0 {
		add("denied", "%s", strings.Join(a.Denied, ", "))
	}
	last := a.Tools[max(0, len(a.Tools)-shownTools):]
	if left := a.ToolCount - len(last); left > 0 {
		add("tool", "… %d before", left)
	}
	for i := range last {
		add("tool", "%s", toolText(&last[i]))
	}
}

func toolText(c *belay.ToolCall) string {
	if c.Open {
		return callText(c) + " → not finished"
	}
	return callText(c) + endText(c)
}

// tree is where an attempt worked.
type tree struct {
	dir   string
	again bool // its evidence is held against the state before the first attempt of the step
	kept  bool // its snapshot is still there
}

// evidenceRows are what Belay saw for itself. A snapshot that is gone is only named.
func evidenceRows(e belay.Evidence, at tree, add adder) {
	printRow("before", e.Before, add)
	printRow("after", e.After, add)
	if left := tui.Left(e); left != "" {
		if at.again && left != tui.NoChange {
			left += " since the step began"
		}
		add("changed", "%s", left)
	}
	fileRows("file", e.Changed, e.Files, add)
	some(e.Commits, func(c string) { add("commit", "%s", c) })
	fileRows("guard", e.Guards, len(e.Guards), add)
	fileRows("tampered", e.Tampered, len(e.Tampered), add)
	some(e.Outside, func(path string) { add("outside", "%s", path) })
	if e.PR != "" {
		add("pr", "%s", e.PR)
	}
	switch {
	case e.Snapshot == "":
	case !at.kept:
		add("snapshot", "%s (it is gone)", e.Snapshot)
	default:
		add("snapshot", "%s", e.Snapshot)
		add("see it", "git -C %s show %s", story.Quote(at.dir), story.Quote(e.Snapshot))
	}
	if e.Error != "" {
		add("evidence", "not complete: %s", e.Error)
	}
}

// printRow is the state of a working tree.
func printRow(name string, p belay.TreeState, add adder) {
	switch {
	case p.Error != "":
		add(name, "cannot be told: %s", p.Error)
	case p.Tree == "" && p.Head == "":
	case !p.Repo:
		add(name, "no git repository; files %s", short(p.Tree))
	default:
		branch := p.Branch
		if branch == "" {
			branch = "detached"
		}
		text := "no commit yet"
		if p.Head != "" {
			text = "head " + short(p.Head)
		}
		text += " (" + branch + "), tree " + short(p.Tree)
		if p.Dirty {
			text += ", uncommitted work"
		}
		add(name, "%s", text)
	}
}

func fileRows(name string, files []belay.FileChange, all int, add adder) {
	for i, f := range files {
		if i == shownFiles {
			break
		}
		text := fmt.Sprintf("%s %s", f.Change, f.Path)
		if f.Added+f.Deleted > 0 {
			text += fmt.Sprintf(" +%d −%d", f.Added, f.Deleted)
		}
		if f.Sha != "" {
			text += " " + short(f.Sha)
		}
		add(name, "%s", text)
	}
	if left := all - min(len(files), shownFiles); left > 0 {
		add(name, "… and %d more", left)
	}
}

// some visits the first of a list.
func some(list []string, visit func(string)) {
	for i, s := range list {
		if i == shownFiles {
			visit(fmt.Sprintf("… and %d more", len(list)-shownFiles))
			return
		}
		visit(s)
	}
}

// noteRows are what happened while the agent ran; the session and the base have
// rows of their own.
func noteRows(notes []effect.AgentNote, add adder) {
	var told []effect.AgentNote
	for _, n := range notes {
		switch n.What {
		case effect.NoteQuiet, effect.NoteInterrupt, effect.NoteResume, effect.NoteKill, effect.NoteRetry:
			told = append(told, n)
		case effect.NoteSession, effect.NoteBase:
		}
	}
	if left := len(told) - shownNotes; left > 0 {
		add("note", "… %d before", left)
		told = told[left:]
	}
	for _, n := range told {
		add("note", "%s %s", n.At.Local().Format(time.TimeOnly), strings.TrimSuffix(string(n.What)+": "+n.Text, ": "))
	}
}

// short is the beginning of a long id.
func short(id string) string { return id[:min(len(id), shortID)] }

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// agentHead says who does an attempt, also while it runs.
func (f attemptFacts) agentHead(add adder) {
	if f.Agent == "" {
		return
	}
	add("agent", "%s", f.Agent)
	switch {
	case f.Session != "" && f.Resume:
		add("session", "%s, gone on with from an earlier attempt", f.Session)
	case f.Session != "":
		add("session", "%s", f.Session)
	}
}

// place is the directory that an agent worked in, for commands that look at
// what it left; the run's when it is not there any more.
func (s *runView) place(k belay.Key) string {
	order, err := supervise.ReadOrder(orderPath(s.view, k))
	if err == nil && there(order.Dir) {
		return order.Dir
	}
	started, _ := s.Tree.Run(s.id).Started()
	return started.Dir
}
