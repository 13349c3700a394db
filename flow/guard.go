package flow

import (
	"slices"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/recipe"
)

// guarding is what an agent of a step may not change: what the recipe says, the
// scripts that the step's check runs by their path and, for an agent that mends
// or finishes what failed, the test files. An empty list in the recipe lifts all
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
		g.Files = judges(g.Files, check, def.Script)
		if child := s.tree.runs[st.last]; role == belay.RoleRecovery && child != nil {
			for k := range child.steps {
				if child.steps[k].phase == Failed {
					g.Files = judges(g.Files, child.checkScript(k), child.prog.Steps[k].Script)
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

// judges adds the files by which a step is judged: those that its check and its
// own script run, and those in which make and the like find what they do.
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
func tampered(v belay.Verdict) bool {
	return v.Failure != nil && v.Failure.Class == belay.ClassTampered
}

// warn keeps an aide that changed guarded files for one more attempt, in which it
// is told. It is measured from the same base, so that what it puts back counts.
func (s *State) warn(i int, v belay.Verdict) error {
	a := &s.steps[i].aide
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

// spoiled fails a step whose aide changed guarded files once more: nothing that
// runs now would show that the step is mended.
func (s *State) spoiled(i int, v belay.Verdict) error {
	st := &s.steps[i]
	f := *v.Failure
	f.Rule = belay.RuleHelperTampered
	st.failure, st.plan, st.mended = &f, nil, true
	st.aide.leave()
	s.look(i)
	return nil
}
