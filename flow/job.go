package flow

import (
	"fmt"
	"maps"
	"slices"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/expr"
	"github.com/belay-run/belay/recipe"
)

func (s *State) mainKey(i, n int) belay.Key {
	return belay.KeyOf(s.id, s.prog.Steps[i].ID, belay.RoleMain, n)
}

// stepKey names the question whether one more nested step may start.
func (s *State) stepKey(i int) belay.Key {
	return s.mainKey(i, s.steps[i].attempt+1).About(belay.TopicStep)
}

// condKey names the question whether a condition over big values holds.
func (s *State) condKey(i int) belay.Key {
	return s.mainKey(i, s.steps[i].attempt+1).About(belay.TopicCond)
}

// job derives attempt n of a step from the state.
func (s *State) job(i int, role belay.Role, n int) effect.Job {
	def := &s.prog.Steps[i]
	j := effect.Job{
		Key: belay.KeyOf(s.id, def.ID, role, n), Run: s.id, Path: def.ID, Of: s.stepOf(), Item: s.itemAbove(), Attempt: n, Role: role,
		Shell: def.Shell, Env: def.Env, JSON: def.JSON, Keys: def.Keys, Outputs: def.Outputs,
		Output:  def.Output != "" || def.JSON == effect.JSONRequired || fromStdout(def.Outputs),
		Timeout: s.timeout(i), Once: def.Once && role == belay.RoleMain, Depth: s.nesting(),
	}
	script := def.Script
	if role == belay.RoleVerify {
		script = s.checkScript(i)
		j.Output, j.JSON, j.Keys, j.Outputs = false, effect.JSONAuto, nil, nil
		if s.steps[i].gone { // what a lost one left in files can still be read
			j.Outputs = filed(def.Outputs)
		}
		if j.Timeout == 0 {
			j.Timeout = checkTimeout
		}
	}
	s.tell(&j, i)
	j.Dir, _ = s.dir(i) // a step whose directory has no name was refused before it started
	if s.typeOf(i).Agent() && role == belay.RoleMain {
		j.Agent = s.agentJob(i)
		j.Output = true // its answer is evidence
		j.Vars = s.scope(i).visible(def.Prompt.String())
		return j
	}
	if s.typeOf(i).Inside() && role == belay.RoleMain {
		s.callJob(&j, i)
		return j
	}
	if role == belay.RoleVerify && script == nil {
		j.Check, j.Vars = s.checkJob(i), s.scope(i).visible("")
		return j
	}
	s.fill(&j, i, script)
	return j
}

// stepOf is the step of the recipe whose items or rounds the run is; "" = none.
func (s *State) stepOf() belay.Path {
	if s.started.Each != "" {
		return s.started.Each
	}
	return s.started.Repeat
}

// itemAbove is the item of the nearest list for which this recipe is called, or one that
// calls it; "" = none.
func (s *State) itemAbove() belay.Path {
	if s.tree == nil {
		return ""
	}
	for id := s.id; ; {
		above, ok := id.Parent()
		up := s.tree.runs[above.Run]
		switch {
		case !ok || up == nil:
			return ""
		case up.started.Each != "":
			return above.Path
		}
		id = above.Run
	}
}

// fromStdout tells whether one of the results is a place in what a step prints.
func fromStdout(specs []effect.OutputSpec) bool {
	return slices.ContainsFunc(specs, func(o effect.OutputSpec) bool { return o.Path != "" })
}

// fill gives a job its script and the values that it may read.
func (s *State) fill(j *effect.Job, i int, script *recipe.Script) {
	c := s.scope(i)
	j.Vars = c.visible(script.Text)
	args, err := s.args(i, c, script, "script")
	if err != nil { // of a check or a hook: the step itself would have been refused
		j.Script = `printf '%s\n' "$BELAY_REFUSED" >&2; exit 1`
		j.Env = maps.Clone(j.Env)
		if j.Env == nil {
			j.Env = map[string]string{}
		}
		j.Env["BELAY_REFUSED"] = err.Error()
		return
	}
	j.Script, j.Args = c.secrets(script)+script.Text, args
	for _, u := range script.Uses {
		if u.Integer {
			j.Ints = append(j.Ints, u.Env)
		}
	}
}

// args are the values of the placeholders of a script of step i; key says which.
func (s *State) args(i int, c *scope, script *recipe.Script, key string) (map[string]belay.Value, error) {
	if len(script.Uses) == 0 {
		return nil, nil
	}
	args := make(map[string]belay.Value, len(script.Uses))
	for _, u := range script.Uses {
		if c.isSecret(u.Value) {
			continue
		}
		v, err := s.render(i, c, u.Value)
		if err != nil {
			return nil, s.misfit(i, key+": "+u.Value.String(), u.Value, func(int) recipe.Pos { return u.Pos }, err)
		}
		args[u.Env] = v
	}
	return args, nil
}

// isSecret tells whether a placeholder is nothing but a secret, which only the
// environment of the step has.
func (c *scope) isSecret(t *expr.Text) bool {
	name, alone := t.Alone()
	return alone && c.secret[name]
}

// renders tells whether everything that a shell step is made of has a value.
func (s *State) renders(i int) error {
	def := &s.prog.Steps[i]
	if _, err := s.dir(i); err != nil {
		return err
	}
	c := s.scope(i)
	if def.Script != nil {
		if _, err := s.args(i, c, def.Script, "command"); err != nil {
			return err
		}
	}
	if err := s.inputsRender(i, c); err != nil {
		return err
	}
	if def.Verify == nil {
		return nil
	}
	_, err := s.args(i, c, def.Verify, "verify")
	return err
}

// dir is the working directory of a step: the run's, or its own under it.
func (s *State) dir(i int) (string, error) {
	def := &s.prog.Steps[i]
	text := def.Dir
	if text == nil {
		return s.root(i), nil
	}
	c := s.scope(i)
	if names := text.Names(); c.big(names) {
		err := fmt.Errorf("the value of {{%s}} is too big for a path", names[0])
		return "", s.misfit(i, "working_dir", text, def.DirAt, err)
	}
	sub, err := text.Render(c.texts())
	if err != nil {
		return "", s.misfit(i, "working_dir", text, def.DirAt, err)
	}
	return s.under(i, sub), nil
}

// openJob derives the job of an attempt that is open.
func (s *State) openJob(k belay.Key) (effect.Job, bool) {
	i, ok := s.open[k]
	if !ok {
		return effect.Job{}, false
	}
	st := &s.steps[i]
	if st.hook != "" {
		return s.hookJob(i, st.hook, st.hooks[st.hook]), true
	}
	if st.phase == Helped {
		return s.helperJob(i, st.helper.numbers[st.helper.role]), true
	}
	if st.phase == Merging {
		return s.mergeJob(i, st.merge.n), true
	}
	if st.phase == Checking {
		return s.job(i, belay.RoleVerify, st.check), true
	}
	return s.job(i, belay.RoleMain, st.attempt), true
}
