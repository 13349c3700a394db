package temporal_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/belaytest"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/temporal/shown"
)

// waiting is a script that says that it began, and goes on when somebody lets it.
const waiting = "echo x >> starts; touch first; while [ ! -f go ]; do sleep 0.02; done; touch last"

// killing is one kill -9: the recipe, when it comes, and what must be true after it.
type killing struct {
	name   string
	recipe string
	agents []belaytest.Agent
	repo   map[string]string
	when   func(s *stage) bool // the moment of the kill
	then   func(s *stage)      // what is done once the new process is there
	found  fault.Found         // how the open attempt was found; "" = none was open
	goes   func(event.Record) bool
}

func killings() []killing {
	first := func(s *stage) bool { return s.has("first") }
	let := func(s *stage) { write(s.t, filepath.Join(s.dir, "go"), "") }
	done := func(step belay.Path) func(event.Record) bool {
		return func(r event.Record) bool {
			e, ok := r.Event.(event.AttemptEnded)
			p, _ := belay.ParseKey(keyOf(e, ok))
			return ok && p.Path == step
		}
	}
	attached := func(r event.Record) bool {
		e, ok := r.Event.(event.RunAttached)
		return ok && e.Epoch >= 2
	}
	agent := []belaytest.Agent{{Name: "worker", Script: "- run: 'echo x >> starts; touch first; while [ ! -f go ]; do sleep 0.02; done'\n- write: {path: work.txt, text: done}\n- answer: 'yes'\n"}}
	return []killing{
		{
			name:   "in a shell step",
			recipe: "name: n\nsteps:\n- {id: a, once: true, command: '" + waiting + "'}\n- {id: b, command: test -f last}\n",
			when:   first, then: let, found: fault.Adopted, goes: attached,
		},
		{
			name:   "in an agent step",
			recipe: "name: n\nsteps:\n- {id: a, type: agent, prompt: go, output: x}\n- {id: b, command: test -f work.txt}\n",
			agents: agent, repo: map[string]string{"README": "x"},
			when: func(s *stage) bool { return s.has("first") && s.seen(isSession) }, then: let, found: fault.Adopted, goes: attached,
		},
		{
			name:   "in a backoff",
			recipe: "name: n\nsteps:\n- {id: a, command: 'echo x >> tries; test \"$(wc -l < tries)\" -ge 2', retry: {max_attempts: 2, backoff: 2s}}\n- {id: b, command: 'true'}\n",
			when:   func(s *stage) bool { return s.seen(done("a")) }, found: anyhow, goes: attached,
		},
		{
			name: "in a merge",
			recipe: "name: n\nsteps:\n" +
				"- {id: a, type: agent, prompt: go, expect: change, parallel_group: g}\n" +
				"- {id: b, type: agent, prompt: go, expect: change, parallel_group: g}\n",
			agents: []belaytest.Agent{{Name: "worker", Script: "steps:\n  a: [run: sed -i s/1/one/ f, answer: one]\n  b: [run: sed -i s/2/two/ f, answer: two]\n"}},
			repo:   map[string]string{"f": "1\n\n\n\n2\n"},
			when:   func(s *stage) bool { return s.seen(isMerge) }, found: anyhow, goes: attached,
		},
	}
}

// anyhow is an attempt that may have ended before its driver died, or after it, or was
// on record and not begun: then it is begun under the same key. On a busy machine there
// may be one after a backoff, too.
const anyhow fault.Found = "anyhow but lost"

func isMerge(r event.Record) bool {
	e, ok := r.Event.(event.AttemptStarted)
	return ok && e.Role == belay.RoleMerge
}

func keyOf(e event.AttemptEnded, ok bool) belay.Key {
	if !ok {
		return ""
	}
	return e.Key
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

// TestKilledWorker kills the worker with SIGKILL at the worst moments: the run goes
// on, what is done is not done again, and what runs is adopted.
//
// promise: K1, K4
func TestKilledWorker(t *testing.T) {
	t.Parallel()
	d := onTemporal{server: devServer(t)}
	for _, k := range killings() {
		t.Run(k.name, func(t *testing.T) {
			s := d.stage(t, belaytest.Case{Recipe: k.recipe, Agents: k.agents, Repo: k.repo})
			done := s.begin()
			s.await("the moment of the kill", func() bool { return k.when(s) })
			if err := s.worker.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			killed := time.Now()
			_ = s.worker.Wait() // it was killed
			s.work()
			if s.seen(k.goes) {
				t.Fatal("it went on before it was killed")
			}
			s.await("going on", func() bool { return s.seen(k.goes) })
			shown.Figure(t, "from the kill to going on, under a new worker: %s", time.Since(killed).Round(time.Millisecond))
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
	o := s.look(nil)
	if o.Status != belay.Achieved {
		s.t.Errorf("the run is %s", o.Status)
		for _, r := range o.Records {
			b, err := r.MarshalJSON()
			s.t.Logf("%s %v", b, err)
		}
	}
	began := map[belay.Key]int{}
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
			if e.How != k.found && !(k.found == anyhow && e.How != fault.Lost) {
				s.t.Errorf("attempt %s was found %s, want %q", e.Key, e.How, k.found)
			}
		}
	}
	if b, err := os.ReadFile(filepath.Join(s.dir, "starts")); err == nil && strings.Count(string(b), "\n") != 1 {
		s.t.Errorf("the step was started %d times", strings.Count(string(b), "\n"))
	}
}

// TestKilledServer kills the server itself, with a file as its store, and starts it
// again: nothing is lost, and the step that ran meanwhile ran once.
//
// promise: K1
func TestKilledServer(t *testing.T) {
	t.Parallel()
	program := os.Getenv("BELAY_TEMPORAL_SERVER")
	if program == "" {
		shown.Not(t, "no Temporal server to kill: name one with BELAY_TEMPORAL_SERVER, or run make test-temporal")
	}
	addr, cmd, dir, err := startServer(program, "", 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // nothing of it is wanted any more
		_ = cmd.Wait()         // it was killed
		_ = os.RemoveAll(dir)  // in a directory for such things
	})
	s := onTemporal{server: addr}.stage(t, belaytest.Case{
		Recipe: "name: n\nsteps:\n- {id: z, command: 'true'}\n- {id: a, once: true, command: '" + waiting + "'}\n- {id: b, command: test -f last}\n",
	})
	done := s.begin()
	s.await("the moment of the kill", func() bool { return s.has("first") })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()                           // it was killed
	write(t, filepath.Join(s.dir, "go"), "") // the step ends while nobody can be told
	s.await("its end", func() bool { return s.has("last") })
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
	shown.Figure(t, "from the server's return to the end of the run: %s on record, %s for the client", recs[len(recs)-1].At.Sub(up).Round(time.Millisecond), time.Since(up).Round(time.Millisecond))
	s.sound(killing{})
}
