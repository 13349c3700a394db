package cli

import (
	"fmt"
	"strings"

	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/verdict"
)

// checkRows are what a check that Belay itself made has seen.
func checkRows(r *effect.CheckReport, add func(name, format string, args ...any)) {
	if r == nil {
		return
	}
	for _, t := range r.Tests {
		add("tests", "%s", testLine(t))
		add("  in", "%s, found in %s", t.Dir, t.From)
	}
	if len(r.Tests) == 0 && r.PR == nil {
		add("tests", "no test command was found from %s upwards", r.Dir)
	}
	if r.PR == nil {
		return
	}
	add("forge", "%s", verdict.Requested(*r.PR))
	for _, p := range r.PR.Found {
		add("  known", "%s %s, head %.12s", p.URL, p.State, p.Head)
	}
	for _, h := range r.PR.Heads {
		word := "old"
		if h.New {
			word = "new"
		}
		add("  commit", "%.12s (%s)", h.Commit, word)
	}
}

// testLine is one test command with how it ended.
func testLine(t effect.TestRun) string {
	text := verdict.Ran(t) + fmt.Sprintf(": exit %d", t.Exit)
	switch {
	case t.Swapped != "":
		return t.Command + ": not run, " + t.Swapped + " is not the program that it was"
	case t.Missing != "":
		return t.Command + ": not run, there is no " + t.Missing
	}
	if t.Late {
		text += ", not there at the start of the run"
	}
	if len(t.Changed) > 0 {
		text += ", changed since the start of the run: " + strings.Join(t.Changed, ", ")
	}
	return text
}
