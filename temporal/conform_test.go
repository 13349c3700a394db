package temporal_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/belaytest"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/temporal/shown"
)

// TestTemporalConforms holds the driver on Temporal, with a real server, real
// worker processes, keepers and agents, against the suite that every driver passes.
//
// promise: F3, F4, F6, F9, K1, K4, X
func TestTemporalConforms(t *testing.T) {
	t.Parallel()
	belaytest.Conform(t, onTemporal{server: devServer(t), mate: true})
}

// TestTemporalConformsWithShortHistories does the same with a new history after the
// end of every attempt: continue-as-new is one more death of a driver.
func TestTemporalConformsWithShortHistories(t *testing.T) {
	t.Parallel()
	d := onTemporal{server: devServer(t), every: 1, chains: &chains{}}
	t.Run("cases", func(t *testing.T) { belaytest.Conform(t, d) })
	c := d.chains
	shown.Figure(t, "%d of %d cases went on in another history, with %d histories in all", c.longer, c.runs, c.histories)
	if c.longer < c.runs/2 && !t.Failed() {
		t.Errorf("only %d of %d cases went on in another history", c.longer, c.runs)
	}
}

// chains are how many histories the runs of a suite had.
type chains struct {
	mu                      sync.Mutex
	runs, longer, histories int
}

func (c *chains) count(histories int) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.runs++
	c.histories += histories
	if histories > 1 {
		c.longer++
	}
}

const patience = 2 * time.Minute

// onTemporal drives cases on Temporal.
type onTemporal struct {
	server string
	every  int
	limit  int64 // bytes of output that are taken; 0 = 1 MiB
	plain  bool  // big payloads are only packed
	mate   bool  // there is a second worker, with a state directory of its own: turns are made by both

	chains  *chains // how many histories its runs had; nil = nobody counts
	shares  *shares // not nil: both workers are hosts, and runs are cloned; what each of them did
	program string  // of the worker; "" = this one
	armed   string  // a place in it at which the first process that comes there is held
}

// Abilities are what it has of what a case may need.
func (onTemporal) Abilities() []belaytest.Ability { return belaytest.Abilities() }

func (d onTemporal) Run(t *testing.T, c belaytest.Case) belaytest.Outcome {
	t.Helper()
	s := d.play(t, c)
	d.chains.count(s.replays())
	o := s.look(c.Want.Files)
	s.count(o.Records)
	return o
}

// playAll plays a case to the end of its acts.
func (s *stage) playAll(c belaytest.Case) {
	s.t.Helper()
	open, err := s.engine.Create(s.spec)
	if err != nil {
		s.t.Fatal(err)
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
				return
			}
			open = s.act(acts[0])
		}
	}
}

// errKilled ends the client's look at a run whose worker was killed.
var errKilled = errors.New("the worker was killed")

// drive drives the run to its rest, or to the death of its worker, while somebody
// does the acts.
func (s *stage) drive(open *engine.Open, acts []belaytest.Act) {
	s.t.Helper()
	rest, done, hard := make(chan struct{}), make(chan error, 1), make(chan struct{})
	go func() {
		err := s.play(acts, rest)
		if errors.Is(err, errKilled) {
			close(hard)
		}
		done <- err
	}()
	_, err := open.Drive(context.Background(), hard, nil, s.first...)
	close(rest)
	s.first = nil
	played := <-done
	var left *engine.Interrupted
	if errors.Is(played, errKilled) && errors.As(err, &left) {
		err, played = nil, nil
	}
	if err := errors.Join(err, played, open.Close()); err != nil {
		s.t.Fatal(err)
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
	s.at()
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
		return true, os.WriteFile(filepath.Join(s.at(), a.File), nil, 0o600)
	case belaytest.KillKeeper:
		pid, err := s.keeper()
		if err != nil {
			return false, err
		}
		return true, syscall.Kill(pid, syscall.SIGKILL)
	case belaytest.KillDriver:
		err := s.worker.Process.Kill()
		_ = s.worker.Wait() // it was killed
		return true, errors.Join(err, errKilled)
	case belaytest.Resume, belaytest.Reopen, belaytest.Answer:
	}
	return false, fmt.Errorf("%s has to wait for the run's rest", a.Do)
}

// ready tells whether what an act waits for is there.
func (s *stage) ready(a belaytest.Act) (bool, error) {
	if a.After != "" {
		if _, err := os.Stat(filepath.Join(s.at(), a.After)); errors.Is(err, os.ErrNotExist) {
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

// ask puts a request into the mailbox of the client's copy.
func (s *stage) ask(r event.Request) error {
	r.Run, r.By, r.Why = s.id, "somebody", "the list says so"
	_, err := s.engine.State.Put(r)
	return err
}

// keeper is the pid of the run's keeper on its host: the last one that wrote its line.
func (s *stage) keeper() (int, error) {
	b, err := os.ReadFile(filepath.Join(s.place.State, "runs", string(s.id), "keeper.log"))
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

// act does an act for which nobody may drive the run, and takes the run if it is to
// go on.
func (s *stage) act(a belaytest.Act) *engine.Open {
	s.t.Helper()
	if a.Do == belaytest.Touch {
		write(s.t, filepath.Join(s.at(), a.File), "")
		return nil
	}
	if s.worker.ProcessState != nil { // it was killed
		s.work()
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

// read reads the client's copy as anybody could.
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
	o.Code, o.Files = engine.ResultOf(tree).Code, map[string]string{}
	for name := range files {
		b, err := os.ReadFile(filepath.Join(s.at(), name))
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
