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
	worker *exec.Cmd
	codes  []int
	said   strings.Builder
}

// stand is how a run stood at the end, and how it came there.
type stand struct {
	belaytest.Outcome
	belaytest.Decisions
	codes []int // of all commands
	acts  map[belay.Act]int
	found map[string]string // how attempts were found by a second driver
	left  map[string]string // what is in the directory and in its repository
}

// TestSameOnBothEngines plays every example, every shipped recipe and a recipe for each
// recovery through the real program, once on each engine: status, exit codes, decisions
// in their order, outputs of all runs, how often each step ran, and the files and branches
// that are left are the same. In one of them the driver is killed.
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
				lines = append(lines, fmt.Sprintf("%-34s %-9s %3d %6d %8d %9d %6d %5d  %-8s %s", p.name, there.Status, there.codes[0],
					len(there.Phases), sum(there.Attempts)+sum(there.Helpers), len(there.All), len(there.Vars), len(there.left), order(here.UserCheckout || there.UserCheckout), third))
				for act, n := range there.acts {
					seen[act] += n
				}
			})
		}
	})
	slices.Sort(lines)
	shown.Figure(t, "%-34s %-9s %3s %6s %8s %9s %6s %5s  %-8s %s\n%s", "play", "status", "code", "steps", "attempts", "decisions", "values", "files", "order", "simulator", strings.Join(lines, "\n"))
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
		if rest, ok := strings.CutPrefix(c, "killed at "); ok {
			file, line, _ := strings.Cut(rest, ": ")
			s.kill(file, strings.ReplaceAll(line, "ID", id), "resume "+id, work)
			continue
		}
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
	s.worker = cmd
	s.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // the test has its answer by now
		_ = cmd.Wait()                          // it was told to end, or was killed
		if s.t.Failed() {
			s.t.Logf("worker: %s", &said)
		}
	})
}

// command is one of those that people type.
func (s *side) command(line, work string) *exec.Cmd {
	cmd := exec.CommandContext(s.t.Context(), "bash", "-c", "exec belay-temporal --state \"$STATE\" "+line)
	cmd.Dir = work
	cmd.Env = append(s.env[:len(s.env):len(s.env)], "STATE="+s.state, "PLACE="+s.dir)
	return cmd
}

// do does one command. Of "until TEXT: COMMAND" it is done until it prints the text.
func (s *side) do(line, work string) {
	s.t.Helper()
	text := ""
	if rest, ok := strings.CutPrefix(line, "until "); ok {
		text, line, _ = strings.Cut(rest, ": ")
	}
	for end := time.Now().Add(60 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		cmd := s.command(line, work)
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
	got := stand{
		Outcome: belaytest.Look(tree, recs), Decisions: belaytest.DecisionsOf(recs), codes: s.codes,
		acts: map[belay.Act]int{}, found: map[string]string{}, left: s.left(),
	}
	got.Code = engine.ResultOf(tree).Code
	s.plain(got.Vars)
	s.plain(got.left)
	for _, r := range recs {
		switch e := r.Event.(type) {
		case event.RecoveryChosen:
			got.acts[e.Plan.Act]++
		case event.AttemptFound:
			got.found[string(e.Key)] = string(e.How)
		}
	}
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
	equal(t, "how attempts were found", a.found, b.found)
	equal(t, "what is left", a.left, b.left)
	if !a.UserCheckout && !b.UserCheckout {
		a.By, b.By = map[string][]string{"": a.All}, map[string][]string{"": b.All}
	}
	for _, step := range slices.Sorted(maps.Keys(a.By)) {
		if x, y := a.By[step], b.By[step]; !slices.Equal(x, y) {
			t.Errorf("decisions about %q are\n  %s\non Temporal\n  %s", step, strings.Join(x, "\n  "), strings.Join(y, "\n  "))
		}
	}
	if len(a.By) != len(b.By) {
		t.Errorf("%d steps have decisions; on Temporal %d", len(a.By), len(b.By))
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
