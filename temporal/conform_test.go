package temporal_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/belaytest"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/temporal"
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
	belaytest.Conform(t, onTemporal{server: devServer(t), every: 1})
}

const patience = 2 * time.Minute

// onTemporal drives cases on Temporal.
type onTemporal struct {
	server string
	every  int
	limit  int64 // bytes of output that are taken; 0 = 1 MiB
	plain  bool  // big payloads are only packed
	mate   bool  // there is a second worker, with a state directory of its own: turns are made by both
}

// Abilities are what it has of what a case may need.
func (onTemporal) Abilities() []belaytest.Ability { return belaytest.Abilities() }

func (d onTemporal) Run(t *testing.T, c belaytest.Case) belaytest.Outcome {
	t.Helper()
	s := d.play(t, c)
	s.replays()
	return s.look(c.Want.Files)
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

// stage is where one case is played: a client, and a worker that is its host.
type stage struct {
	t      *testing.T
	dir    string
	env    []string
	file   string // that has the place
	place  place
	engine *engine.Local
	spec   engine.Spec
	id     belay.RunID
	first  []flow.Fact
	worker *exec.Cmd
	mate   *exec.Cmd // nil = there is none
	mails  int
}

func (d onTemporal) stage(t *testing.T, c belaytest.Case) *stage {
	t.Helper()
	shelf, bin := t.TempDir(), t.TempDir()
	s := &stage{t: t, dir: t.TempDir()}
	s.place = place{
		Server: d.server, Host: strings.ToLower(filepath.Base(bin) + "-" + filepath.Base(t.TempDir()) + fmt.Sprint(time.Now().UnixNano())), Every: d.every, Limit: d.limit,
		State: filepath.Join(t.TempDir(), "state"), Client: filepath.Join(t.TempDir(), "client"), Agents: t.TempDir(),
		Blobs: t.TempDir(), Shelf: shelf, Who: "",
	}
	write(t, filepath.Join(shelf, "root.yaml"), c.Recipe)
	for name, src := range c.Subs {
		write(t, filepath.Join(shelf, name+".yaml"), src)
	}
	set, err := load(shelf, "root", s.dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Agents) > 0 {
		s.place.Who = c.Agents[0].Name
	}
	if d.plain {
		s.place.Blobs = ""
	}
	placeFile := filepath.Join(bin, "place.json")
	s.file = placeFile
	s.note()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	nest := filepath.Join(bin, "nest")
	write(t, nest, fmt.Sprintf("#!/bin/sh\nexec '%s' nest '%s' \"$1\"\n", exe, placeFile))
	if err := os.Chmod(nest, 0o700); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(bin, "config.yaml") // what the user of this machine has set is not theirs
	write(t, config, "")
	s.env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "BELAY_CONFIG="+config, "TEST_PLACE="+placeFile)
	for n, v := range c.Env {
		s.env = append(s.env, n+"="+v)
	}
	s.spec = engine.Spec{Set: set, Dir: s.dir, Vars: map[string]json.RawMessage{}, Budget: c.Budget}
	for n, v := range c.Vars {
		s.spec.Vars[n] = belay.Text(v).JSON
	}
	s.cast(c.Agents)
	s.commit(c.Repo)
	if s.engine, err = s.place.open(s.place.Client, s.env); err != nil {
		t.Fatal(err)
	}
	s.connect()
	t.Cleanup(func() {
		for _, w := range []*exec.Cmd{s.worker, s.mate} {
			if w != nil && w.Process != nil {
				_ = w.Process.Signal(syscall.SIGTERM) // the test has its answer by now
			}
		}
		for _, w := range []*exec.Cmd{s.worker, s.mate} {
			if w != nil && w.Process != nil {
				_ = w.Wait() // it was told to end, and its code says nothing more
			}
		}
		_ = s.engine.State.Close() // nothing of it is read again
	})
	s.work()
	if d.mate {
		s.mate = s.start(s.second(bin))
	}
	return s
}

// note writes down for other programs where all is.
func (s *stage) note() {
	s.t.Helper()
	b, err := json.Marshal(s.place)
	if err != nil {
		s.t.Fatal(err)
	}
	write(s.t, s.file, string(b))
}

// connect has the client reach the server.
func (s *stage) connect() {
	s.t.Helper()
	c, err := s.place.dial()
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(c.Close)
	s.engine.Elsewhere = &temporal.Engine{Client: c, Queue: s.place.queue(), Host: s.place.Host, Every: s.place.Every}
}

// second is the environment of another worker of the same queue: another host, with a
// state directory of its own.
func (s *stage) second(bin string) []string {
	s.t.Helper()
	p := s.place
	p.Host, p.State, p.Workflows = p.Host+"-mate", p.State+"-mate", p.queue()
	b, err := json.Marshal(p)
	if err != nil {
		s.t.Fatal(err)
	}
	file := filepath.Join(bin, "mate.json")
	write(s.t, file, string(b))
	return append(s.env[:len(s.env):len(s.env)], "TEST_PLACE="+file)
}

// work starts the worker.
func (s *stage) work() {
	s.t.Helper()
	s.worker = s.start(s.env)
}

// start starts a worker in an environment.
func (s *stage) start(env []string) *exec.Cmd {
	s.t.Helper()
	exe, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	w := exec.Command(exe, "work")
	w.Env, w.Stderr = env, os.Stderr
	if err := w.Start(); err != nil {
		s.t.Fatal(err)
	}
	return w
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
		write(s.t, filepath.Join(s.dir, a.File), "")
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
