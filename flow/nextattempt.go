package flow

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/recovery"
)

// nextAttempt is what the recoveries that were taken changed about a step: who does
// its next attempt, and how.
type nextAttempt struct {
	agent    string // who took over
	role     recovery.Role
	timeout  time.Duration // 0 = the step's own
	brief    string        // what the next attempt is told
	fresh    bool          // it begins a new session
	resume   bool          // it goes on with the session, although that came to an end
	parts    []belay.Part  // it is the parts of the task
	fallback bool          // it is what the recipe names as another way
}

// steer takes in a plan. Who took over stays; how the next attempt goes about
// it is said anew each time.
func (c *nextAttempt) steer(p belay.Plan) {
	if p.Agent != "" {
		c.agent = p.Agent
	}
	if p.Role != "" {
		c.role, c.agent = recovery.Role(p.Role), p.Agent
	}
	if p.Timeout > 0 {
		c.timeout = p.Timeout
	}
	c.brief, c.parts = p.Brief, p.Parts
	c.fresh, c.resume, c.fallback = p.Act.Row().Fresh, p.Act == belay.ActResume, p.Act == belay.ActFallback
}

// recover folds a chosen recovery.
func (s *State) recover(i int, p belay.Plan) error {
	st := &s.steps[i]
	s.drop(i)
	s.remember(i, p)
	st.helper.leave() // who was called before is not any more
	row := p.Act.Row()
	own := p.Act == belay.ActRepair && s.typeOf(i).Agent() && !st.merge.due // who did it mends it
	switch {
	case row.Again, own, len(p.Parts) > 0:
		st.nextAttempt.steer(p)
		return s.again(i, p.Due)
	case row.Helper != "":
		return s.callHelper(i, p)
	case p.Act == belay.ActHold:
		st.plan = &p
		s.look(i) // an item follows
		return nil
	case p.Act == belay.ActSkip:
		st.leave = &event.ItemAnswered{By: "the " + p.Policy + " policy", Why: p.Reason}
		s.look(i) // that it is left out follows
		return nil
	case row.Ends:
		return s.giveUp(i, p)
	}
	return fmt.Errorf("run %s: unknown recovery %q", s.id, p.Act)
}

// giveUp folds that a step stays failed.
func (s *State) giveUp(i int, p belay.Plan) error {
	st := &s.steps[i]
	if st.phase == Ended || st.phase == Merging { // lost too often
		if err := s.move(i, Broken); err != nil {
			return err
		}
		st.failure = lostFailure(s.prog.Steps[i].ID, p)
	}
	if err := s.move(i, Failed); err != nil {
		return err
	}
	if p.Act == belay.ActAbort {
		s.aborts = true
	}
	s.fail(i)
	return nil
}

// remember keeps a recovery among those that were taken. A plan that another
// belay wrote before there were policies is none: it only retried.
func (s *State) remember(i int, p belay.Plan) {
	st := &s.steps[i]
	if p.Policy == "" || st.failure == nil {
		return
	}
	if p.Act == belay.ActDecompose && len(p.Parts) > 0 && st.helper.role == belay.RolePlan {
		st.helper.leave() // the parts that were asked for: the same recovery
		return
	}
	to := p.Agent
	if p.Role != "" {
		to = p.Role
	}
	st.past = append(st.past, recovery.Past{
		Act: p.Act, Class: p.Class, Print: p.Print, Agent: s.worker(i), Role: s.role(i), To: to, Failing: s.fails(i), Patient: p.Patient,
	})
	if st.agent.patient = p.Patient; p.Patient {
		st.agent.named = p.Due
	}
}

// worker is who does the next attempt of a step, "" for one without an agent.
func (s *State) worker(i int) string {
	if !s.typeOf(i).Agent() {
		return ""
	}
	return s.agentName(i)
}

// role is the role of a step: the one that took over, else its own.
func (s *State) role(i int) recovery.Role {
	if r := s.steps[i].nextAttempt.role; r != "" {
		return r
	}
	return recovery.Role(s.prog.Steps[i].Role)
}

// profile is what stands behind the role of a step.
func (s *State) profile(i int) event.Profile {
	if s.tree == nil {
		return event.Profile{}
	}
	return s.tree.started.Roles[string(s.role(i))]
}

// timeout is the time that the next attempt of a step has.
func (s *State) timeout(i int) time.Duration {
	if t := s.steps[i].nextAttempt.timeout; t > 0 {
		return t
	}
	return s.prog.Steps[i].Timeout
}

// leftPrint is the state of the work that an agent's attempt left, "" when
// nobody knows.
func leftPrint(o *effect.Observation) string {
	if o == nil || o.Agent == nil || !usable(&o.Agent.Evidence.After) {
		return ""
	}
	return o.Agent.Evidence.After.Head + " " + o.Agent.Evidence.After.Tree
}

// tell gives a job the names of the steps that it builds on and that were left
// out.
func (s *State) tell(j *effect.Job, i int) {
	left := s.skippedBefore(i)
	if len(left) == 0 {
		return
	}
	env := maps.Clone(j.Env)
	if env == nil {
		env = map[string]string{}
	}
	env["BELAY_SKIPPED"] = strings.Join(left, " ")
	j.Env = env
}

// skippedBefore are the steps that step i builds on and that were left out or
// failed, so that it can know.
func (s *State) skippedBefore(i int) []string {
	var names []string
	for _, n := range s.prog.Steps[i].Needs {
		if s.steps[n].phase == Skipped {
			names = append(names, string(s.prog.Steps[n].ID))
		}
	}
	slices.Sort(names)
	return names
}
