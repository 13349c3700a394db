package flow

import (
	"fmt"
	"path"

	"github.com/belay-run/belay"
)

func (s *State) mainKey(i, n int) belay.Key {
	return belay.KeyOf(s.id, s.prog.Steps[i].ID, belay.RoleMain, n)
}

// stepQuestion ends the key of a question for a permit.
const stepQuestion = "?step"

// stepKey names the question whether one more nested step may start.
func (s *State) stepKey(i int) belay.Key { return s.mainKey(i, s.steps[i].attempt+1) + stepQuestion }

// condKey names the question whether a condition over big values holds.
func (s *State) condKey(i int) belay.Key { return s.mainKey(i, s.steps[i].attempt+1) + "?cond" }

// job derives attempt n of a step from the state.
func (s *State) job(i int, role belay.Role, n int) belay.Job {
	def := &s.prog.Steps[i]
	j := belay.Job{
		Key: belay.KeyOf(s.id, def.ID, role, n), Run: s.id, Path: def.ID, Attempt: n, Role: role,
		Script: def.Command, Shell: def.Shell, Env: def.Env,
		Output: def.Output != "", Timeout: def.Timeout, Once: def.Once && role == belay.RoleMain,
		Depth: s.id.Depth(),
	}
	if role == belay.RoleVerify {
		j.Script = def.Verify
		j.Output = def.Output != "" && s.steps[i].gone // it stands in for the lost one
		if j.Timeout == 0 {
			j.Timeout = checkTimeout
		}
	}
	j.Dir, _ = s.dir(i) // a step whose directory has no name was refused before it started
	j.Vars = s.vars.visible(j.Script)
	return j
}

// dir is the working directory of a step: the run's, or its own under it.
func (s *State) dir(i int) (string, error) {
	text := s.prog.Steps[i].Dir
	if text == nil {
		return s.started.Dir, nil
	}
	if names := text.Names(); s.vars.big(names) {
		return "", fmt.Errorf("working_dir: the value of {{%s}} is too big for a path", names[0])
	}
	sub, err := text.Render(s.vars.lookup())
	if err != nil {
		return "", fmt.Errorf("working_dir: %w", err)
	}
	if path.IsAbs(sub) {
		return path.Clean(sub), nil
	}
	return path.Join(s.started.Dir, sub), nil
}

// openJob derives the job of an attempt that is open.
func (s *State) openJob(k belay.Key) (belay.Job, bool) {
	i, ok := s.open[k]
	if !ok {
		return belay.Job{}, false
	}
	st := &s.steps[i]
	if st.phase == Checking {
		return s.job(i, belay.RoleVerify, st.check), true
	}
	return s.job(i, belay.RoleMain, st.attempt), true
}

// asked remembers that a question is out, until it is answered or the driver dies.
func (s *State) asked(k belay.Key) {
	for _, i := range s.ready.list {
		if s.condKey(i) == k {
			s.steps[i].asked = true
			s.asking++
			return
		}
	}
	for _, t := range s.timers.list {
		if t.key == "" && s.condKey(t.step) == k {
			s.steps[t.step].asked = true
			s.asking++
			return
		}
	}
}
