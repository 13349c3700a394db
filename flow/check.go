package flow

import (
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/recipe"
	"github.com/belay-run/belay/recovery"
)

func (s *State) testsKey(i int) belay.Key {
	return s.mainKey(i, s.steps[i].attempt+1).About(belay.TopicTests)
}

// asksFor is what Belay looks at itself after an agent: tests or a pull request;
// "" = neither. On a recipe step it is asked of who finishes it.
func (s *State) asksFor(i int) belay.Expect {
	if s.started.Classic {
		return ""
	}
	if !s.typeOf(i).Agent() && (s.steps[i].helper.role != belay.RoleRecovery || s.recoveryMode(i) == recovery.PolicyClassic) {
		return ""
	}
	switch e := belay.Expect(s.prog.Steps[i].Expect); e {
	case belay.ExpectTests, belay.ExpectPR:
		return e
	case belay.ExpectNone, belay.ExpectAnswer, belay.ExpectChange:
	}
	return ""
}

// hasCheck tells whether the work of a step is checked: by its own verify, or by
// Belay's look at what it expects.
func (s *State) hasCheck(i int) bool {
	return s.prog.Steps[i].Verify != nil || s.asksFor(i) != ""
}

// checkScript is the script that checks a step: its verify, the tests: of its
// recipe, or those of the settings; nil = Belay looks for itself.
func (s *State) checkScript(i int) *recipe.Script {
	switch def := &s.prog.Steps[i]; {
	case def.Verify != nil:
		return def.Verify
	case s.asksFor(i) != belay.ExpectTests:
	case s.prog.Tests != nil:
		return s.prog.Tests
	case s.tree.started.TestScript != "":
		return &recipe.Script{Source: s.tree.started.TestScript, Text: s.tree.started.TestScript}
	}
	return nil
}

// checkWords is the check of a step as people read it.
func (s *State) checkWords(i int) string {
	if script := s.checkScript(i); script != nil {
		return script.Source
	}
	if o := s.steps[i].verify; o != nil && o.Check != nil {
		var list []string
		for _, t := range o.Check.Tests {
			list = append(list, t.Command)
		}
		return strings.Join(list, " && ")
	}
	return ""
}

// checkJob is the check that Belay itself makes.
func (s *State) checkJob(i int) *effect.CheckJob {
	if s.asksFor(i) == belay.ExpectPR {
		return &effect.CheckJob{PR: s.prQuestion(i)}
	}
	plan, ok := s.testPlan(i)
	if !ok { // it is looked for when it is needed
		dir, _ := s.dir(i) // a step whose directory has no name was refused before it started
		plan = effect.TestPlan{Dir: dir, Top: dir}
	}
	return &effect.CheckJob{Tests: &plan}
}

// testPlan is how the tests of a step are run, as it was found before the agent.
func (s *State) testPlan(i int) (effect.TestPlan, bool) {
	if p := s.steps[i].tests; p != nil {
		return *p, true
	}
	dir, err := s.dir(i)
	if err != nil {
		return effect.TestPlan{}, false
	}
	dir = s.unhoused(dir)
	at := slices.IndexFunc(s.tree.started.Tests, func(p effect.TestPlan) bool { return p.Dir == dir })
	if at < 0 {
		return effect.TestPlan{}, false
	}
	return s.tree.started.Tests[at], true
}

// unhoused is the directory that a place in a worktree of the run stands for.
func (s *State) unhoused(dir string) string {
	for range maxHomes {
		from, ok := s.stoodFor(dir)
		if !ok {
			break
		}
		dir = from
	}
	return dir
}

// maxHomes is how many worktrees may stand one for another: a step's for its
// run's, and so on up.
const maxHomes = 16

func (s *State) stoodFor(dir string) (string, bool) {
	for up := s; up != nil; up = s.tree.runs[s.tree.parents[up.id].run] {
		for _, key := range slices.Sorted(maps.Keys(up.homes)) {
			h := up.homes[key]
			rest, below := strings.CutPrefix(dir+"/", h.Dir+"/")
			switch {
			case h.Dir == "" || !below:
			case key == up.homeKey(-1):
				return path.Join(up.started.Dir, rest), true
			default: // a step's worktree stands for the run's own
				return path.Join(up.base(), rest), true
			}
		}
	}
	return dir, false
}

// nextTests asks how the tests of a step are run, where that was not found at
// the start of the run.
func (s *State) nextTests(i int) command {
	if s.asksFor(i) != belay.ExpectTests || s.checkScript(i) != nil {
		return nil
	}
	if _, known := s.testPlan(i); known {
		return nil
	}
	dir, err := s.dir(i)
	if err != nil {
		return nil // the step is refused for that
	}
	return effect.Ask{Key: s.testsKey(i), Question: effect.AskTests{Dir: dir}}
}

// foundTests folds how the tests of a step are run.
func (s *State) foundTests(i int, a effect.AnswerTests) {
	st := &s.steps[i]
	st.tests = a.Tests
	if st.tests == nil { // asked, and there is no answer: it is looked for when it is needed
		dir, _ := s.dir(i) // it had one when it asked
		st.tests = &effect.TestPlan{Dir: dir, Top: dir}
	}
}

// prQuestion is what the forge is asked about the work of a step.
func (s *State) prQuestion(i int) *effect.PRQuestion {
	st := &s.steps[i]
	q := &effect.PRQuestion{Forges: s.tree.started.Forges, Since: s.begun}
	seen := st.main
	if a := st.helper.seen(); a != nil {
		seen = a
	}
	base := st.agent.base
	if seen != nil && seen.Agent != nil {
		e := seen.Agent.Evidence
		base, q.Commits = &e.Before, e.Commits
	}
	if base != nil {
		q.Base = base.Head
		if base.At > 0 {
			q.Since = time.Unix(0, base.At)
		}
	}
	return q
}
