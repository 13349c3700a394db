//go:build linux

package main

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/fault"
)

// agentsRecipe has two agents, a shell step between them, and nothing that a
// second start of an agent would not show: all write down that they began.
const agentsRecipe = `name: agents
steps:
  - {id: one, agent: scripted, prompt: make it, expect: change, output: a}
  - {id: mid, command: ". ./words.sh; begin; end"}
  - {id: two, agent: scripted, prompt: "{{a}}", parse_json: true, output: b, retry: 2, expect: answer}
`

// agentsScript is what the agents do. One does its work at once and then waits
// for its end; when it is asked to go on it only says that it is done.
const agentsScript = `steps:
  one:
    attempts:
      - - run: '. ./words.sh; begin; echo x > made; touch up; WAIT; end'
        - answer: made it
      - - run: '. ./words.sh; begin; [ -e made ] || echo x > made; end'
        - answer: made it
  two:
    - tokens: {input: 3, output: 1}
    - run: '. ./words.sh; begin; sleep 0.03; end'
    - answer: {n: 1}
`

// agents makes a rig with a repository and the two agents; wait is what the
// first one does in the middle.
func (b *bench) agents(bin, wait string) (*rig, error) {
	r, err := b.newRig(bin)
	if err != nil {
		return nil, err
	}
	err = errors.Join(
		r.put("agents.yaml", agentsRecipe), r.put("script.yaml", strings.ReplaceAll(agentsScript, "WAIT", wait)),
		r.put(".gitignore", "ledger\nup\ngo\ntrace\n"),
	)
	git := exec.Command("sh", "-c", "git init -q . && git add -A && git -c user.name=a -c user.email=a@example.com commit -q -m first")
	git.Dir, git.Env = r.work(), r.base
	if out, bad := git.CombinedOutput(); bad != nil {
		err = errors.Join(err, bad, errors.New(string(out)))
	}
	return r, err
}

// agentArgs start the run. The budget is what an undisturbed run needs: a
// start that is counted twice holds it.
func agentArgs(starts int) []string {
	return []string{"run", "agents.yaml", "--agent", "scripted:script.yaml", "--max-agents", fmt.Sprint(starts)}
}

// agentsEnded looks at a run of the two agents that came to its end.
func (r *rig) agentsEnded() (tally, []event.Record, error) {
	recs, err := r.records()
	if err != nil {
		return tally{}, nil, err
	}
	ledger, err := r.ledger()
	if err != nil {
		return tally{}, nil, err
	}
	seen := count(recs, ledger)
	if left := r.nobodyLeft(recs[0].Run); left != nil {
		err = left
		seen.orphans++
	}
	return seen, recs, errors.Join(err, sound(recs), seen.sound())
}

// agentStarts are the starts of agents on record, by key: an attempt that was
// never born starts again under the same one.
func agentStarts(recs []event.Record) map[belay.Key]event.AttemptStarted {
	starts := map[belay.Key]event.AttemptStarted{}
	for _, rec := range recs {
		if e, ok := rec.Event.(event.AttemptStarted); ok && e.Agent != "" {
			starts[e.Key] = e
		}
	}
	return starts
}

// agentKills are the processes that may die while an agent works, and how the
// run must look afterwards.
func agentKills() []struct {
	name                       string
	driver, keeper, attendant  bool
	found                      fault.Found
	starts, resumedFrom, begun int
} {
	return []struct {
		name                       string
		driver, keeper, attendant  bool
		found                      fault.Found
		starts, resumedFrom, begun int
	}{
		{"driver", true, false, false, fault.Adopted, 2, 0, 1},
		{"driver and attendant", true, false, true, fault.Harvested, 3, 1, 2},
		{"driver and keeper", true, true, false, fault.Lost, 3, 1, 2},
		{"driver, keeper and attendant", true, true, true, fault.Lost, 3, 1, 2},
		{"keeper", false, true, false, fault.Lost, 3, 1, 2},
		{"attendant", false, false, true, "", 3, 1, 2},
	}
}

// TestAgentKilled kills what holds an agent, one after the other and all at
// once. With the driver alone dead the agent is adopted; else its session goes
// on, and the work of the first attempt counts for the second.
//
// promise: K1, K2, K4, K5, H3
func TestAgentKilled(t *testing.T) {
	t.Parallel()
	b := newBench(t, false)
	for _, k := range agentKills() {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			r, err := b.agents(b.shipped, "until [ -e go ]; do sleep 0.02; done")
			if err != nil {
				t.Fatal(err)
			}
			defer r.wipe()
			e, err := r.killAround(k.driver, k.keeper, k.attendant, k.found == fault.Adopted)
			if err != nil || e.code != exit.OK {
				t.Fatalf("%v %v", err, e)
			}
			seen, recs, err := r.agentsEnded()
			if err != nil {
				t.Fatal(err)
			}
			if k.found == fault.Harvested && seen.adopted == 1 {
				// The keeper was still ending what the attendant left when the new
				// driver came: then it holds the attempt a moment longer.
				seen.adopted, seen.harvested = 0, 1
			}
			fates := map[fault.Found]int{fault.Adopted: seen.adopted, fault.Harvested: seen.harvested, fault.Lost: seen.lost, fault.Unborn: seen.unborn}
			for how, n := range fates {
				if want := map[bool]int{true: 1}[how == k.found]; n != want {
					t.Errorf("%s %d times, want %d", how, n, want)
				}
			}
			starts := agentStarts(recs)
			if len(starts) != k.starts {
				t.Errorf("%d starts of agents, want %d", len(starts), k.starts)
			}
			t.Run("goes on", func(t *testing.T) { r.goesOn(t, recs, k.resumedFrom) })
			ledger, err := r.ledger()
			if n := begins(ledger, ":one."); err != nil || n != k.begun {
				t.Errorf("the first agent began %d times, want %d (%v)", n, k.begun, err)
			}
		})
	}
}

func begins(ledger map[string]entry, part string) int {
	n := 0
	for key, e := range ledger {
		if strings.Contains(key, part) {
			n += e.begins
		}
	}
	return n
}

// killAround starts the run, kills what is asked for while the first agent
// works, and brings the run to its end.
func (r *rig) killAround(driver, keeper, attendant, letGo bool) (end, error) {
	c, err := r.start(nil, agentArgs(3)...)
	if err != nil {
		return end{}, err
	}
	if err := r.exists("up"); err != nil {
		return end{}, errors.Join(err, errors.New(text(c.err)))
	}
	if driver {
		c.signal(syscall.SIGKILL)
		<-c.done
	}
	if keeper {
		k, err := r.keeper()
		if err != nil {
			return end{}, err
		}
		_ = k.Signal(syscall.SIGKILL) // that it is gone is seen next
		if err := until("the keeper is dead", func() bool { return !k.Alive() }); err != nil {
			return end{}, err
		}
	}
	if attendant {
		for _, pid := range carriers("attend\x00" + r.state()) {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have gone with the keeper
		}
	}
	e, err := end{code: exit.Infra}, error(nil)
	if !driver {
		e, err = c.wait()
	}
	// A killed attendant is a failure of its attempt: a person resumes.
	for range 2 {
		if err != nil || e.code == exit.OK {
			break
		}
		e, err = r.resume(letGo)
	}
	return e, err
}

// resume brings a driver. With letGo the agent, which waits, may end: once it is
// on record what became of it, and not before, however slow the machine is.
func (r *rig) resume(letGo bool) (end, error) {
	c, err := r.start(nil, "resume", string(r.id()))
	if err != nil {
		return end{}, err
	}
	if letGo {
		err = until("the attempt is found", r.found)
		err = errors.Join(err, r.put("go", "")) // also for an agent that would wait for ever
	}
	e, late := c.wait()
	return e, errors.Join(err, late)
}

// found tells whether a driver looked after an attempt that another left.
func (r *rig) found() bool {
	recs, err := r.records()
	return err == nil && slices.ContainsFunc(recs, func(rec event.Record) bool {
		_, ok := rec.Event.(event.AttemptFound)
		return ok
	})
}

// goesOn holds that the second attempt went on with the session of the first
// and that its work is measured from where the first began; from 0: there is none.
func (r *rig) goesOn(t *testing.T, recs []event.Record, from int) {
	t.Helper()
	var first, second *event.AttemptStarted
	var base, before *belay.TreeState
	for _, rec := range recs {
		switch e := rec.Event.(type) {
		case event.AttemptStarted:
			if e.Path == "one" && e.Attempt == 1 {
				first = &e
			}
			if e.Path == "one" && e.Attempt == 2 {
				second = &e
			}
		case event.AttemptNoted:
			if e.What == effect.NoteBase && base == nil {
				base = e.Base
			}
		case event.AttemptEnded:
			if a := e.Observation.Agent; a != nil && second != nil && e.Key == second.Key {
				before = &a.Evidence.Before
				if a.Evidence.Files != 1 || a.Evidence.Changed[0].Path != "made" {
					t.Errorf("the work of the first attempt does not count: %+v", a.Evidence)
				}
			}
		}
	}
	if from == 0 {
		if second != nil {
			t.Errorf("it was started again: %+v", second)
		}
		return
	}
	if second == nil || !second.Resume || second.Session != first.Session {
		t.Fatalf("the session %s does not go on: %+v", first.Session, second)
	}
	if base == nil || before == nil || before.Tree != base.Tree {
		t.Errorf("measured from %+v, and the work began at %+v", before, base)
	}
	prompt := text(strings.TrimSuffix(r.folder().LogPath(second.Key), ".log") + ".agent/prompt")
	if !strings.Contains(prompt, "You were interrupted") || !strings.Contains(prompt, "died") {
		t.Errorf("it is not told what happened: %s", prompt)
	}
}
