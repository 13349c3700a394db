package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/audit"
	"github.com/belay-run/belay/belaytest"
	"github.com/belay-run/belay/belaytest/sim"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/temporal/shown"
)

// side is one engine with a directory, a state and, of Temporal, a worker.
type side struct {
	t      *testing.T
	engine string
	dir    string
	state  string
	env    []string
	codes  []int
	said   strings.Builder
}

// stand is how a run stood at the end, and how it came there.
type stand struct {
	belaytest.Outcome
	codes     []int               // of all commands
	decisions []string            // all, in their order
	by        map[string][]string // those about each step
	beside    bool                // attempts went side by side: then only the order about each step means anything
	acts      map[belay.Act]int
}

// TestSameOnBothEngines plays every example, every shipped recipe and a recipe for each
// recovery through the real program, once on each engine: status, exit codes, decisions
// in their order, outputs, and how often each step ran are the same.
//
// promise: X
func TestSameOnBothEngines(t *testing.T) {
	addr := address(t)
	var mu sync.Mutex
	var lines []string
	seen := map[belay.Act]int{}
	t.Run("plays", func(t *testing.T) {
		for i, p := range plays(t) {
			t.Run(p.name, func(t *testing.T) {
				t.Parallel()
				id := fmt.Sprintf("play-%d-%x", i, time.Now().UnixNano())
				here := p.on(t, "local", addr, id)
				there := p.on(t, "temporal", addr, id)
				same(t, here, there)
				third := p.simulated(t, there)
				mu.Lock()
				defer mu.Unlock()
				lines = append(lines, fmt.Sprintf("%-34s %-9s %3d %6d %8d %9d  %-8s %s", p.name, there.Status, there.codes[0],
					len(there.Phases), sum(there.Attempts)+sum(there.Helpers), len(there.decisions), order(here.beside || there.beside), third))
				for act, n := range there.acts {
					seen[act] += n
				}
			})
		}
	})
	slices.Sort(lines)
	shown.Figure(t, "%-34s %-9s %3s %6s %8s %9s  %-8s %s\n%s", "play", "status", "code", "steps", "attempts", "decisions", "order", "simulator", strings.Join(lines, "\n"))
	for _, act := range belay.Acts() {
		if row := act.Row(); row.Planned && seen[act] == 0 && !t.Failed() {
			t.Errorf("no play has the recovery %s", act)
		}
	}
}

func sum(m map[string]int) (n int) {
	for _, v := range m {
		n += v
	}
	return n
}

// order says how far the order of decisions could be compared.
func order(beside bool) string {
	if beside {
		return "by step"
	}
	return "all"
}

// on plays it on one engine.
func (p play) on(t *testing.T, engine, addr, id string) stand {
	t.Helper()
	work := t.TempDir()
	s := &side{t: t, engine: engine, dir: filepath.Join(work, "place"), state: filepath.Join(work, "state")}
	env := p.stage(t, work, s.dir)
	queue := id + "-" + engine
	s.env = append(append(os.Environ(), env...), "BELAY_ENGINE="+engine, "TEMPORAL_ADDRESS="+addr,
		"BELAY_TEMPORAL_TASK_QUEUE="+queue, "BELAY_TEMPORAL_HOST="+queue)
	if engine == "temporal" {
		s.work(filepath.Join(work, "host"))
	}
	for _, c := range p.commands {
		s.do(strings.ReplaceAll(c, "ID", id), work)
	}
	return s.stand(belay.RunID(id))
}

// work starts the worker.
func (s *side) work(state string) {
	s.t.Helper()
	cmd := exec.Command("belay-temporal", "--state", state, "worker")
	cmd.Env = s.env
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // the test has its answer by now
		_ = cmd.Wait()                          // it was told to end
		if s.t.Failed() {
			s.t.Logf("worker: %s", &said)
		}
	})
}

// do does one command. Of "until TEXT: COMMAND" it is done until it prints the text.
func (s *side) do(line, work string) {
	s.t.Helper()
	text := ""
	if rest, ok := strings.CutPrefix(line, "until "); ok {
		text, line, _ = strings.Cut(rest, ": ")
	}
	for end := time.Now().Add(60 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		cmd := exec.CommandContext(s.t.Context(), "bash", "-c", "belay-temporal --state \"$STATE\" "+line)
		cmd.Dir = work
		cmd.Env = append(s.env, "STATE="+s.state, "PLACE="+s.dir)
		out, err := cmd.CombinedOutput()
		var bad *exec.ExitError
		if err != nil && !errors.As(err, &bad) {
			s.t.Fatal(err)
		}
		if text == "" {
			fmt.Fprintf(&s.said, "$ belay %s\n%s", line, out)
			s.codes = append(s.codes, cmd.ProcessState.ExitCode())
			return
		}
		if strings.Contains(string(out), text) {
			return
		}
		if time.Now().After(end) {
			s.t.Fatalf("%s: %s never printed %q: %s", s.engine, line, text, out)
		}
	}
}

// stand reads how the run stands.
func (s *side) stand(id belay.RunID) stand {
	s.t.Helper()
	state, err := journal.OpenState(s.state)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = state.Close() }() // only read
	view, err := state.View(id)
	if err != nil {
		s.t.Fatalf("%s: %v\n%s", s.engine, err, &s.said)
	}
	defer func() { _ = view.Close() }() // only read
	recs, err := view.Load()
	if err != nil {
		s.t.Fatal(err)
	}
	tree, err := engine.Fold(id, recs, view)
	if err != nil {
		s.t.Fatal(err)
	}
	got := stand{Outcome: belaytest.Look(tree, recs), codes: s.codes, acts: map[belay.Act]int{}}
	got.Code = engine.ResultOf(tree).Code
	s.plain(got.Vars)
	got.decide(recs, string(tree.Runs()[0]))
	for _, v := range audit.Check(recs) {
		s.t.Errorf("%s: audit: %s", s.engine, v)
	}
	s.t.Cleanup(func() {
		if s.t.Failed() {
			s.t.Logf("%s: %s", s.engine, &s.said)
		}
	})
	return got
}

var (
	commit = regexp.MustCompile(`\b[0-9a-f]{7,40}\b`)
	merged = regexp.MustCompile(`([0-9a-f]{7} \w+)(?:\n|\\n)([0-9a-f]{7} \w+)`)
)

// plain takes out of values what no two runs have the same: directories, and the names
// of commits, which become their numbers. An abbreviated one has that of the whole.
func (s *side) plain(vars map[string]string) {
	work := filepath.Dir(s.dir)
	dirs := strings.NewReplacer(filepath.Join(work, "host"), "STATE", s.state, "STATE", work, "WORK")
	var known []string
	for name, v := range vars { // commits of one second have no order
		vars[name] = merged.ReplaceAllStringFunc(v, func(list string) string {
			lines := merged.FindStringSubmatch(list)
			slices.SortFunc(lines[1:], func(a, b string) int { return strings.Compare(a[7:], b[7:]) })
			return lines[1] + "|" + lines[2]
		})
	}
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		vars[name] = commit.ReplaceAllStringFunc(dirs.Replace(vars[name]), func(c string) string {
			i := slices.Index(known, c[:7])
			if i < 0 {
				i, known = len(known), append(known, c[:7])
			}
			return fmt.Sprintf("commit-%d", i)
		})
	}
}

// decide collects what the brain decided.
func (s *stand) decide(recs []event.Record, root string) {
	s.by = map[string][]string{}
	open := map[belay.Key]bool{}
	for _, r := range recs {
		step, what := decided(r)
		switch e := r.Event.(type) {
		case event.AttemptStarted:
			if e.Child == "" { // a child run goes beside the step that calls it
				s.beside = s.beside || len(open) > 0
				open[e.Key] = true
			}
		case event.AttemptEnded:
			delete(open, e.Key)
		case event.AnswerGiven: // who asks first for a tree that two want gets it
			a, tree := e.Answer.(effect.AnswerTree)
			s.beside = s.beside || tree && (a.By != "" || a.Waited > 0)
		case event.RecoveryChosen:
			s.acts[e.Plan.Act]++
		}
		if what != "" {
			name := strings.TrimPrefix(string(r.Run), root) + ":" + string(step)
			s.by[name] = append(s.by[name], what)
			s.decisions = append(s.decisions, name+" "+what)
		}
	}
}

// decided is a decision without times and texts; "" = the record is none.
func decided(r event.Record) (belay.Path, string) {
	kind := r.Event.Kind()
	switch e := r.Event.(type) {
	case event.AttemptStarted:
		return e.Path, fmt.Sprintf("%s %s %d %s resume=%t", kind, e.Role, e.Attempt, e.Agent, e.Resume)
	case event.AttemptJudged:
		p, _ := belay.ParseKey(e.Key)
		return p.Path, fmt.Sprintf("%s %s %t %s %s", kind, p.Role, e.Verdict.OK, e.Verdict.Basis, failure(e.Verdict.Failure))
	case event.AttemptStopping:
		p, _ := belay.ParseKey(e.Key)
		return p.Path, fmt.Sprintf("%s %s", kind, e.Why)
	case event.StepNotTaken:
		return e.Path, kind
	case event.StepSkipped:
		return e.Path, kind + " " + e.By
	case event.StepRefused:
		return e.Path, kind + " " + failure(&e.Failure)
	case event.StepReset:
		return e.Path, fmt.Sprintf("%s %v %v", kind, e.Also, e.Kept)
	case event.RecoveryChosen:
		return e.Path, fmt.Sprintf("%s %s %s %s %s %s", kind, e.Plan.Act, e.Plan.Rule, e.Plan.Class, e.Plan.Agent, e.Plan.Role)
	case event.ItemOpened:
		return e.Path, fmt.Sprintf("%s %s %v %s", kind, e.About, e.Choices, e.OnTimeout)
	case event.ItemAnswered:
		return e.Path, fmt.Sprintf("%s %s %s", kind, e.Choice, e.Why)
	case event.ItemExpired:
		return e.Path, kind + " " + e.Then
	case event.RunHeld, event.RunStopped, event.RunPaused, event.RunResumed, event.RunCleared, event.RunReopened:
		return "", kind
	case event.RunEnded:
		return "", fmt.Sprintf("%s %s %d", kind, e.Status, e.Code)
	case event.AnswerGiven:
		if a, ok := e.Answer.(effect.AnswerAgent); ok { // who may start is counted beside the run
			p, _ := belay.ParseKey(e.Key)
			return p.Path, fmt.Sprintf("%s %t", kind, a.OK)
		}
	}
	return "", ""
}

func failure(f *belay.Failure) string {
	if f == nil {
		return "-"
	}
	return fmt.Sprintf("%s/%s/%s", f.Kind, f.Class, f.Move)
}

// same compares two engines.
func same(t *testing.T, a, b stand) {
	t.Helper()
	if a.Status != b.Status || a.Code != b.Code || a.Failure != b.Failure || !slices.Equal(a.codes, b.codes) {
		t.Errorf("the run is %s, code %d, failure %q, commands %v; on Temporal %s, %d, %q, %v",
			a.Status, a.Code, a.Failure, a.codes, b.Status, b.Code, b.Failure, b.codes)
	}
	equal(t, "attempts", a.Attempts, b.Attempts)
	equal(t, "helpers", a.Helpers, b.Helpers)
	equal(t, "agents", a.Agents, b.Agents)
	equal(t, "phases", a.Phases, b.Phases)
	equal(t, "failures", a.Failures, b.Failures)
	equal(t, "outputs", a.Vars, b.Vars)
	if !a.beside && !b.beside {
		a.by, b.by = map[string][]string{"": a.decisions}, map[string][]string{"": b.decisions}
	}
	for _, step := range slices.Sorted(maps.Keys(a.by)) {
		if x, y := a.by[step], b.by[step]; !slices.Equal(x, y) {
			t.Errorf("decisions about %q are\n  %s\non Temporal\n  %s", step, strings.Join(x, "\n  "), strings.Join(y, "\n  "))
		}
	}
	if len(a.by) != len(b.by) {
		t.Errorf("%d steps have decisions; on Temporal %d", len(a.by), len(b.by))
	}
}

func equal[V comparable](t *testing.T, what string, a, b map[string]V) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(a)) {
		if x, ok := b[name]; !ok || x != a[name] {
			t.Errorf("%s of %s: %v, on Temporal %v", what, name, a[name], x)
		}
	}
	if len(a) != len(b) {
		t.Errorf("%s: %d, on Temporal %d", what, len(a), len(b))
	}
}

// simulated plays it in the simulator, if that has all that it needs.
func (p play) simulated(t *testing.T, want stand) string {
	t.Helper()
	if p.calm == "" {
		return "-"
	}
	got := sim.Driver{}.Run(t, belaytest.Case{Name: p.name, Recipe: p.calm, Want: want.Want})
	if got.Status != want.Status {
		t.Errorf("the simulator ends in %s, Temporal in %s", got.Status, want.Status)
	}
	equal(t, "attempts in the simulator", got.Attempts, want.Attempts)
	equal(t, "phases in the simulator", got.Phases, want.Phases)
	equal(t, "failures in the simulator", got.Failures, want.Failures)
	return "same"
}
