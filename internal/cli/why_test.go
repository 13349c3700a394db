package cli

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/recipe"
	"github.com/belay-run/belay/story"
)

var updatePages = flag.Bool("update", false, "write the golden pages")

// tale is a run that is told by records instead of processes.
type tale struct {
	t    *testing.T
	lib  flow.Library
	root *recipe.Recipe
	now  time.Time
	recs []event.Record
}

// night is when the runs of these tests begin.
var night = time.Date(2026, 3, 1, 2, 10, 0, 0, time.UTC)

func newTale(t *testing.T, source string, subs map[string]string) *tale {
	t.Helper()
	w := &tale{t: t, now: night, lib: flow.Library{Recipes: map[string]*recipe.Recipe{}, Names: map[string]string{}}}
	w.root = w.parse("nightly.yaml", source)
	for name, src := range subs {
		w.lib.Names[name] = w.parse(name+".yaml", src).Digest
	}
	w.say("k3f9q", event.RunStarted{
		Schema: event.Schema, Name: w.root.Name, File: "/srv/app/nightly.yaml", Recipe: w.root.Digest, Dir: "/srv/app", Limits: belay.DefaultLimits(),
	})
	w.say("k3f9q", event.RunAttached{Epoch: 1})
	return w
}

func (w *tale) parse(file, source string) *recipe.Recipe {
	w.t.Helper()
	r, problems := recipe.Parse(file, []byte(source))
	if r == nil {
		w.t.Fatal(problems)
	}
	w.lib.Recipes[r.Digest] = r
	return r
}

// say writes one record, and lets a second pass.
func (w *tale) say(run belay.RunID, e event.Event) {
	w.recs = append(w.recs, event.Record{Seq: int64(len(w.recs) + 1), Epoch: 1, At: w.now, Run: run, Event: e})
	w.now = w.now.Add(time.Second)
}

// try is one attempt of a step from its start to what it amounts to.
func (w *tale) try(run belay.RunID, step string, n int, agent string, o effect.Observation, f *belay.Failure) {
	key := belay.KeyOf(run, belay.Path(step), belay.RoleMain, n)
	w.say(run, event.AttemptStarted{Key: key, Path: belay.Path(step), Role: belay.RoleMain, Attempt: n, Agent: agent})
	o.Began, o.Started = true, w.now
	w.now = w.now.Add(90 * time.Second)
	o.Ended = w.now
	w.say(run, event.AttemptEnded{Key: key, Observation: o})
	w.say(run, event.AttemptJudged{Key: key, Verdict: effect.Verdict{OK: f == nil, Failure: f}})
}

func (w *tale) plan(run belay.RunID, step string, p belay.Plan) {
	w.say(run, event.RecoveryChosen{Path: belay.Path(step), Plan: p})
}

// story folds the records. A recovery that starts the step again is folded as a
// retry, which is what all of them are to the page.
func (w *tale) story() *runView {
	w.t.Helper()
	tree := flow.NewTree("k3f9q", w.lib)
	for _, r := range w.recs {
		if e, ok := r.Event.(event.RecoveryChosen); ok && e.Plan.Act != belay.ActGiveUp && e.Plan.Act != belay.ActHold {
			r.Event = event.RecoveryChosen{Path: e.Path, Plan: belay.Plan{Act: belay.ActRetry}}
		}
		if err := tree.Apply(r); err != nil {
			w.t.Fatal(err)
		}
	}
	return &runView{
		id: "k3f9q", view: &journal.View{}, recs: w.recs, Story: story.Tell(tree, w.recs),
		commit: func(context.Context, string, string) string { return "5e1f" }, // all snapshots are there
	}
}

// golden holds the page against its file.
func (w *tale) golden(name string) *whyFacts {
	w.t.Helper()
	facts := explain(w.t.Context(), w.story(), "belay", time.Date(2026, 3, 1, 7, 0, 0, 0, time.UTC))
	got := strings.Join(facts.page(sheet{width: pageWidth}), "\n") + "\n"
	file := filepath.Join("testdata", "why", name+".golden")
	if *updatePages {
		must(w.t, os.WriteFile(file, []byte(got), 0o600))
	}
	want, err := os.ReadFile(file)
	must(w.t, err)
	if got != string(want) {
		w.t.Errorf("%s: got\n%s\nwant\n%s", file, got, want)
	}
	return facts
}

const nightly = `
name: nightly
steps:
  - {id: build, command: "make"}
  - {id: fix, agent: claude, prompt: mend the parser}
  - {id: ship, command: "make ship"}
`

func report(name string, usage belay.Usage, cause, text string) effect.Observation {
	return effect.Observation{Exit: 1, Agent: &effect.AgentReport{
		Name: name, Result: belay.AgentResult{Final: true, Error: cause != "", Cause: cause, Usage: usage, Excerpt: text},
		Evidence: belay.Evidence{
			Before: belay.TreeState{Repo: true, Head: "1111111111111", Branch: "main", Tree: "a"},
			After:  belay.TreeState{Repo: true, Head: "1111111111111", Branch: "main", Tree: "b", Dirty: true},
			Files:  2, Added: 31, Deleted: 4, Snapshot: "refs/belay/k3f9q/fix.1",
		},
	}}
}

// An agent fails, others take over, and at the end no recovery is left.
//
// promise: R8
func TestWhyFailed(t *testing.T) {
	t.Parallel()
	w := newTale(t, nightly, nil)
	w.try("k3f9q", "build", 1, "", effect.Observation{}, nil)
	busy := &belay.Failure{
		Kind: belay.Infrastructure, Class: belay.ClassTransient, Op: "step fix", Cause: "overloaded (HTTP 529)",
		Level: belay.LevelTyped, Rule: "agent.transient", Print: "9f8e7d6c5b4a39281706",
	}
	broken := &belay.Failure{
		Kind: belay.BashFailure, Class: belay.ClassWorkFailure, Op: "step fix", Cause: "verify: exit 1: --- FAIL: TestParse",
		Level: belay.LevelProcess, Rule: "go.1", Print: "3fa9c2d417c0ffee0000", Hint: "the check go test ./... must pass",
	}
	used := belay.Usage{Input: 11000, Output: 1200, MicroUSD: 410_000}
	for n := 1; n <= 3; n++ {
		w.try("k3f9q", "fix", n, "claude", report("claude", used, "overloaded", ""), busy)
		w.plan("k3f9q", "fix", belay.Plan{
			Act: belay.ActRetry, Rule: "capacity", Policy: "belay", Class: belay.ClassTransient, Level: belay.LevelTyped, Counts: true,
			Reason: fmt.Sprintf("the service is overloaded, try %d of 3", n), Due: w.now.Add(4 * time.Second),
		})
	}
	w.try("k3f9q", "fix", 4, "claude", report("claude", used, "overloaded", ""), busy)
	w.plan("k3f9q", "fix", belay.Plan{
		Act: belay.ActFailover, Rule: "capacity", Policy: "belay", Class: belay.ClassTransient, Counts: true, Agent: "codex",
		Reason: "claude is overloaded and codex is there", Refused: []belay.NotTaken{{Act: belay.ActRetry, Why: "the same failed 4 times"}},
	})
	w.try("k3f9q", "fix", 5, "codex", report("codex", belay.Usage{Input: 5000, Output: 100}, "", "I changed parser.go.\n\x1b[31mThe test still fails.\x1b[0m"), broken)
	w.plan("k3f9q", "fix", belay.Plan{
		Act: belay.ActGiveUp, Rule: "spent", Policy: "belay", Class: belay.ClassWorkFailure, Reason: "no recovery is left",
		Refused: []belay.NotTaken{{Act: belay.ActRepair, Why: "the failing set does not shrink: 1 before, 1 now"}, {Act: belay.ActFailover, Why: "another agent does not mend a bug"}},
	})
	w.say("k3f9q", event.RunEnded{RunResult: belay.RunResult{Status: belay.Failed, Code: 1, Reason: broken.Error(), Failure: broken}})
	facts := w.golden("failed")
	if facts.Cost.Starts != 5 || len(facts.Cost.Agents) != 2 || facts.Cost.Replans != 4 || facts.Cost.Agents[0].Starts != 4 {
		t.Errorf("cost %+v", facts.Cost)
	}
	if f := facts.Failure; f.Class != belay.ClassWorkFailure || f.Decided != "known from its exit code" || f.Agent != "codex" {
		t.Errorf("failure %+v", f)
	}
	if facts.Tried[0].Times != 3 {
		t.Errorf("the retries are not one: %+v", facts.Tried)
	}
}

// What a step took and used is that of all its attempts; a limit is named only where more
// attempts are left.
func TestShowSumsAttempts(t *testing.T) {
	t.Parallel()
	w := newTale(t, nightly, nil)
	used := belay.Usage{Input: 1000, MicroUSD: 200_000}
	w.try("k3f9q", "build", 1, "", effect.Observation{}, nil)
	w.try("k3f9q", "fix", 1, "claude", report("claude", used, "overloaded", ""), &belay.Failure{Kind: belay.Infrastructure, Cause: "overloaded"})
	w.plan("k3f9q", "fix", belay.Plan{Act: belay.ActRetry, Reason: "overloaded"})
	w.try("k3f9q", "fix", 2, "claude", report("claude", used, "", "done"), nil)
	s := w.story()
	for _, p := range s.steps() {
		row := strings.Join(stepRow(p, string(p.Path), true, "", s.Sum(p.At())), " | ")
		want := map[belay.Path]string{
			"build": "build | done | 1 | 1m30s | exit 0",
			"fix":   "fix | done | 2 | 3m00s | claude, 2.0k tokens, $0.40, 2 files +31 −4 in all",
			"ship":  "ship | not reached | - | - | ",
		}[p.Path]
		if row != want {
			t.Errorf("got %q, want %q", row, want)
		}
	}
	p := s.steps()[0]
	p.Attempts = 4
	if row := stepRow(p, "build", true, "", story.Sum{}); row[2] != "1 of 4" {
		t.Errorf("attempts %q", row[2])
	}
}

// A failure that differs from the first one in its durations alone is no other failure:
// the fingerprints say so, and where there is none the words do. With the same words there
// is nothing to tell.
func TestWhyFirstFailure(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ first, last, print1, print2, want string }{
		"another time":   {"exit 1: FAIL shop 0.002s", "exit 1: FAIL shop 0.005s", "aa", "aa", ""},
		"another one":    {"overloaded", "exit 1: FAIL shop 0.005s", "aa", "bb", "overloaded"},
		"the same words": {"exit 1", "exit 1", "", "bb", ""},
		"other words":    {"exit 2", "exit 1", "", "", "exit 2"},
		"nothing to say": {"verify: exit 1", "verify: exit 1", "aa", "bb", ""},
	} {
		w := newTale(t, nightly, nil)
		fail := func(cause, fingerprint string) *belay.Failure {
			return &belay.Failure{Kind: belay.BashFailure, Class: belay.ClassWorkFailure, Cause: cause, Print: fingerprint}
		}
		w.try("k3f9q", "build", 1, "", effect.Observation{Exit: 1}, fail(c.first, c.print1))
		w.plan("k3f9q", "build", belay.Plan{Act: belay.ActRetry, Reason: c.first})
		w.try("k3f9q", "build", 2, "", effect.Observation{Exit: 1}, fail(c.last, c.print2))
		w.plan("k3f9q", "build", belay.Plan{Act: belay.ActGiveUp, Reason: c.last})
		facts := explain(t.Context(), w.story(), "belay", w.now)
		if facts.Failure.First != c.want {
			t.Errorf("%s: the first failure is %q, want %q", name, facts.Failure.First, c.want)
		}
		page := strings.Join(facts.page(sheet{width: pageWidth}), "\n")
		if told := strings.Contains(page, "at first it was another failure"); told != (c.want != "") {
			t.Errorf("%s: the page says that it was another failure: %t\n%s", name, told, page)
		}
	}
}

const outer = `
name: release
steps:
  - {id: build, command: make}
  - {id: deploy, recipe: deploy}
  - {id: tell, command: make tell}
`

const deploy = `
name: deploy
steps:
  - {id: prep, command: "true"}
  - {id: push, command: git push}
`

// inDeploy begins a release whose deploy is a child run.
func inDeploy(t *testing.T) *tale {
	t.Helper()
	w := newTale(t, outer, map[string]string{"deploy": deploy})
	w.try("k3f9q", "build", 1, "", effect.Observation{}, nil)
	w.say("k3f9q", event.AttemptStarted{Key: "k3f9q:deploy.1", Path: "deploy", Role: belay.RoleMain, Attempt: 1, Child: "k3f9q/deploy.1"})
	w.say("k3f9q/deploy.1", event.RunStarted{
		Schema: event.Schema, Name: "deploy", Recipe: w.lib.Names["deploy"], Dir: "/srv/app", Parent: "k3f9q:deploy.1", Limits: belay.DefaultLimits(),
	})
	w.try("k3f9q/deploy.1", "prep", 1, "", effect.Observation{}, nil)
	return w
}

// A held step of a child run: the page leads to the step, not to its parent.
func TestWhyHeld(t *testing.T) {
	t.Parallel()
	w := inDeploy(t)
	denied := &belay.Failure{
		Kind: belay.Infrastructure, Class: belay.ClassAuth, Cause: "exit 128: fatal: Authentication failed",
		Level: belay.LevelText, Rule: "git.auth", Print: "00aa11bb22cc33dd", Hint: "log in with git credential",
	}
	w.try("k3f9q/deploy.1", "push", 1, "", effect.Observation{Exit: 128, Tail: "remote: Invalid username or token.\nfatal: Authentication failed for 'https://git.example/app'\n"}, denied)
	w.plan("k3f9q/deploy.1", "push", belay.Plan{Act: belay.ActHold, Rule: "auth", Policy: "belay", Class: belay.ClassAuth, Reason: "only a person can log in"})
	w.say("k3f9q/deploy.1", event.ItemOpened{ID: "push.1", Path: "push", Ask: "step push failed (no login). Choose: done (its work is done), again (run it again), fail (leave it failed), skip (go on without it).", Choices: choices()})
	w.say("k3f9q", event.RunHeld{Items: []string{"push.1"}})
	facts := w.golden("held")
	if len(facts.Waits) != 1 || facts.Waits[0].Command != "belay answer k3f9q/deploy.1 push done|again|fail|skip --why TEXT" {
		t.Errorf("waits %+v", facts.Waits)
	}
	if facts.Failure.Name != "deploy/push" || facts.Failure.Run != "k3f9q/deploy.1" {
		t.Errorf("failure %+v", facts.Failure)
	}
}

// The driver died twice, the first time another went on: nothing failed.
//
// promise: K1
func TestWhyCrashed(t *testing.T) {
	t.Parallel()
	w := inDeploy(t)
	w.say("k3f9q/deploy.1", event.AttemptStarted{Key: "k3f9q/deploy.1:push.1", Path: "push", Role: belay.RoleMain, Attempt: 1})
	w.say("k3f9q", event.RunAttached{Epoch: 2})
	w.say("k3f9q/deploy.1", event.AttemptFound{Key: "k3f9q/deploy.1:push.1", How: fault.Adopted})
	facts := w.golden("crashed")
	if !facts.Crashed || facts.Died != 2 || facts.Failure != nil || facts.Next.Commands[0] != "belay resume k3f9q" {
		t.Errorf("%+v", facts)
	}
}

// A good end after trouble: what was tried stays on the page, and nothing is to
// be done.
func TestWhyAchieved(t *testing.T) {
	t.Parallel()
	w := newTale(t, nightly, nil)
	w.try("k3f9q", "build", 1, "", effect.Observation{Exit: 1}, &belay.Failure{Kind: belay.BashFailure, Class: belay.ClassConflict, Cause: "exit 1: index.lock exists"})
	w.plan("k3f9q", "build", belay.Plan{Act: belay.ActRetry, Rule: "lock", Reason: "a lock was in the way", Due: w.now.Add(2 * time.Second)})
	w.try("k3f9q", "build", 2, "", effect.Observation{}, nil)
	o := report("claude", belay.Usage{Input: 20000, Output: 3000, MicroUSD: 410_000}, "", "Mended.")
	o.Exit = 0
	w.try("k3f9q", "fix", 1, "claude", o, nil)
	w.try("k3f9q", "ship", 1, "", effect.Observation{}, nil)
	w.say("k3f9q", event.RunEnded{RunResult: belay.RunResult{Status: belay.Achieved}})
	if facts := w.golden("achieved"); facts.Failure != nil || len(facts.Next.Commands) != 0 {
		t.Errorf("%+v", facts)
	}
}

// A person left a step out; the answer is on the page, the skip after it is not
// told twice.
func TestWhyPartial(t *testing.T) {
	t.Parallel()
	w := newTale(t, nightly, nil)
	w.try("k3f9q", "build", 1, "", effect.Observation{Exit: 5}, &belay.Failure{Kind: belay.BashFailure, Cause: "exit 5"})
	w.plan("k3f9q", "build", belay.Plan{Act: belay.ActHold, Rule: "on_failure", Reason: "failed 1 of 1 allowed: exit 5"})
	w.say("k3f9q", event.ItemOpened{ID: "build.1", Path: "build", Ask: "?", Choices: choices()})
	w.say("k3f9q", event.ItemAnswered{ID: "build.1", Path: "build", By: "ada", Choice: event.ChoiceSkip, Why: "not today"})
	w.say("k3f9q", event.StepSkipped{Path: "build", By: "ada", Why: "not today"})
	o := report("claude", belay.Usage{}, "", "ok")
	o.Exit = 0
	w.try("k3f9q", "fix", 1, "claude", o, nil)
	w.try("k3f9q", "ship", 1, "", effect.Observation{}, nil)
	w.say("k3f9q", event.RunEnded{RunResult: belay.RunResult{Status: belay.Partial, Code: 5, Reason: "step build was left out"}})
	facts := w.golden("partial")
	if len(facts.Tried) != 2 || facts.Tried[1].Text != "answered skip by ada" {
		t.Errorf("tried %+v", facts.Tried)
	}
}

// A run of ten thousand steps, a thousand of which failed, has a short page.
func TestWhyManySteps(t *testing.T) {
	t.Parallel()
	const steps = 10_000
	var b strings.Builder
	b.WriteString("name: many\nsteps:\n")
	for i := range steps {
		fmt.Fprintf(&b, "  - {id: s%d, needs: [], optional: %v, command: 'true'}\n", i, i%10 == 3 && i != 3)
	}
	w := newTale(t, b.String(), nil)
	for i := range steps {
		name := fmt.Sprintf("s%d", i)
		if i%10 != 3 {
			w.try("k3f9q", name, 1, "", effect.Observation{}, nil)
			continue
		}
		w.try("k3f9q", name, 1, "", effect.Observation{Exit: 1, Tail: strings.Repeat("no\n", 99)}, &belay.Failure{Kind: belay.BashFailure, Cause: "exit 1: no"})
		w.plan("k3f9q", name, belay.Plan{Act: belay.ActGiveUp, Rule: "attempts_spent", Reason: "failed 1 of 1 allowed: exit 1: no"})
	}
	facts := explain(t.Context(), w.story(), "belay", w.now)
	lines := facts.page(sheet{width: pageWidth})
	if len(lines) > 60 {
		t.Errorf("the page has %d lines", len(lines))
	}
	if facts.Failure == nil || facts.Failure.Step != "s3" || facts.Steps.Done != 9000 {
		t.Errorf("failure %+v, %d done", facts.Failure, facts.Steps.Done)
	}
}

// Nothing that a terminal obeys gets onto the page, and only commands and what
// is quoted with them are wider than it.
func TestWhyIsHarmless(t *testing.T) {
	t.Parallel()
	nasty := "a\x1b]0;title\x07b\x1b[31mred\x1b[0m\u202eevil\r\x00" + strings.Repeat(" word", 80)
	w := newTale(t, nightly, nil)
	w.try("k3f9q", "build", 1, "", effect.Observation{Exit: 1, Tail: "50%\r100%\n" + nasty + "\n\tindented\n"}, &belay.Failure{
		Kind: belay.BashFailure, Cause: nasty, Hint: nasty, Rule: "x", Level: belay.LevelText, Print: nasty,
	})
	w.plan("k3f9q", "build", belay.Plan{Act: belay.ActGiveUp, Reason: nasty, Refused: []belay.NotTaken{{Act: belay.ActRepair, Why: nasty}}})
	w.say("k3f9q", event.RunEnded{RunResult: belay.RunResult{Status: belay.Failed, Code: 1, Reason: nasty}})
	facts := explain(t.Context(), w.story(), "belay", w.now)
	for _, width := range []int{40, 80, 110} {
		for _, l := range facts.page(sheet{width: width}) {
			if strings.ContainsAny(l, "\x1b\x07\r\x00\u202e\n") {
				t.Errorf("width %d: %q", width, l)
			}
			if readable.Width(l) > width && !strings.Contains(l, "belay ") {
				t.Errorf("width %d: %d places: %q", width, readable.Width(l), l)
			}
		}
	}
	page := strings.Join(facts.page(sheet{width: 80}), "\n")
	if !strings.Contains(page, "| 100%\n") || !strings.Contains(page, "|     indented\n") {
		t.Errorf("the quoted lines are not as they were on a screen:\n%s", page)
	}
	if !strings.Contains(strings.Join(facts.page(sheet{width: 80, colour: true}), "\n"), "\x1b[1mNEXT\x1b[0m") {
		t.Error("no colour where it is wanted")
	}
}

// The names of the facts are promised.
func TestWhyJSON(t *testing.T) {
	t.Parallel()
	w := newTale(t, nightly, nil)
	b, err := json.Marshal(explain(t.Context(), w.story(), "belay", w.now))
	must(t, err)
	var got map[string]any
	must(t, json.Unmarshal(b, &got))
	for _, name := range []string{"run", "recipe", "status", "crashed", "verdict", "started", "wall_ms", "tried", "cost", "work", "steps", "waits", "next", "drivers_died"} {
		if v, ok := got[name]; !ok || v == nil {
			t.Errorf("no %s in %s", name, b)
		}
	}
	if strings.Contains(string(b), "null") {
		t.Errorf("a list is null: %s", b)
	}
}
