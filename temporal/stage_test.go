package temporal_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/belaytest"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/temporal"
)

// stage is where one case is played: a client, and a worker that is its host.
type stage struct {
	t      *testing.T
	dir    string
	env    []string
	file   string // that has the place
	place  place
	exe    string // of workers
	engine *engine.Local
	spec   engine.Spec
	id     belay.RunID
	first  []flow.Fact
	worker *exec.Cmd
	mate   *exec.Cmd // nil = there is none
	mails  int

	shares   *shares // see onTemporal
	mateEnv  []string
	checkout string // of the run on its host; "" = it has none, or is not known yet
}

func (d onTemporal) stage(t *testing.T, c belaytest.Case) *stage {
	t.Helper()
	shelf, bin := t.TempDir(), t.TempDir()
	s := &stage{t: t, dir: t.TempDir(), shares: d.shares}
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
	s.equip(d, c, bin)
	s.spec = engine.Spec{Set: set, Dir: s.dir, Vars: map[string]json.RawMessage{}, Budget: c.Budget}
	for n, v := range c.Vars {
		s.spec.Vars[n] = belay.Text(v).JSON
	}
	s.cast(c.Agents)
	s.commit(c.Repo)
	if s.engine, err = s.place.open(s.place.Client, s.env); err != nil {
		t.Fatal(err)
	}
	driver := s.connect()
	s.leaves()
	s.work()
	if d.mate {
		s.mateEnv = s.second(bin)
		s.mate = s.start(s.mateEnv)
	}
	if d.shares != nil {
		driver.Host, driver.CloneFrom = "", s.houses()
	}
	return s
}

// equip gives the programs of the stage their environment, in which nothing is what the
// user of this machine has set.
func (s *stage) equip(d onTemporal, c belaytest.Case, bin string) {
	s.t.Helper()
	s.file = filepath.Join(bin, "place.json")
	s.note()
	exe, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	s.exe = cmp.Or(d.program, exe)
	nest := filepath.Join(bin, "nest")
	write(s.t, nest, fmt.Sprintf("#!/bin/sh\nexec '%s' nest '%s' \"$1\"\n", exe, s.file))
	if err := os.Chmod(nest, 0o700); err != nil {
		s.t.Fatal(err)
	}
	config := filepath.Join(bin, "config.yaml")
	write(s.t, config, "")
	person := filepath.Join(bin, "gitconfig")
	write(s.t, person, "[user]\n\tname = somebody\n\temail = somebody@example.org\n")
	s.env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "BELAY_CONFIG="+config, "GIT_CONFIG_GLOBAL="+person, "TEST_PLACE="+s.file)
	for n, v := range c.Env {
		s.env = append(s.env, n+"="+v)
	}
	if d.armed != "" {
		s.env = append(s.env, "BELAY_FP="+d.armed+"=1:stop", "BELAY_FP_ONCE="+filepath.Join(s.place.Agents, "met"))
	}
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
func (s *stage) connect() *temporal.Engine {
	s.t.Helper()
	c, err := s.place.dial()
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(c.Close)
	driver := &temporal.Engine{Client: c, Queue: s.place.queue(), Host: s.place.Host, Every: s.place.Every}
	s.engine.Elsewhere = driver
	return driver
}

// leaves ends the workers with the test.
func (s *stage) leaves() {
	s.t.Helper()
	s.t.Cleanup(func() {
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
}

// second is the environment of another worker of the same queue: another host, with a
// state directory of its own.
func (s *stage) second(bin string) []string {
	s.t.Helper()
	p := s.place
	p.Host, p.State, p.Workflows = p.Host+mateSuffix, p.State+mateSuffix, p.queue()
	b, err := json.Marshal(p)
	if err != nil {
		s.t.Fatal(err)
	}
	file := filepath.Join(bin, "mate.json")
	write(s.t, file, string(b))
	return append(s.env[:len(s.env):len(s.env)], "TEST_PLACE="+file)
}

const mateSuffix = "-mate"

// work starts the worker.
func (s *stage) work() {
	s.t.Helper()
	s.worker = s.start(s.env)
}

// start starts a worker in an environment.
func (s *stage) start(env []string) *exec.Cmd {
	s.t.Helper()
	w := exec.Command(s.exe, "work")
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
		s.git(s.dir, args...)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
