package tui

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/story"
)

const agents = `
name: agents
steps:
  - {id: fix, agent: claude, model: opus, prompt: mend it, expect: change, retry: {max_attempts: 2, backoff: 1s}}
  - {id: look, agent: claude, prompt: look, output: seen}
`

// grant lets the agent of an attempt start.
func (s *tale) grant(key string) {
	s.t.Helper()
	s.turn(flow.Fact{Run: "k3f9q", Event: event.AnswerGiven{Key: belay.Key("k3f9q:" + key + "?agent"), Answer: effect.AnswerAgent{OK: true}}})
}

// report ends an agent's attempt after d with what is known of it.
func (s *tale) report(key string, d time.Duration, r effect.AgentReport) {
	s.t.Helper()
	began := s.now
	s.now = s.now.Add(d)
	s.turn(flow.Fact{Run: "k3f9q", Event: event.AttemptEnded{Key: belay.Key("k3f9q:" + key), Observation: effect.Observation{
		Began: true, Exit: r.Result.Exit, Started: began, Ended: s.now, Agent: &r,
	}}})
}

func (s *tale) note(key string, what effect.NoteKind, text string) {
	s.t.Helper()
	s.turn(flow.Fact{Run: "k3f9q", Event: event.AttemptNoted{Key: belay.Key("k3f9q:" + key), What: what, Text: text}})
}

func seen(before, after string, files ...belay.FileChange) belay.Evidence {
	e := belay.Evidence{
		Before: belay.TreeState{Repo: true, Head: "c0ffee", Tree: before}, After: belay.TreeState{Repo: true, Head: "c0ffee", Tree: after},
		Files: len(files), Changed: files,
	}
	for _, f := range files {
		e.Added, e.Deleted = e.Added+f.Added, e.Deleted+f.Deleted
	}
	return e
}

// The story of agents: who starts, what happens meanwhile, what each used and
// left, the class of a failure, and what all of them cost.
func TestStoryOfAgents(t *testing.T) {
	t.Parallel()
	s := begin(t, agents, nil)
	s.grant("fix.1")
	s.note("fix.1", effect.NoteSession, "5e55-10")
	s.note("fix.1", effect.NoteQuiet, "silence: 5m0s of 10m0s have passed")
	s.note("fix.1", effect.NoteRetry, "overloaded 529")
	s.note("fix.1", effect.NoteInterrupt, "silence: it said nothing for 10m0s")
	s.note("fix.1", effect.NoteResume, "5e55-10")
	s.report("fix.1", 12*time.Minute, effect.AgentReport{Name: "claude", Evidence: seen("a", "a"), Result: belay.AgentResult{
		Final: true, Stop: belay.StopDone, Excerpt: "All done!", TextSize: 9, Usage: belay.Usage{Input: 20_000, Output: 3_400},
	}})
	s.now = s.now.Add(time.Minute)
	s.turn()
	s.grant("fix.2")
	live := strings.Join(s.board.Live(s.now.Add(3*time.Second), 79, 24, func(belay.Key) string { return "$ go test ./..." }), "\n") + "\n"
	s.report("fix.2", 3*time.Minute, effect.AgentReport{Name: "claude", Evidence: seen("a", "b", belay.FileChange{Path: "x.go", Change: belay.FileModified, Added: 3, Deleted: 1}),
		Result: belay.AgentResult{Final: true, Stop: belay.StopDone, Excerpt: "done", TextSize: 4, Usage: belay.Usage{Input: 5, CacheRead: 1_200_000, MicroUSD: 1_234_567}}})
	s.grant("look.1")
	s.report("look.1", time.Second, effect.AgentReport{Name: "claude", Evidence: seen("b", "b"), Result: belay.AgentResult{
		Final: true, Error: true, Exit: 1, Stop: belay.StopError, Class: belay.ClassAuth, Status: 401, Cause: "invalid key",
	}})
	golden(t, "agents", s.text()+"--\n"+live+"--\n"+summary(s))
}

// A run that ended hollow is shown like one that failed, with what to type.
func TestStoryOfAHollowRun(t *testing.T) {
	t.Parallel()
	s := begin(t, "name: h\nsteps:\n  - {id: fix, agent: codex, prompt: mend it, expect: change}\n", nil)
	for n := 1; n <= 2; n++ { // it is asked once more, for evidence
		k := fmt.Sprintf("fix.%d", n)
		s.grant(k)
		s.report(k, time.Second, effect.AgentReport{Name: "codex", Evidence: seen("a", "a"), Result: belay.AgentResult{
			Final: true, Stop: belay.StopDone, Excerpt: "All done!", TextSize: 9,
		}})
		s.now = s.now.Add(time.Minute)
		s.turn()
	}
	if s.tree.Status() != belay.Hollow {
		t.Fatalf("status %s", s.tree.Status())
	}
	got := summary(s)
	for _, want := range []string{
		"\nrun k3f9q HOLLOW after 1m02s (success was claimed, and nothing was done): 1 failed\n", "✗ failed    fix                   nothing changed",
		"\nagents: 2 starts\n", "\nnext: look at belay logs k3f9q fix, find out why the agent did nothing, then allow new attempts: belay clear k3f9q attempts:fix --why TEXT, then belay resume k3f9q   # TEXT: what is different now\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// A step that may not start its agent says so, and not that its work is unknown.
func TestStoryOfABudget(t *testing.T) {
	t.Parallel()
	s := begin(t, agents, nil)
	s.turn(flow.Fact{Run: "k3f9q", Event: event.AnswerGiven{Key: "k3f9q:fix.1?agent", Answer: effect.AnswerAgent{Error: "40 agent starts (limit 40) are used"}}})
	if want := "  held      fix                   step fix wants to start an agent: 40 agent starts (limit 40) are used."; !strings.HasPrefix(s.text(), want) {
		t.Errorf("got\n%s", s.text())
	}
	if want := "  held      fix                   no further agent may start: the budget is used up\n"; !strings.Contains(summary(s), want) {
		t.Errorf("got\n%s", summary(s))
	}
}

// Life signs of an agent are only for those who want everything.
func TestQuietNotesAreForTheCurious(t *testing.T) {
	t.Parallel()
	s := begin(t, agents, nil)
	s.grant("fix.1")
	from := len(s.recs)
	s.note("fix.1", effect.NoteQuiet, "half")
	s.note("fix.1", effect.NoteRetry, "529")
	s.note("fix.1", effect.NoteKill, "over")
	var plain, verbose bytes.Buffer
	NewScreen(&plain, NewBoard(story.Live(s.tree)), Style{}, none).Seen(s.recs[from:])
	NewScreen(&verbose, NewBoard(story.Live(s.tree)), Style{Verbose: true}, none).Seen(s.recs[from:])
	if got := plain.String(); got != "✗ killed    fix                   over\n" {
		t.Errorf("plain: %q", got)
	}
	for _, want := range []string{"  quiet     fix                   half\n", "  note      fix                   the agent calls its model again: 529\n"} {
		if !strings.Contains(verbose.String(), want) {
			t.Errorf("no %q in\n%s", want, verbose.String())
		}
	}
}

func TestLeft(t *testing.T) {
	t.Parallel()
	one := seen("a", "b", belay.FileChange{Path: "x", Added: 2})
	committed := seen("a", "a")
	committed.Commits = []string{"c1", "c2"}
	asked := one
	asked.PR = "https://example.org/pull/1"
	for want, e := range map[string]belay.Evidence{
		"":                           {},
		"no change":                  seen("a", "a"),
		"the working tree changed":   seen("a", "b"),
		"1 file +2 −0":               one,
		"2 commits":                  committed,
		"1 file +2 −0, pull request": asked,
	} {
		if got := Left(e); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestNumbersForPeople(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1.0k", 9949: "9.9k", 9950: "10k", 23_400: "23k", 999_499: "999k", 999_500: "1.0M", 1_250_000: "1.2M", 3e9: "3.0G"} {
		if got := readable.Count(n); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
	for n, want := range map[int64]string{1: "$0.000001", 12_300: "$0.0123", 10_000: "$0.01", 50_000: "$0.05", 100_000: "$0.10", 1_234_567: "$1.23"} {
		if got := readable.Dollars(n); got != want {
			t.Errorf("Dollars(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestHarmless(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"two\nlines\tand a tab":  "two\nlines\tand a tab",
		"\x1b[31mred\x1b[0m\r\n": "red\n",
		"a\x00b\x7fc\u009bd":     "abcd",
		"\u202Eevil":             "evil",
		"cut \xff byte":          "cut \uFFFD byte",
		"日本語 👍":                  "日本語 👍",
	} {
		if got := readable.Harmless(in); got != want {
			t.Errorf("Harmless(%q) = %q, want %q", in, got, want)
		}
	}
}
