package belaytest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/belaytest"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/internal/library"
	"github.com/belay-run/belay/internal/step"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/proc"
)

// TestMain is also the keeper: the engine starts this program again as one.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "keeper" {
		if err := proc.Keep(context.Background(), proc.KeepOptions{Dir: os.Args[2], Socket: os.Args[3]}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestLocalConforms holds the local engine, with real keepers and processes,
// against the suite that every driver passes.
//
// promise: F3, F4, F6, F9, K4, X
func TestLocalConforms(t *testing.T) {
	t.Parallel()
	belaytest.Conform(t, local{})
}

const patience = 30 * time.Second

// local drives cases with the local engine.
type local struct{}

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
		for len(acts) > 0 && acts[0].After != "" {
			during, acts = append(during, acts[0]), acts[1:]
		}
		res := s.drive(open, during)
		if len(acts) == 0 {
			return s.look(res)
		}
		open = s.act(acts[0])
		acts = acts[1:]
	}
}

// stage is where one case is played.
type stage struct {
	t      *testing.T
	dir    string
	state  *journal.State
	engine *engine.Local
	spec   engine.Spec
	id     belay.RunID
	first  []flow.Fact
}

func newStage(t *testing.T, c belaytest.Case) *stage {
	t.Helper()
	shelf, work := t.TempDir(), t.TempDir()
	write(t, filepath.Join(shelf, "root.yaml"), c.Recipe)
	for name, src := range c.Subs {
		write(t, filepath.Join(shelf, name+".yaml"), src)
	}
	set, err := library.Shelf{Work: work}.Load(filepath.Join(shelf, "root.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if set.Errors() {
		t.Fatal(set.Text())
	}
	state, err := journal.OpenState(filepath.Join(t.TempDir(), "state"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = state.Close() }) // the test has its answer by now
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{t: t, dir: work, state: state, spec: engine.Spec{Set: set, Dir: work, Vars: map[string]json.RawMessage{}}}
	for n, v := range c.Vars {
		s.spec.Vars[n] = belay.Text(v).JSON
	}
	s.engine = &engine.Local{
		State: state, Keeper: []string{exe, "keeper"}, Version: "test", Env: os.Environ(),
		Limits: step.Limits{MaxLog: 1 << 20, MaxOut: 1 << 20, Grace: time.Second},
	}
	return s
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// drive drives the run to its rest while somebody does the acts.
func (s *stage) drive(open *engine.Open, acts []belaytest.Act) belay.RunResult {
	s.t.Helper()
	done := make(chan error, 1)
	go func() { done <- s.play(acts) }()
	res, err := open.Drive(context.Background(), nil, nil, s.first...)
	s.first = nil
	if err := errors.Join(err, <-done, open.Close()); err != nil {
		s.t.Fatal(err)
	}
	return res
}

// play does acts that wait for a file.
func (s *stage) play(acts []belaytest.Act) error {
	for _, a := range acts {
		err := until(func() (bool, error) { return s.try(a) })
		if err != nil {
			return fmt.Errorf("%s after %s: %w", a.Do, a.After, err)
		}
	}
	return nil
}

// try does an act if its time has come.
func (s *stage) try(a belaytest.Act) (bool, error) {
	if _, err := os.Stat(filepath.Join(s.dir, a.After)); errors.Is(err, os.ErrNotExist) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	r := belay.Request{Run: s.id, By: "somebody", Why: "the list says so"}
	switch a.Do {
	case belaytest.Cancel:
		r.Ask = belay.RequestCancel
	case belaytest.Stop:
		r.Ask = belay.RequestStop
	case belaytest.KillKeeper:
		pid, err := s.keeper()
		if err != nil {
			return false, err
		}
		return true, syscall.Kill(pid, syscall.SIGKILL)
	case belaytest.Resume, belaytest.Reopen, belaytest.Answer:
		return false, fmt.Errorf("%s has to wait for the run's rest", a.Do)
	}
	_, err := s.state.Put(r)
	return true, err
}

// keeper is the pid of the run's keeper: the last one that wrote its line.
func (s *stage) keeper() (int, error) {
	b, err := os.ReadFile(filepath.Join(string(s.state.Folder(s.id)), "keeper.log"))
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

// act does an act for which the run must rest, and takes the run.
func (s *stage) act(a belaytest.Act) *engine.Open {
	s.t.Helper()
	open, err := s.engine.Resume(s.id)
	if err != nil {
		s.t.Fatal(err)
	}
	switch a.Do {
	case belaytest.Resume:
	case belaytest.Reopen:
		s.first = open.Tree.Reopen("somebody", "the list says so")
	case belaytest.Answer:
		_, err := open.Write(flow.Fact{Run: s.id, Event: belay.RequestReceived{Request: belay.Request{
			ID: "answer", Run: s.id, By: "somebody", Ask: belay.RequestAnswer, Step: a.Step, Choice: a.Choice, Why: "the list says so",
		}}})
		if err != nil {
			s.t.Fatal(err)
		}
	case belaytest.Cancel, belaytest.Stop, belaytest.KillKeeper:
		s.t.Fatalf("%s needs a run that is driven", a.Do)
	}
	return open
}

// look reads the journal as anybody could.
func (s *stage) look(res belay.RunResult) belaytest.Outcome {
	s.t.Helper()
	view, err := s.state.View(s.id)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = view.Close() }() // read only: nothing to lose
	recs, err := view.Load()
	if err != nil {
		s.t.Fatal(err)
	}
	tree, err := engine.Fold(s.id, recs, view)
	if err != nil {
		s.t.Fatal(err)
	}
	o := belaytest.Look(tree, recs)
	o.Code = res.Code
	return o
}

// until asks again and again, for a bounded time.
func until(ready func() (bool, error)) error {
	deadline := time.After(patience)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if ok, err := ready(); ok || err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-deadline:
			return errors.New("it never came to that")
		}
	}
}
