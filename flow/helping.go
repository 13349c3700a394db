package flow

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/recovery"
	"github.com/belay-run/belay/redact"
	"github.com/belay-run/belay/verdict"
)

// helperTimeout bounds an agent that helps with a step without a timeout.
const helperTimeout = 30 * time.Minute

// helper is an agent that helps with a broken step: it mends what made it fail,
// plans the parts of its task, or finishes what a sub-recipe left. It is an
// attempt of its own, at the step's path, in its own role.
type helper struct {
	role    belay.Role // "" = none is called
	numbers map[belay.Role]int
	grant   *effect.AnswerAgent
	told    *effect.Observation // what was seen of it
	lost    *effect.Observation // the last one was lost: all that is known of it
	warned  string              // it changed guarded files, and is told so; "" = it did not
	session string              // in which it is told
	base    *belay.TreeState    // the tree before the first that was cut off or warned; nil = it looks itself
	starts  int                 // attempts since it was called
	saw     *belay.Evidence     // what became of guarded files, when no attempt of it told
	judged  *effect.Verdict
}

// leave sends the helper away; how often each role was there stays known.
func (a *helper) leave() { *a = helper{numbers: a.numbers} }

// noted keeps the tree that the first helper of its kind began with. One that is
// lost or stopped is followed by another, and its work must count for that.
func (a *helper) noted(e event.AttemptNoted) {
	if e.What == effect.NoteBase && a.base == nil && a.role != belay.RolePlan && usable(e.Base) {
		a.base = e.Base
	}
}

// seen is what is known of the last attempt, nil while there is none to judge.
func (a *helper) seen() *effect.Observation {
	if a.told != nil {
		return a.told
	}
	return a.lost
}

// callHelper folds that an agent is to help.
func (s *State) callHelper(i int, p belay.Plan) error {
	st := &s.steps[i]
	st.plan = &p
	st.helper.leave()
	st.helper.role = p.Act.Row().Helper
	switch {
	case st.helper.role == "":
		return fmt.Errorf("run %s: nobody is called for %s", s.id, p.Act)
	case p.Act == belay.ActRepair && st.merge.due:
		st.verify = nil // what is merged is checked as it is resolved
	case p.Act == belay.ActRecover:
		st.verify, st.deaf = nil, false // it is asked again, about what the helper leaves
	}
	s.look(i)
	return nil
}

// helperKey names the next attempt of the helper that is called.
func (s *State) helperKey(i int) belay.Key {
	a := &s.steps[i].helper
	return belay.KeyOf(s.id, s.prog.Steps[i].ID, a.role, a.numbers[a.role]+1)
}

// helperOf is the step that a key of a helper speaks of.
func (s *State) helperOf(k belay.Key) (int, bool) {
	p, ok := belay.ParseKey(k)
	if !ok || p.Role == belay.RoleMain {
		return 0, false
	}
	i, ok := s.index[p.Path]
	return i, ok && s.steps[i].helper.role == p.Role
}

// nextHelper says what is next about a step that an agent is to help with; the
// second result tells that it waits for room.
func (s *State) nextHelper(i int, now time.Time, room int) (command, bool) {
	st := &s.steps[i]
	a := &st.helper
	switch {
	case a.judged != nil: // a plan: its parts are the recovery
		return s.chosen(i, s.planned(i, now)), false
	case a.told != nil, a.lost != nil && s.lostOut(i, now):
		if c, open := s.nextGuardLook(i); c != nil || open {
			return c, false
		}
		return s.judgeHelper(i, now, room)
	case s.cancel != nil || st.asked:
		return nil, false
	case a.grant == nil && (room <= 0 || s.tree != nil && s.tree.tight()):
		return nil, true
	case a.grant == nil && st.work.refused != "":
		return s.partHelper(i, s.chosen(i, s.decide(i, now))), false
	case a.grant == nil:
		dir, _ := s.dir(i) // a step whose directory has no name was refused before it started
		if c, open := s.nextTree(i, s.helperKey(i), &st.work, dir); c != nil || open {
			return c, false
		}
		return effect.Ask{Key: s.helperKey(i).About(belay.TopicAgent), Question: effect.AskAgent{Name: s.agentName(i)}}, false
	case !a.grant.OK && a.grant.Until.IsZero() && !a.grant.Spent: // the budget: a person's
		return s.partHelper(i, s.ask(i, fmt.Sprintf("step %s failed (%s), and an agent that could help may not start: %s."+howOn,
			s.prog.Steps[i].ID, st.failure.Cause, a.grant.Error))), false
	case !a.grant.OK, s.lostOut(i, now):
		return s.partHelper(i, s.chosen(i, s.decide(i, now))), false
	case room < 0:
		return nil, true
	}
	return effect.Do{Job: s.helperJob(i, a.numbers[a.role]+1)}, false
}

// chosen writes down a recovery.
func (s *State) chosen(i int, p belay.Plan) command {
	return note{Event: event.RecoveryChosen{Path: s.prog.Steps[i].ID, Plan: p}}
}

// startHelper folds the start of a helper.
func (s *State) startHelper(e event.AttemptStarted, at time.Time) error {
	i, err := s.at(e.Path)
	if err != nil {
		return err
	}
	st := &s.steps[i]
	a := &st.helper
	if a.role != e.Role {
		return fmt.Errorf("run %s: %s starts, and nobody called it", s.id, e.Key)
	}
	if err := s.move(i, Helped); err != nil {
		return err
	}
	s.drop(i)
	if a.numbers == nil {
		a.numbers = map[belay.Role]int{}
	}
	a.numbers[e.Role] = e.Attempt
	a.grant, a.told, a.lost, a.saw = nil, nil, nil, nil
	a.starts++
	st.agent.notes, st.child = 0, ""
	s.opened(i, e, at)
	return nil
}

// helperGone folds a helper that never began, or whose end nobody saw.
func (s *State) helperGone(i int, unborn bool, e event.AttemptFound) error {
	st := &s.steps[i]
	if unborn {
		st.helper.numbers[st.helper.role]--
		st.helper.starts--
	} else {
		st.lost = max(st.lost+1, e.Count)
		st.mended = true // nobody knows what it did
		st.helper.lost = &effect.Observation{Began: true, Exit: -1}
		if e.Left != nil && st.helper.base == nil && usable(&e.Left.Before) {
			st.helper.base = &e.Left.Before
		}
	}
	s.giveBack(i)
	return s.helperOver(i)
}

// helperEnded folds the end of a helper. One that was ended with its run comes
// again when the run goes on.
func (s *State) helperEnded(i int, o effect.Observation) error {
	st := &s.steps[i]
	if o.KilledBy != fault.KilledStop && o.KilledBy != fault.KilledCancel {
		st.helper.told = &o
	}
	return s.helperOver(i)
}

// helperOver closes the attempt of a helper: its step is broken as before.
func (s *State) helperOver(i int) error {
	s.close(i)
	s.look(i)
	return s.move(i, Broken)
}

func (s *State) helperTime(i int) time.Duration {
	if t := s.timeout(i); t > 0 {
		return max(t, time.Minute)
	}
	return helperTimeout
}

// helperJob is the attempt of a helper. It works where the step does, as who does
// the step or the run's agent, and may do no more than that.
func (s *State) helperJob(i, n int) effect.Job {
	def, st := &s.prog.Steps[i], &s.steps[i]
	p := s.profile(i)
	j := effect.Job{
		Key: belay.KeyOf(s.id, def.ID, st.helper.role, n), Run: s.id, Path: def.ID, Of: s.stepOf(), Item: s.itemAbove(), Attempt: n, Role: st.helper.role,
		Env: def.Env, Output: true, Timeout: s.helperTime(i), Depth: s.id.Depth(), JSON: effect.JSONAuto,
		Vars: s.scope(i).visible(""),
		Agent: &effect.AgentJob{
			Name: s.agentName(i), Model: s.model(i), Persona: p.Persona, Access: p.Access, Tools: p.Tools, Expect: s.helperExpects(i),
			Base: st.helper.base, Guard: s.guarding(i, st.helper.role), Resume: st.helper.session, Brief: recovery.GuardBrief(st.helper.warned),
		},
	}
	j.Dir, _ = s.dir(i) // a step whose directory has no name was refused before it started
	task := ""
	switch st.helper.role {
	case belay.RoleRepair:
		task = agent.RepairTask(s.trouble(i, n))
		if st.merge.due {
			task = agent.MergeTask(string(def.ID), st.failure.Cause)
			j.Merge = &effect.MergeJob{Key: s.mergeName(i), Tree: s.base()}
		}
	case belay.RolePlan:
		task = agent.PlanTask(s.taskOf(i), st.failure.Cause, recovery.MaxParts)
		j.JSON, j.Keys = effect.JSONRequired, nil
		if j.Agent.Access == "" {
			j.Agent.Access, j.Agent.Tools = "read", nil // it only thinks
		}
	case belay.RoleRecovery:
		task = agent.RecoveryTask(s.fallen(i))
		if s.recoveryMode(i) != recovery.PolicyClassic { // the answer is the step's output
			j.JSON, j.Keys = def.JSON, def.Keys
		}
	case belay.RoleMain, belay.RoleVerify, belay.RoleHook, belay.RoleMerge:
	}
	j.Agent.Prompt = []belay.Value{belay.Text(task)}
	return j
}

// trouble is what an agent that mends is told.
func (s *State) trouble(i, round int) agent.Trouble {
	def, st := &s.prog.Steps[i], &s.steps[i]
	t := agent.Trouble{Step: string(def.ID), Cause: st.failure.Cause, Failing: s.fails(i), Round: round}
	if def.Script != nil {
		t.Script = def.Script.Source
	}
	if st.main != nil {
		t.Tail = st.main.Tail
	}
	if verdict.Spoke(st.verify) && st.verify.Exit != 0 && s.hasCheck(i) {
		t.Check, t.Tail = s.checkWords(i), st.verify.Tail
	}
	return t
}

// Fallen is what a failed sub-recipe left, as an agent that finishes it is told.
func (s *State) Fallen(p belay.Path) (agent.Fallen, bool) {
	i, ok := s.index[p]
	if !ok || s.steps[i].failure == nil {
		return agent.Fallen{}, false
	}
	return s.fallen(i), true
}

// fallen is what an agent that finishes a sub-recipe is told: without keys,
// tokens and passwords in addresses, which are known by their shape.
func (s *State) fallen(i int) agent.Fallen {
	def, st := &s.prog.Steps[i], &s.steps[i]
	hide := redact.New(nil)
	f := agent.Fallen{Recipe: def.Recipe, Error: hide.String(st.failure.Cause)}
	if st.main != nil && st.main.Child != nil && len(st.main.Child.Outputs) > 0 {
		f.Partial = string(gathered(st.main.Child.Outputs).JSON)
	}
	if child := s.tree.runs[st.last]; child != nil {
		for k := range child.steps {
			if c := &child.steps[k]; c.phase == Failed && !child.prog.Steps[k].Optional {
				f.Steps = append(f.Steps, string(child.prog.Steps[k].ID))
				if f.Partial == "" && c.main != nil {
					f.Partial = c.main.Tail
				}
			}
		}
	}
	if len(f.Steps) == 0 { // its own check failed
		f.Steps = []string{string(def.ID)}
	}
	f.Partial = hide.String(f.Partial)
	c := s.scope(i)
	for _, name := range slices.Sorted(maps.Keys(c.vars)) {
		v, text := c.vars[name], ""
		switch {
		case !v.Inline():
			text = fmt.Sprintf("[%d bytes]", v.Size)
		case json.Unmarshal(v.JSON, &text) != nil:
			text = string(v.JSON)
		}
		f.Context = append(f.Context, [2]string{name, hide.String(text)})
	}
	return f
}
