package flow

import (
	"cmp"
	"slices"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/recipe"
	"github.com/belay-run/belay/recovery"
	"github.com/belay-run/belay/verdict"
)

// guarding is what an agent of a step may not change: what the recipe says, the
// scripts that the step's check runs by their path and, for an agent that repairs
// or recovers what failed, the test files and what else the failure is judged by. An empty list in the recipe lifts all
// of it.
func (s *State) guarding(i int, role belay.Role) *belay.Guarding {
	def, st := &s.prog.Steps[i], &s.steps[i]
	said := def.Guard
	if said == nil {
		said = s.prog.Guard
	}
	if said != nil && len(said.Globs) == 0 || role == belay.RolePlan {
		return nil
	}
	check := s.checkScript(i)
	g := belay.Guarding{Files: check.RunsFiles()}
	if said != nil {
		g.Globs = said.Globs
	}
	if role == belay.RoleRepair || role == belay.RoleRecovery {
		g.Tests = true
		g.Files = judges(g.Files, s.judgedBy(i)...)
		if child := s.tree.runs[st.last]; role == belay.RoleRecovery && child != nil {
			for k := range child.steps {
				if child.steps[k].phase == Failed {
					g.Files = judges(g.Files, child.judgedBy(k)...)
				}
			}
		}
		if st.main != nil && st.main.Agent != nil {
			g.Since = st.main.Agent.Evidence.Before.Head // what the step itself made is not guarded
		}
	}
	if len(g.Globs) == 0 && len(g.Files) == 0 && !g.Tests {
		return nil
	}
	return &g
}

// judgedBy are the scripts by which a failed step is judged: its check and, where
// what its own script printed tells of tests that failed, that script. A script
// that only does the work may be what is broken.
func (s *State) judgedBy(i int) []*recipe.Script {
	def, st := &s.prog.Steps[i], &s.steps[i]
	list := []*recipe.Script{s.checkScript(i)}
	if st.main != nil && st.main.Agent == nil {
		if t := agent.TallyOf(st.main.Tail); t != nil && t.Bad {
			list = append(list, def.Script)
		}
	}
	return list
}

// judges adds the files that scripts run, and those in which make and the like
// find what they do.
func judges(files []string, scripts ...*recipe.Script) []string {
	for _, script := range scripts {
		for _, f := range slices.Concat(script.RunsFiles(), script.BuildFiles()) {
			if !slices.Contains(files, f) {
				files = append(files, f)
			}
		}
	}
	return files
}

// tampered tells whether a verdict is about guarded files.
func tampered(v effect.Verdict) bool {
	return v.Failure != nil && v.Failure.Class == belay.ClassTampered
}

// spoils tells whether a verdict about a helper is about guarded files: they were
// changed, or nobody knows.
func spoils(v effect.Verdict) bool { return v.Failure != nil && v.Failure.Rule == verdict.RuleGuard }

// unwatched tells whether a helper was at work and nobody saw what became of the
// guarded files: it was lost or stopped, or its attendant left no report.
func (s *State) unwatched(i int) bool {
	a := &s.steps[i].helper
	switch {
	case a.saw != nil || s.guarding(i, a.role) == nil:
		return false
	case a.told == nil:
		return a.starts > 0
	}
	return a.told.Agent == nil && (a.told.Began || a.starts > 1)
}

// nextGuardLook asks for a look at the guarded files that nobody saw, with the
// tree in hand; the second result tells that it is waited for.
func (s *State) nextGuardLook(i int) (command, bool) {
	st := &s.steps[i]
	a := &st.helper
	if !s.unwatched(i) {
		return nil, false
	}
	if st.asked || s.cancel != nil {
		return nil, true
	}
	dir, _ := s.dir(i) // it had one when it started
	if st.work.refused == "" {
		if c, open := s.nextTree(i, s.helperKey(i), &st.work, dir); c != nil || open {
			return c, open
		}
	}
	return effect.Ask{Key: s.lastHelper(i).About(belay.TopicLook), Question: effect.AskLook{Dir: dir, Base: a.base, Guard: s.guarding(i, a.role)}}, true
}

// lastHelper names the last attempt of the helper that is called.
func (s *State) lastHelper(i int) belay.Key {
	a := &s.steps[i].helper
	return belay.KeyOf(s.id, s.prog.Steps[i].ID, a.role, a.numbers[a.role])
}

// guardSeen folds a look at guarded files.
func (s *State) guardSeen(k belay.Key, a effect.AnswerLook) {
	i, ok := s.helperOf(k)
	if of, _ := k.Is(belay.TopicLook); !ok || of != s.lastHelper(i) {
		return
	}
	st := &s.steps[i]
	st.helper.saw = a.Seen
	if a.Seen == nil {
		st.helper.saw = &belay.Evidence{Unseen: cmp.Or(a.Error, "nobody looked")}
	}
	s.look(i)
}

// partHelper goes on without a helper that did not come to its end, once it is
// known that it left the guarded files alone.
func (s *State) partHelper(i int, next command) command {
	if c, open := s.nextGuardLook(i); c != nil || open {
		return c
	}
	a := &s.steps[i].helper
	if a.saw == nil {
		return next
	}
	c := verdict.Case{Step: s.prog.Steps[i].ID, Type: belay.TypeAgent}
	if v := verdict.Guarded(c, effect.Verdict{}, a.saw); v.Failure != nil {
		return note{Event: event.AttemptJudged{Key: s.lastHelper(i), Verdict: v}}
	}
	return next
}

// warn keeps a helper that changed guarded files for one more attempt, in which it
// is told. It is measured from the same base, so that what it puts back counts.
func (s *State) warn(i int, v effect.Verdict) error {
	a := &s.steps[i].helper
	a.warned = v.Failure.Cause
	if told := a.told.Agent; told != nil {
		a.session = told.Result.Session
		if a.base == nil && usable(&told.Evidence.Before) {
			a.base = &told.Evidence.Before
		}
	}
	a.told, a.grant = nil, nil
	s.look(i)
	return nil
}

// spoiled fails a step whose helper changed guarded files once more: nothing that
// runs now would show that the step is mended.
func (s *State) spoiled(i int, v effect.Verdict) error {
	st := &s.steps[i]
	f := *v.Failure
	f.Rule = recovery.RuleHelperTampered
	st.failure, st.plan, st.mended = &f, nil, true
	st.helper.leave()
	s.look(i)
	return nil
}
