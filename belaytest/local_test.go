package belaytest_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/belaytest"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/journal"
)

// TestLocalConforms holds the local engine, with real keepers and processes,
// against the suite that every driver passes.
//
// promise: F3, F4, F6, F9, K1, K4, X
func TestLocalConforms(t *testing.T) {
	t.Parallel()
	if *update {
		keepDecisions(t)
		return
	}
	belaytest.Conform(t, local{})
}

var update = flag.Bool("update", false, "keep what the local engine decides in testdata/decisions.json")

// keepDecisions plays all cases, and keeps what was decided where one thing went on at
// a time.
func keepDecisions(t *testing.T) {
	t.Helper()
	var mu sync.Mutex
	kept := map[string][]string{}
	t.Run("cases", func(t *testing.T) {
		for _, c := range belaytest.Cases() {
			t.Run(c.Name, func(t *testing.T) {
				t.Parallel()
				d := belaytest.DecisionsOf(local{}.Run(t, c).Records)
				mu.Lock()
				defer mu.Unlock()
				if !d.UserCheckout {
					kept[c.Name] = d.All
				}
			})
		}
	})
	b, err := json.MarshalIndent(kept, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join("testdata", "decisions.json"), string(b)+"\n")
}

const patience = 30 * time.Second

// local drives cases with the local engine.
type local struct{}

// Abilities are all: the local engine lacks nothing that the suite knows.
func (local) Abilities() []belaytest.Ability { return belaytest.Abilities() }

func (local) Run(t *testing.T, c belaytest.Case) belaytest.Outcome {
	t.Helper()
	s := newStage(t, c)
	open, err := s.engine.Create(s.spec)
	if err != nil {
		t.Fatal(err)
	}
	s.id = open.ID
	for acts := c.Acts; ; {
		var during []belaytest.Act
		for len(acts) > 0 && acts[0].Waits() {
			during, acts = append(during, acts[0]), acts[1:]
		}
		s.drive(open, during)
		for open = nil; open == nil; acts = acts[1:] {
			if len(acts) == 0 {
				return s.kept(c)
			}
			open = s.act(acts[0])
		}
	}
}

// kept is how the run stands. What was decided must be kept, where it has one order.
func (s *stage) kept(c belaytest.Case) belaytest.Outcome {
	s.t.Helper()
	o := s.look(c.Want.Files)
	all, err := belaytest.Kept()
	if err != nil {
		s.t.Fatal(err)
	}
	if all[c.Name] == nil && !*update && !belaytest.DecisionsOf(o.Records).UserCheckout {
		s.t.Error("what is decided is not kept: go test ./belaytest -run LocalConforms -update")
	}
	return o
}

// stage is where one case is played.
type stage struct {
	t      *testing.T
	dir    string
	env    []string
	place  place
	engine *engine.Local
	spec   engine.Spec
	id     belay.RunID
	first  []flow.Fact
	child  *exec.Cmd // a driver that is to be killed
	code   int
	mails  int
}

func newStage(t *testing.T, c belaytest.Case) *stage {
	t.Helper()
	shelf, bin := t.TempDir(), t.TempDir()
	s := &stage{t: t, dir: t.TempDir(), place: place{state: filepath.Join(t.TempDir(), "state"), agents: t.TempDir()}}
	write(t, filepath.Join(shelf, "root.yaml"), c.Recipe)
	for name, src := range c.Subs {
		write(t, filepath.Join(shelf, name+".yaml"), src)
	}
	set, err := load(shelf, "root", s.dir)
	if err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	nest := filepath.Join(bin, "nest")
	who := ""
	if len(c.Agents) > 0 {
		who = c.Agents[0].Name
	}
	write(t, nest, fmt.Sprintf("#!/bin/sh\nexec '%s' nest '%s' '%s' '%s' \"$1\"\n", exe, s.place.agents, shelf, who))
	if err := os.Chmod(nest, 0o700); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(bin, "config.yaml") // what the user of this machine has set is not theirs
	write(t, config, "")
	s.env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "BELAY_CONFIG="+config)
	for n, v := range c.Env {
		s.env = append(s.env, n+"="+v)
	}
	s.spec = engine.Spec{Set: set, Dir: s.dir, Vars: map[string]json.RawMessage{}, Budget: c.Budget}
	for n, v := range c.Vars {
		s.spec.Vars[n] = belay.Text(v).JSON
	}
	s.cast(c.Agents)
	s.commit(c.Repo)
	if s.engine, err = s.place.open(s.env); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.engine.State.Close() }) // the test has its answer by now
	return s
}

// cast gives the run its agents.
func (s *stage) cast(agents []belaytest.Agent) {
	s.t.Helper()
	for i, a := range agents {
		write(s.t, s.place.script(a.Name), a.Script)
		if i == 0 {
			s.spec.Agent, s.spec.Agents = a.Name, true
		} else {
			s.spec.Staff = append(s.spec.Staff, a.Name)
		}
	}
}

// commit makes the run's directory a repository that has the files.
func (s *stage) commit(files map[string]string) {
	s.t.Helper()
	if files == nil {
		return
	}
	for name, text := range files {
		write(s.t, filepath.Join(s.dir, name), text)
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"},
		{"config", "user.name", "somebody"},
		{"config", "user.email", "somebody@example.org"},
		{"add", "-A"},
		{"commit", "-q", "--allow-empty", "-m", "first"},
	} {
		cmd := exec.CommandContext(s.t.Context(), "git", args...)
		cmd.Dir = s.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			s.t.Fatalf("git %s: %v: %s", args[0], err, out)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// drive drives the run to its rest, or to the death of its driver, while
// somebody does the acts.
func (s *stage) drive(open *engine.Open, acts []belaytest.Act) {
	s.t.Helper()
	if slices.ContainsFunc(acts, func(a belaytest.Act) bool { return a.Do == belaytest.KillDriver }) {
		s.driveApart(open, acts)
		return
	}
	rest, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- s.play(acts, rest) }()
	res, err := open.Drive(context.Background(), nil, nil, s.first...)
	close(rest)
	s.first, s.code = nil, res.Code
	if err := errors.Join(err, <-done, open.Close()); err != nil {
		s.t.Fatal(err)
	}
}

// driveApart has another process drive, because this one cannot be killed.
func (s *stage) driveApart(open *engine.Open, acts []belaytest.Act) {
	s.t.Helper()
	_, err := open.Write(s.first...) // the start too, if it is a new run
	s.first = nil
	if err := errors.Join(err, open.Close()); err != nil {
		s.t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	s.child = exec.CommandContext(s.t.Context(), exe, "drive", s.place.state, s.place.agents, string(s.id))
	s.child.Env, s.child.Stderr = s.env, os.Stderr
	if err := s.child.Start(); err != nil {
		s.t.Fatal(err)
	}
	rest, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- s.play(acts, rest) }()
	err = s.child.Wait()
	close(rest)
	if played := <-done; played != nil {
		s.t.Fatal(played)
	}
	if state := s.child.ProcessState; state.Exited() {
		s.t.Fatalf("the driver ended by itself: %v", err)
	}
}

// play does acts whose time comes while the run is driven; what is left when it
// rests could not be done.
func (s *stage) play(acts []belaytest.Act, rest <-chan struct{}) error {
	for _, a := range acts {
		if err := until(rest, func() (bool, error) { return s.try(a) }); err != nil {
			return fmt.Errorf("%s: %w", a.Do, err)
		}
	}
	return nil
}

// try does an act if its time has come.
func (s *stage) try(a belaytest.Act) (bool, error) {
	if ready, err := s.ready(a); err != nil || !ready {
		return false, err
	}
	switch a.Do {
	case belaytest.Cancel:
		return true, s.ask(event.Request{Ask: event.RequestCancel})
	case belaytest.Stop:
		return true, s.ask(event.Request{Ask: event.RequestStop})
	case belaytest.Clear:
		return true, s.ask(event.Request{Ask: event.RequestClear, What: a.What, Step: a.Step})
	case belaytest.Touch:
		return true, os.WriteFile(filepath.Join(s.dir, a.File), nil, 0o600)
	case belaytest.KillKeeper:
		pid, err := s.keeper()
		if err != nil {
			return false, err
		}
		return true, syscall.Kill(pid, syscall.SIGKILL)
	case belaytest.KillDriver:
		return true, s.child.Process.Kill()
	case belaytest.Resume, belaytest.Reopen, belaytest.Answer:
	}
	return false, fmt.Errorf("%s has to wait for the run's rest", a.Do)
}

// ready tells whether what an act waits for is there.
func (s *stage) ready(a belaytest.Act) (bool, error) {
	if a.After != "" {
		if _, err := os.Stat(filepath.Join(s.dir, a.After)); errors.Is(err, os.ErrNotExist) {
			return false, nil
		} else if err != nil {
			return false, err
		}
	}
	if a.Seen == nil {
		return true, nil
	}
	_, recs, err := s.read()
	var never *journal.Unbegun
	if errors.As(err, &never) {
		err = nil // not yet
	}
	return slices.ContainsFunc(recs, a.Seen), err
}

// ask puts a request into the run's mailbox.
func (s *stage) ask(r event.Request) error {
	r.Run, r.By, r.Why = s.id, "somebody", "the list says so"
	_, err := s.engine.State.Put(r)
	return err
}

// keeper is the pid of the run's keeper: the last one that wrote its line.
func (s *stage) keeper() (int, error) {
	b, err := os.ReadFile(filepath.Join(string(s.engine.State.Folder(s.id)), "keeper.log"))
	if err != nil {
		return 0, err
	}
	pid := 0
	for _, line := range strings.Split(string(b), "\n") {
		var l struct{ Keeper *struct{ Pid int } }
		if json.Unmarshal([]byte(line), &l) == nil && l.Keeper != nil {
			pid = l.Keeper.Pid
		}
	}
	if pid <= 1 {
		return 0, errors.New("the keeper's log names no keeper")
	}
	return pid, nil
}

// act does an act for which nobody may drive the run, and takes the run if it
// is to go on.
func (s *stage) act(a belaytest.Act) *engine.Open {
	s.t.Helper()
	if a.Do == belaytest.Touch {
		write(s.t, filepath.Join(s.dir, a.File), "")
		return nil
	}
	open, err := s.engine.Resume(s.id)
	if err != nil {
		s.t.Fatal(err)
	}
	switch a.Do {
	case belaytest.Resume:
	case belaytest.Reopen:
		s.first = open.Tree.Reopen("somebody", "the list says so")
	case belaytest.Answer:
		s.write(open, event.Request{Ask: event.RequestAnswer, Step: a.Step, Choice: a.Choice})
	case belaytest.Clear:
		s.write(open, event.Request{Ask: event.RequestClear, What: a.What, Step: a.Step})
		if err := open.Close(); err != nil {
			s.t.Fatal(err)
		}
		return nil
	case belaytest.Cancel, belaytest.Stop, belaytest.KillKeeper, belaytest.KillDriver, belaytest.Touch:
		s.t.Fatalf("%s needs a run that is driven", a.Do)
	}
	return open
}

// write puts a request on record.
func (s *stage) write(open *engine.Open, r event.Request) {
	s.t.Helper()
	s.mails++
	r.ID, r.Run, r.By, r.Why = fmt.Sprintf("request %d", s.mails), s.id, "somebody", "the list says so"
	if _, err := open.Write(flow.Fact{Run: s.id, Event: event.RequestReceived{Request: r}}); err != nil {
		s.t.Fatal(err)
	}
}

// read reads the journal as anybody could.
func (s *stage) read() (tree *flow.Tree, recs []event.Record, err error) {
	view, err := s.engine.State.View(s.id)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = view.Close() }() // read only: nothing to lose
	if recs, err = view.Load(); err != nil || len(recs) == 0 {
		return nil, nil, err
	}
	tree, err = engine.Fold(s.id, recs, view)
	return tree, recs, err
}

// look is how the run stands.
func (s *stage) look(files map[string]string) belaytest.Outcome {
	s.t.Helper()
	tree, recs, err := s.read()
	if err != nil {
		s.t.Fatal(err)
	}
	o := belaytest.Look(tree, recs)
	o.Code, o.Files = s.code, map[string]string{}
	for name := range files {
		b, err := os.ReadFile(filepath.Join(s.dir, name))
		if err != nil {
			s.t.Error(err)
		}
		o.Files[name] = string(b)
	}
	return o
}

// until asks again and again, for a bounded time and not past the run's rest.
func until(rest <-chan struct{}, ready func() (bool, error)) error {
	deadline := time.After(patience)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if ok, err := ready(); ok || err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-rest:
			return errors.New("the run came to its rest before it was time for that")
		case <-deadline:
			return errors.New("it never came to that")
		}
	}
}
