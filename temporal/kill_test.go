package temporal_test

import (
	"cmp"
	"context"
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
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/temporal/shown"
)

// earlier is how the recipe of every kill begins: with a step that is done by then, and
// one that must run once.
const earlier = "name: n\nsteps:\n- {id: z, command: 'echo x >> before'}\n- {id: o, once: true, command: 'echo x >> once'}\n"

// waiting is a script that says that it began, and goes on when somebody lets it.
const waiting = "echo x >> starts; touch first; while [ ! -f go ]; do sleep 0.02; done; touch last"

// killing is one kill -9: the recipe, when it comes, and what must be true after it.
type killing struct {
	name   string
	recipe string // what comes after the steps that are done by then
	agents []belaytest.Agent
	repo   map[string]string
	armed  string              // a place in the program at which it is held, and killed
	when   func(s *stage) bool // the moment of the kill
	dies   func(s *stage)      // what else dies, before there is a new process; nil = nothing
	then   func(s *stage)      // what is done once the new process is there
	found  fault.Found         // how the open attempt was found; "" = none was open
	role   belay.Role          // of that attempt; "" = main. Another may be open, too
	starts map[string]int      // how often what writes a line into a file was started
	files  map[string]string   // what is in files at the end
	also   func(event.Record) bool
	server bool // the server is killed at this moment, too
}

// attached is a record of a driver after the first one.
func attached(r event.Record) bool {
	e, ok := r.Event.(event.RunAttached)
	return ok && e.Epoch >= 2
}

func killings() []killing {
	first := func(s *stage) bool { return s.has("first") }
	let := func(last string) func(*stage) { // of a server that is killed, while nobody can be told
		return func(s *stage) {
			write(s.t, filepath.Join(s.dir, "go"), "")
			s.await("its last deed", func() bool { return s.has(last) })
		}
	}
	const hold = "- run: 'echo x >> starts; touch first; while [ ! -f go ]; do sleep 0.02; done'\n"
	agent := []belaytest.Agent{{Name: "worker", Script: hold + "- write: {path: work.txt, text: done}\n- answer: 'yes'\n"}}
	prompt := "- {id: a, type: agent, prompt: go, output: x}\n- {id: b, command: 'test -f work.txt; echo x >> after'}\n"
	session := func(s *stage) bool { return s.has("first") && s.seen(isSession) }
	merge := killing{
		recipe: "- {id: a, type: agent, prompt: go, expect: change, parallel_group: g}\n" +
			"- {id: b, type: agent, prompt: go, expect: change, parallel_group: g}\n" +
			"- {id: c, command: 'echo x >> after', needs: [a, b]}\n",
		agents: []belaytest.Agent{{Name: "worker", Script: "steps:\n  a: [run: sed -i s/1/one/ f, answer: one]\n  b: [run: sed -i s/2/two/ f, answer: two]\n"}},
		repo:   map[string]string{"f": "1\n\n\n\n2\n"}, files: map[string]string{"f": "one\n\n\n\ntwo\n"},
		armed: "worktree.merge_after_files", when: (*stage).halts, role: belay.RoleMerge,
	}
	adopted, lost := merge, merge
	adopted.name, adopted.found, adopted.then = "in a merge", fault.Adopted, func(s *stage) { s.signal(s.halted(), syscall.SIGCONT) }
	lost.name, lost.found, lost.armed = "in a merge, and all on the machine dies", fault.Lost, "worktree.merge_before_file"
	lost.dies = func(s *stage) { s.killKeeper(); s.signal(s.halted(), syscall.SIGKILL) }
	return []killing{
		{
			name:   "in a shell step",
			recipe: "- {id: a, once: true, command: '" + waiting + "'}\n- {id: b, command: 'test -f last; echo x >> after'}\n",
			when:   first, then: let("last"), found: fault.Adopted, starts: map[string]int{"starts": 1}, server: true,
		},
		{
			name: "in an agent step", recipe: prompt, agents: agent, repo: map[string]string{"README": "x"},
			when: session, then: let("work.txt"), found: fault.Adopted, starts: map[string]int{"starts": 1}, server: true,
		},
		{
			name: "in an agent step, and all on the machine dies", recipe: prompt, repo: map[string]string{"README": "x"},
			agents: []belaytest.Agent{{Name: "worker", Script: "attempts:\n- [run: 'echo x >> starts; touch first', hang]\n- [run: 'echo x >> starts', write: {path: work.txt, text: done}, answer: 'yes']\n"}},
			when:   session, dies: (*stage).killKeeper, found: fault.Lost, starts: map[string]int{"starts": 2}, also: isResumed,
		},
		{
			name: "in a backoff",
			recipe: "- {id: a, command: 'echo x >> tries; test \"$(wc -l < tries)\" -ge 2', retry: {max_attempts: 2, backoff: 3s}}\n" +
				"- {id: b, command: 'echo x >> after'}\n",
			when: func(s *stage) bool { return s.seen(isChosen) }, found: anyhow, starts: map[string]int{"tries": 2}, server: true,
		},
		adopted, lost,
	}
}

// anyhow is an attempt that may have ended before its driver died, or after it, or was
// on record and not begun: then it is begun under the same key. On a busy machine there
// may be one after a backoff, too.
const anyhow fault.Found = "anyhow but lost"

// isChosen is the record after which the time of a backoff runs.
func isChosen(r event.Record) bool {
	_, ok := r.Event.(event.RecoveryChosen)
	return ok
}

// isResumed is the start of an attempt that goes on with the session of an earlier one.
func isResumed(r event.Record) bool {
	e, ok := r.Event.(event.AttemptStarted)
	return ok && e.Resume
}

func isSession(r event.Record) bool {
	e, ok := r.Event.(event.AttemptNoted)
	return ok && e.What == "session"
}

func (s *stage) has(file string) bool {
	_, err := os.Stat(filepath.Join(s.dir, file))
	return err == nil
}

func (s *stage) seen(is func(event.Record) bool) bool {
	_, recs, err := s.read()
	if err != nil {
		return false
	}
	for _, r := range recs {
		if is(r) {
			return true
		}
	}
	return false
}

// await waits for something, for a bounded time, and says how long it took.
func (s *stage) await(what string, is func() bool) time.Duration {
	s.t.Helper()
	began := time.Now()
	for !is() {
		if time.Since(began) > patience {
			s.t.Fatalf("%s: it never came to that", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
	return time.Since(began)
}

// begin starts the run and follows it in the background.
func (s *stage) begin() <-chan error {
	s.t.Helper()
	open, err := s.engine.Create(s.spec)
	if err != nil {
		s.t.Fatal(err)
	}
	s.id = open.ID
	done := make(chan error, 1)
	go func() {
		_, err := open.Drive(context.Background(), nil, nil)
		if e := open.Close(); err == nil {
			err = e
		}
		done <- err
	}()
	return done
}

// killKeeper kills the keeper, and with it what it holds.
func (s *stage) killKeeper() {
	s.t.Helper()
	pid, err := s.keeper()
	if err != nil {
		s.t.Fatal(err)
	}
	s.signal(pid, syscall.SIGKILL)
}

func (s *stage) signal(pid int, sig syscall.Signal) {
	s.t.Helper()
	if err := syscall.Kill(pid, sig); err != nil {
		s.t.Fatal(err)
	}
}

// halted is the process that came to the place at which it is held; 0 = none yet.
func (s *stage) halted() (pid int) {
	b, err := os.ReadFile(filepath.Join(s.place.Agents, "met"))
	if err != nil {
		return 0
	}
	if _, err := fmt.Sscan(string(b), &pid); err != nil {
		s.t.Fatal(err)
	}
	return pid
}

// halts tells whether a process is held there.
func (s *stage) halts() bool {
	pid := s.halted()
	if pid == 0 {
		return false
	}
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, _ := strings.Cut(string(b), ") ")
	return err == nil && strings.HasPrefix(state, "T")
}

// armed builds the programs of a worker with the places at which they can be held.
func armed(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "armed")
	if out, err := exec.CommandContext(t.Context(), "go", "test", "-c", "-tags", "failpoints", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("go test -c: %v\n%s", err, out)
	}
	return program
}

// TestKilledWorker kills the worker with SIGKILL at the worst moments: the run goes
// on, what is done is not done again, and what runs is adopted. A merge is killed in its
// middle, where the process of it is held.
//
// promise: K1, K4
func TestKilledWorker(t *testing.T) {
	t.Parallel()
	server, program := devServer(t), armed(t)
	for _, k := range killings() {
		t.Run(k.name, func(t *testing.T) {
			d := onTemporal{server: server}
			if k.armed != "" {
				d.program, d.armed = program, k.armed
			}
			s := d.stage(t, belaytest.Case{Recipe: earlier + k.recipe, Agents: k.agents, Repo: k.repo})
			t.Cleanup(func() {
				if pid := s.halted(); t.Failed() && pid != 0 {
					_ = syscall.Kill(pid, syscall.SIGKILL) // nobody lets it go on
				}
			})
			done := s.begin()
			s.await("the moment of the kill", func() bool { return k.when(s) })
			if err := s.worker.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			killed := time.Now()
			_ = s.worker.Wait() // it was killed
			if k.dies != nil {
				k.dies(s)
			}
			if s.seen(attached) {
				t.Fatal("it went on before it was killed")
			}
			s.work()
			s.await("going on", func() bool { return s.seen(attached) })
			shown.Figure(t, "going on under a new worker %s after the kill", time.Since(killed).Round(time.Millisecond))
			if k.then != nil {
				k.then(s)
			}
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			s.sound(k)
		})
	}
}

// sound checks what must be true after every kill.
func (s *stage) sound(k killing) {
	s.t.Helper()
	o := s.look(k.files)
	if o.Status != belay.Achieved {
		s.t.Errorf("the run is %s", o.Status)
		for _, r := range o.Records {
			b, err := r.MarshalJSON()
			s.t.Logf("%s %v", b, err)
		}
	}
	began, found := map[belay.Key]int{}, 0
	for _, r := range o.Records {
		switch e := r.Event.(type) {
		case event.AttemptStarted:
			if began[e.Key]++; began[e.Key] > 1 {
				s.t.Errorf("attempt %s was started %d times", e.Key, began[e.Key])
			}
		case event.AttemptFound:
			if e.How == fault.Unborn {
				began[e.Key]--
			}
			if p, ok := belay.ParseKey(e.Key); !ok || p.Role != cmp.Or(k.role, belay.RoleMain) {
				continue
			}
			found++
			if e.How != k.found && !(k.found == anyhow && e.How != fault.Lost) {
				s.t.Errorf("attempt %s was found %s, want %q", e.Key, e.How, k.found)
			}
		}
	}
	if k.found != "" && k.found != anyhow && found == 0 {
		s.t.Errorf("no attempt was found %s", k.found)
	}
	if k.also != nil && !slices.ContainsFunc(o.Records, k.also) {
		s.t.Error("the record that must be there is not")
	}
	effects := map[string]int{"before": 1, "once": 1, "after": 1}
	for name, n := range k.starts {
		effects[name] = n
	}
	for name, want := range effects {
		b, err := os.ReadFile(filepath.Join(s.dir, name))
		if got := strings.Count(string(b), "\n"); err != nil || got != want {
			s.t.Errorf("what writes a line into %s was started %d times, want %d: %v", name, got, want, err)
		}
	}
	for name, want := range k.files {
		if o.Files[name] != want {
			s.t.Errorf("%s has %q, want %q", name, o.Files[name], want)
		}
	}
}

// TestKilledServer kills the server itself, with a file as its store, while a shell step
// and an agent step run and in a backoff, and starts it again: nothing is lost, and what
// ran meanwhile ran once.
//
// promise: K1
func TestKilledServer(t *testing.T) {
	t.Parallel()
	program := os.Getenv("BELAY_TEMPORAL_SERVER")
	if program == "" {
		shown.Not(t, "no Temporal server to kill: name one with BELAY_TEMPORAL_SERVER, or run make test-temporal")
	}
	for _, k := range killings() {
		if k.server {
			t.Run(k.name, func(t *testing.T) { k.ofServer(t, program) })
		}
	}
}

func (k killing) ofServer(t *testing.T, program string) {
	t.Helper()
	addr, cmd, dir, err := startServer(program, "", 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // nothing of it is wanted any more
		_ = cmd.Wait()         // it was killed
		_ = os.RemoveAll(dir)  // in a directory for such things
	})
	s := onTemporal{server: addr}.stage(t, belaytest.Case{Recipe: earlier + k.recipe, Agents: k.agents, Repo: k.repo})
	done := s.begin()
	s.await("the moment of the kill", func() bool { return k.when(s) })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	killed := time.Now()
	_ = cmd.Wait() // it was killed
	if k.then != nil {
		k.then(s)
	}
	var port int
	if _, err := fmt.Sscanf(addr, "127.0.0.1:%d", &port); err != nil {
		t.Fatal(err)
	}
	up := time.Now()
	if _, cmd, _, err = startServer(program, dir, port); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	_, recs, err := s.read()
	if err != nil {
		t.Fatal(err)
	}
	next := slices.IndexFunc(recs, func(r event.Record) bool { return r.At.After(killed) })
	if next < 0 {
		t.Fatal("all that is on record was so before the kill")
	}
	since := func(r event.Record, at time.Time) time.Duration { return r.At.Sub(at).Round(time.Millisecond) }
	shown.Figure(t, "going on %s after the kill of the server, %s after it was started again; the end of the run %s after that start",
		since(recs[next], killed), since(recs[next], up), since(recs[len(recs)-1], up))
	k.found = "" // its worker was there all the time
	s.sound(k)
}
