//go:build linux && failpoints

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/belay-run/belay/exit"
)

// moment is a moment of a run at which everything of it is killed: the place of a
// failpoint at which a process stands still, or a word at which a script waits.
type moment struct {
	name string
	fp   point // none: the script waits
}

// agentMoments are those of an agent, from before Belay looks at the tree to after
// its exit is on disk.
func agentMoments() []moment {
	return []moment{
		{"before the base look", point{"attend.before_base", 1}}, {"after the base note", point{"attend.after_base", 1}},
		{name: "started"}, {name: "half"}, {name: "all"},
		{"before the report", point{"attend.before_report", 1}}, {"after the report", point{"attend.after_report", 1}},
	}
}

// checkMoments are those of a check that follows the n-th process of a keeper.
func checkMoments(n int) []moment {
	return []moment{
		{"ended, not logged", point{"keeper.before_exit_line", n}}, {"ended, logged", point{"keeper.after_exit_line", n}},
		{name: "check"},
		{"checked, not logged", point{"keeper.before_exit_line", n + 1}}, {"checked, logged", point{"keeper.after_exit_line", n + 1}},
	}
}

// plot is a run whose agent writes two files in two moments, or only speaks.
type plot struct {
	name    string
	recipe  string
	idle    bool // its agent does nothing, and says that it did
	once    bool // it may be held
	code    int  // of the run that nobody kills
	moments []moment
	want    []string // files and what is in them; nil = a and b
}

const both = `". ./moment.sh; moment check; grep -q a a.txt && grep -q b b.txt"`

// plots are all kinds of steps that an agent does or helps with.
func plots() []plot {
	agent := func(keys string) string {
		return "name: n\nsteps:\n  - {id: s, agent: scripted, prompt: make two files" + keys + "}\n  - {id: end, command: 'echo ended > end'}\n"
	}
	answers := "name: n\nsteps:\n  - {id: s, agent: scripted, prompt: say it, expect: answer, output: said}\n  - {id: end, command: 'echo \"$SAID\" > end'}\n"
	one := slices.Concat(agentMoments(), checkMoments(1))
	second := slices.Concat(agentMoments(), checkMoments(2))
	return []plot{
		{name: "change", recipe: agent(", expect: change"), moments: append(agentMoments(), checkMoments(1)[:2]...)},
		{name: "change and check", recipe: agent(", expect: change, verify: " + both), moments: one},
		{name: "tests", recipe: agent(", expect: tests, verify: " + both), moments: some(one, "started", "all", "check")},
		{name: "answer", recipe: answers, moments: append(agentMoments(), checkMoments(1)[:2]...), want: []string{"end:made both"}},
		{name: "change and output", recipe: strings.Replace(answers, "answer", "change, verify: "+both, 1), moments: one, want: []string{"end:made both", "a.txt:a", "b.txt:b"}},
		{name: "once", recipe: agent(", expect: change, once: true, verify: " + both), once: true, moments: one},
		{name: "once, no check", recipe: agent(", expect: change, once: true"), once: true, moments: some(one, "started", "all", "after the report")},
		{name: "nothing done", recipe: agent(`, expect: change, verify: ". ./moment.sh; moment check; test -f README.md"`), idle: true, code: exit.Hollow, moments: some(one, "before the base look", "after the base note", "started", "after the report", "check")},
		{name: "repair", recipe: "name: n\nsteps:\n  - {id: s, command: '. ./moment.sh; [ ! -e a.txt ] || moment check; [ -s a.txt ] && [ -s b.txt ] || { echo \"--- FAIL: TestBoth\"; exit 1; }'}\n" +
			"  - {id: end, command: 'echo ended > end'}\n", moments: second},
		{name: "recovery", recipe: "name: n\nsteps:\n  - {id: s, recipe: sub, verify: " + both + "}\n  - {id: end, command: 'echo ended > end'}\n", moments: second},
		{name: "recovery, nothing done", recipe: "name: n\nsteps:\n  - {id: s, recipe: sub, expect: change, verify: \". ./moment.sh; moment check; test -f README.md\"}\n",
			idle: true, code: exit.Failed, moments: some(second, "after the base note", "all", "check")},
		{name: "recovery, no check", recipe: "name: n\nsteps:\n  - {id: s, recipe: sub, expect: change}\n  - {id: end, command: 'echo ended > end'}\n",
			moments: some(second, "half", "all", "before the report", "after the report")},
	}
}

// some are those of the moments that have one of the names.
func some(all []moment, names ...string) []moment {
	return slices.DeleteFunc(slices.Clone(all), func(m moment) bool { return !slices.Contains(names, m.name) })
}

const momentScript = `moment() { [ "$(cat moment 2>/dev/null)" = "$1" ] || return 0; touch at; until [ -e go ]; do sleep 0.02; done; }
`

// TestCrashMoments kills everything at each moment of an agent's step, of a repair
// and of a recovery: driver, keeper, attendant, agent and check. The run that is
// resumed ends as one that nobody killed, or is held where the step must not run
// twice: never with 0 and without the work, never failed where the check passes.
//
// promise: K1, K2, K4, H3, A6
func TestCrashMoments(t *testing.T) {
	t.Parallel()
	b := newBench(t, true)
	type trial struct {
		p plot
		m moment
	}
	var trials []trial
	for _, p := range plots() {
		trials = append(trials, trial{p, moment{}})
		for _, m := range p.moments {
			trials = append(trials, trial{p, m})
		}
	}
	held := 0
	b.each(len(trials), func(i int) {
		x := trials[i]
		at11, err := b.killAt(x.p, x.m)
		if err != nil {
			t.Errorf("%s, killed %s: %v", x.p.name, x.m.name, err)
		}
		if at11 {
			b.mu.Lock()
			held++
			b.mu.Unlock()
		}
	})
	t.Logf("%d moments, %d times held", len(trials)-len(plots()), held)
}

// killAt kills all of a run at a moment and brings it to its end; true: it was
// held. A moment without a name kills nothing.
func (b *bench) killAt(p plot, m moment) (bool, error) {
	r, err := b.staged(p)
	if err != nil {
		return false, err
	}
	defer r.wipe()
	args := []string{"run", "n.yaml", "--agent", "scripted:script.yaml", "--max-replans", "1"}
	e := end{}
	if m.name == "" {
		e, err = r.belay(nil, args...)
	} else {
		if err := r.dieAt(m, args); err != nil {
			return false, err
		}
		if r.began() {
			e, err = r.belay(nil, "resume", string(r.id()))
		} else {
			e, err = r.belay(nil, args...)
		}
	}
	if err != nil {
		return false, err
	}
	if e.code == exit.Held && p.once && m.name != "" {
		return true, r.sane()
	}
	if e.code != p.code {
		return false, fmt.Errorf("want exit %d: %v", p.code, e)
	}
	return false, errors.Join(r.sane(), r.left(p))
}

// staged makes the work directory of a plot: a repository with its recipe and what
// its agent does.
func (b *bench) staged(p plot) (*rig, error) {
	r, err := b.newRig(b.armed)
	if err != nil {
		return nil, err
	}
	works := `- run: '. ./moment.sh; moment started; echo a > a.txt; moment half; echo b > b.txt; moment all'
- answer: made both
`
	if p.idle {
		works = strings.NewReplacer("echo a > a.txt", ":", "echo b > b.txt", ":").Replace(works)
	}
	err = errors.Join(
		r.put("n.yaml", p.recipe), r.put("script.yaml", works), r.put("moment.sh", momentScript), r.put("README.md", "read me\n"),
		r.put("sub.yaml", "name: sub\nsteps:\n  - {id: bad, command: 'exit 3'}\n"),
		r.put(".gitignore", "at\ngo\nmoment\ntrace\nend\n"),
	)
	git := exec.Command("sh", "-c", "git init -q . && git add -A && git -c user.name=a -c user.email=a@example.com commit -q -m first")
	git.Dir, git.Env = r.work(), r.base
	if out, bad := git.CombinedOutput(); bad != nil {
		err = errors.Join(err, bad, errors.New(string(out)))
	}
	return r, err
}

// dieAt starts the run and kills all of it once the moment has come.
func (r *rig) dieAt(m moment, args []string) error {
	var env []string
	if m.fp != (point{}) {
		env = r.armed("stop", m.fp)
	} else if err := r.put("moment", m.name); err != nil {
		return err
	}
	c, err := r.start(env, args...)
	if err != nil {
		return err
	}
	if m.fp == (point{}) {
		err = r.exists("at")
	} else if p, _, late := r.stands(c); late != nil || p != m.fp {
		err = errors.Join(late, fmt.Errorf("it came to %v", p))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("%s: %w", m.name, err), errors.New(text(c.err)))
	}
	r.killAll()
	<-c.done
	if c.result().signal != syscall.SIGKILL {
		return fmt.Errorf("it had ended before: %v", c.result())
	}
	if err := os.Remove(r.inWork("moment")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// killAll kills everything that carries the rig's mark. All of it stands still
// first, so that nothing sees another die.
func (r *rig) killAll() {
	var pids []int
	_ = until("all stand still", func() bool { // else they are killed as they are
		pids = carrying(r.mark)
		still := true
		for _, pid := range pids {
			if !stopped(pid) {
				still = false
				_ = syscall.Kill(pid, syscall.SIGSTOP) // it may have ended by itself
			}
		}
		return still
	})
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL) // as above
	}
	r.wipe()
}

// sane audits the journal and looks for what was left behind.
func (r *rig) sane() error {
	recs, err := r.records()
	if err != nil {
		return err
	}
	return errors.Join(sound(recs), r.nobodyLeft(recs[0].Run), r.want(0, "audit", string(r.id())))
}

// left compares what is there with what the plot makes.
func (r *rig) left(p plot) error {
	want := p.want
	switch {
	case p.idle:
		return nil
	case want == nil:
		want = []string{"a.txt:a", "b.txt:b", "end:ended"}
	}
	for _, line := range want {
		name, content, _ := strings.Cut(line, ":")
		if got := strings.TrimSpace(text(r.inWork(name))); got != content {
			return fmt.Errorf("%s has %q, want %q", name, got, content)
		}
	}
	return nil
}
