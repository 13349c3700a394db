package flow

import (
	"fmt"
	"slices"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/recipe"
)

// The hooks of a recipe, by the names of their keys. One runs as an attempt of
// its own, at the path STEP@HOOK: nobody judges it, and it changes nothing but
// the moment at which the run goes on.
const (
	preStep  = "pre_step"
	postStep = "post_step"
	onError  = "on_error"
)

// hookTimeout bounds a hook.
const hookTimeout = 30 * time.Second

func (s *State) hookScript(name string) *recipe.Script {
	switch name {
	case preStep:
		return s.prog.Hooks.PreStep
	case postStep:
		return s.prog.Hooks.PostStep
	case onError:
		return s.prog.Hooks.OnError
	}
	return nil
}

// lastHook is the hook that follows a step that ended in a phase, "" if none does.
func (s *State) lastHook(i int, to Phase) string {
	name := ""
	switch to {
	case Done:
		name = postStep
	case NotTaken:
		if def := &s.prog.Steps[i]; s.vars.compat && !def.IsFallback && !s.leftOut(def) {
			name = postStep // as the older runner has it
		}
	case Failed:
		name = onError
	case Waiting, Running, Ended, Checking, Broken, Helped, Merging, Held, Skipped:
	}
	if s.hookScript(name) == nil {
		return ""
	}
	return name
}

// part settles a step that is over, or has its last hook run first.
func (s *State) part(i int, to Phase) {
	if s.closes(i) {
		return // it was never among those that are left
	}
	if s.lastHook(i, to) != "" {
		s.hooking = append(s.hooking, i)
		return
	}
	s.settle(i)
}

// parted settles a step whose last hook is behind it, or never comes.
func (s *State) parted(i int) {
	if at := slices.Index(s.hooking, i); at >= 0 {
		s.hooking = slices.Delete(s.hooking, at, at+1)
		s.settle(i)
	}
}

// nextHook starts the last hook of the first step that waits for it; the
// second result tells that one waits for room.
func (s *State) nextHook(room int) (command, bool) {
	if s.cancel != nil {
		return nil, false
	}
	for _, i := range s.hooking {
		st := &s.steps[i]
		if st.hook != "" {
			continue
		}
		if room <= 0 {
			return nil, true
		}
		name := s.lastHook(i, st.phase)
		return effect.Do{Job: s.hookJob(i, name, st.hooks[name]+1)}, false
	}
	return nil, false
}

// greet starts the hook that comes before a step; the second result tells that
// it is open. It comes once, however often the step is tried.
func (s *State) greet(i int) (command, bool) {
	st := &s.steps[i]
	if st.greeted || s.prog.Hooks.PreStep == nil {
		return nil, false
	}
	if st.hook != "" {
		return nil, true
	}
	return effect.Do{Job: s.hookJob(i, preStep, st.hooks[preStep]+1)}, false
}

// greetsFirst tells whether that hook comes before the condition of a step is
// looked at, as in the older runner: then it also runs for a step that is not taken.
func (s *State) greetsFirst(i int) bool {
	st := &s.steps[i]
	return s.vars.compat && s.prog.Steps[i].Condition != nil && !st.taken && !st.greeted && s.prog.Hooks.PreStep != nil
}

func (s *State) hookJob(i int, name string, n int) effect.Job {
	def, st := &s.prog.Steps[i], &s.steps[i]
	path := def.ID.WithHook(name)
	status, problem := string(st.phase), ""
	if st.phase == Failed && st.failure != nil {
		problem = st.failure.Error()
	}
	j := effect.Job{
		Key: belay.KeyOf(s.id, path, belay.RoleHook, n), Run: s.id, Path: path, Attempt: n, Role: belay.RoleHook,
		Shell: s.prog.Shell, Dir: s.started.Dir, Timeout: hookTimeout, Depth: s.id.Depth(),
		Env: map[string]string{
			"BELAY_HOOK_STEP": string(def.ID), "BELAY_HOOK_STATUS": status, "BELAY_HOOK_ERROR": problem,
		},
	}
	s.fill(&j, i, s.hookScript(name))
	return j
}

func (s *State) startHook(e event.AttemptStarted, at time.Time) error {
	id, name := e.Path.Hook()
	i, err := s.at(id)
	if err != nil {
		return err
	}
	st := &s.steps[i]
	if s.hookScript(name) == nil || st.key != "" {
		return fmt.Errorf("run %s: hook %s cannot start", s.id, e.Key)
	}
	if st.hooks == nil {
		st.hooks = map[string]int{}
	}
	st.hook, st.hooks[name] = name, e.Attempt
	st.taken = st.taken || !s.greetsFirst(i)
	s.opened(i, e, at)
	return nil
}

// hookGone folds a hook that never began, or whose end nobody saw. A lost
// one comes again, as one that was cut off does: a hook runs at least once to
// its end. One that is lost every time is given up; nothing depends on it.
func (s *State) hookGone(i int, unborn bool, count int) {
	st := &s.steps[i]
	if unborn {
		st.hooks[st.hook]--
		s.close(i)
		return
	}
	if st.hookLost = max(st.hookLost+1, count); st.hookLost < s.started.Limits.MaxLost {
		s.close(i)
		return
	}
	st.hookLost = 0
	s.hookEnded(i)
}

// hookOver folds the end of a hook. One that was cut off because the run came
// to rest, or had no driver, comes again when the run goes on.
func (s *State) hookOver(i int, by fault.KilledBy) {
	switch by {
	case fault.KilledStop, fault.KilledCancel, fault.KilledGrace, fault.KilledLease:
		s.close(i)
	case fault.KilledNot, fault.KilledDeadline:
		s.hookEnded(i)
	}
}

func (s *State) hookEnded(i int) {
	st := &s.steps[i]
	first := st.hook == preStep
	s.close(i)
	if first {
		st.greeted = true
		return
	}
	s.parted(i)
}
