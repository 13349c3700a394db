package flow

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/recovery"
	"github.com/belay-run/belay/recovery/classic"
	"github.com/belay-run/belay/verdict"
)

func (s *State) probeKey(i int) belay.Key {
	return s.mainKey(i, s.steps[i].attempt).About(belay.TopicProbe)
}

// judge says what an ended attempt amounts to; a failure gets its class. Where
// a look at the machine could say more, that is asked for first.
func (s *State) judge(i int, c verdict.Case) command {
	st := &s.steps[i]
	v := verdict.Of(c)
	if s.hadNothing(i) {
		v = effect.Verdict{OK: true, Empty: true, Basis: effect.BasisExit, For: []string{NothingRan}}
	} else if v.OK {
		if why := s.missing(i); why != "" {
			v = effect.Verdict{Against: []string{why}, Failure: &belay.Failure{
				Kind: s.ownKind(i), Op: "step " + string(s.prog.Steps[i].ID), Cause: why, Hint: "give what stands in for it the same outputs",
			}}
		} else if s.unjoined(i) {
			v.For, v.Partial = append(v.For, Joined), true
		}
	}
	if c, open := s.looksAfter(i); open {
		return c
	}
	if v.RolledBack = s.rolledBack(i); v.RolledBack {
		v.For = append(v.For, verdict.BackWords)
	}
	if v.Failure != nil {
		s.explain(i, c, v.Failure)
		if q, ok := c.Suspect(*v.Failure); ok && st.probe == nil {
			if st.asked {
				return nil
			}
			q.Dir, _ = s.dir(i) // it had one when it started
			return effect.Ask{Key: s.probeKey(i), Question: q}
		}
	}
	return note{Event: event.AttemptJudged{Key: s.judgedKey(i), Verdict: v}}
}

func (s *State) explain(i int, c verdict.Case, f *belay.Failure) {
	st := &s.steps[i]
	dir, _ := s.dir(i) // paths below it are its own; without one none is
	look := verdict.Look{Dir: dir, Earlier: verdict.Earlier{Changed: s.changed(i), Unknowns: s.unknowns(i)}}
	if n := len(st.past); n > 0 {
		look.Earlier.Fingerprint = st.past[n-1].Print
	}
	if st.probe != nil {
		look.Probe = st.probe.Probe
	}
	s.tree.classifier().Explain(c, f, look)
}

// probed folds a look at the machine.
func (s *State) probed(k belay.Key, a effect.AnswerProbe) {
	if i, ok := s.endedFor(k); ok {
		s.steps[i].probe = &a
		s.look(i)
	}
}

// changed tells whether the work is in another state than the failure before
// left it in. For a step that no agent does only a helper can change it, as far
// as anybody here can see.
func (s *State) changed(i int) bool {
	st := &s.steps[i]
	if st.mended {
		return true
	}
	now := leftPrint(st.main)
	return now != "" && now != st.agent.left
}

// unknowns is how many failures of a step nobody could explain.
func (s *State) unknowns(i int) int {
	n := 0
	for _, p := range s.steps[i].past {
		if p.Class == belay.ClassUnknown {
			n++
		}
	}
	return n
}

// decide chooses the recovery of a broken step.
func (s *State) decide(i int, now time.Time) belay.Plan {
	x := s.situation(i, now)
	if s.inFinally() || s.closes(i) { // its own retry: is all that it has
		x.Optional, x.MaxReplans, x.Recoverable, x.Declared.Escalate = true, -1, false, false
		return recovery.Choose(x)
	}
	if s.policyName(i) == recovery.PolicyClassic {
		retries := s.tree.started.MaxRetries
		if retries == 0 {
			retries = classic.DefaultMaxRetries
		}
		return classic.Choose(x, retries)
	}
	return recovery.Choose(x)
}

// policyName is who chooses: the step's word, the recipe's, the run's.
func (s *State) policyName(i int) string {
	for _, name := range []string{s.prog.Steps[i].Policy, s.ownWord(s.prog.Policy), s.tree.started.Policy} {
		if name != "" {
			return name
		}
	}
	return recovery.PolicyBelay
}

// ownWord is what a sub-recipe says for itself. What the root's recipe says is
// in the first record, unless a flag said something else.
func (s *State) ownWord(word string) string {
	if s.started.Recipe == s.tree.started.Recipe {
		return ""
	}
	return word
}

// situation is what a policy is told.
func (s *State) situation(i int, now time.Time) recovery.Situation {
	def, st := &s.prog.Steps[i], &s.steps[i]
	top := &s.tree.started
	x := recovery.Situation{
		Failure: *st.failure, Type: s.typeOf(i), Title: s.titleOf(i), Optional: def.Optional || s.policyName(i) == recovery.PolicyBelay && s.dispensable(), Once: def.Once,
		Declared: s.policy(i), History: s.history(i), Past: st.past, Timeout: s.timeout(i),
		Agents: top.Agents || s.typeOf(i).Agent(), Replans: s.tree.replans, MaxReplans: top.Limits.MaxReplans, Patience: top.Limits.Patience, Now: now, Deadline: s.deadline(),
		Changed: st.moved || s.changed(i), Checked: s.hasCheck(i), Depth: s.depth, Spent: st.agent.spent,
		Fallback: def.Fallback != nil, Failing: s.fails(i), Cured: s.cured(i),
	}
	if st.merge.due { // the work is there: nothing else is done instead
		x.Fallback, x.Merging = false, true
	} else if x.Type.Child() && def.Foreach == "" && def.Repeat == nil && s.mayRecover(i) {
		x.Recoverable, x.Unstaffed = s.agentName(i) != "", s.agentName(i) == ""
	}
	if !x.Type.Agent() {
		return x
	}
	x.Agent, x.Role, x.Down = s.agentName(i), s.role(i), st.agent.down
	x.Others = slices.DeleteFunc(slices.Clone(top.Staff), func(n string) bool { return n == x.Agent })
	x.Resumes = st.agent.session != "" && st.agent.name == x.Agent
	if o := st.main; o != nil && o.Agent != nil {
		x.Progress, x.Retried = verdict.Changed(o.Agent.Evidence), o.Agent.Result.Retries > 0
		x.Covering = s.covering(i, o.Agent.Result.Denied)
	}
	return x
}

// dispensable tells whether the run is a part of a step that may fail: then no
// person is asked about anything in it.
func (s *State) dispensable() bool {
	up := s.tree.parents[s.id]
	p := s.tree.runs[up.run]
	if p == nil {
		return false
	}
	i, ok := p.open[up.key]
	return ok && p.prog.Steps[i].Optional || p.dispensable()
}

// cured tells whether a person is asked about a step that may fail, or is in one that may,
// where only a person can lift the cause: each of these says so.
func (s *State) cured(i int) bool {
	if def := &s.prog.Steps[i]; def.Optional && !def.Cure {
		return false
	}
	up := s.tree.parents[s.id]
	p := s.tree.runs[up.run]
	if p == nil {
		return true
	}
	at, ok := p.open[up.key]
	return !ok || p.cured(at)
}

// deadline is when the run may not start agents any more, zero for never.
func (s *State) deadline() time.Time {
	wall := s.tree.started.Limits.MaxWall
	if wall <= 0 {
		return time.Time{}
	}
	return s.tree.runs[s.tree.root].begun.Add(wall)
}

// titleOf is what a step is there for, in words: its task, or its name.
func (s *State) titleOf(i int) string {
	if s.prog.Steps[i].Prompt == nil {
		return string(s.prog.Steps[i].ID)
	}
	return s.taskOf(i)
}

// taskOf is the prompt of a step as far as it is in the records.
func (s *State) taskOf(i int) string {
	parts, err := s.prompt(i)
	if err != nil {
		return string(s.prog.Steps[i].ID)
	}
	var text string
	for _, p := range parts {
		var piece string
		if p.Inline() && json.Unmarshal(p.JSON, &piece) == nil {
			text += piece
		} else if p.Inline() {
			text += string(p.JSON)
		} else {
			text += "[a value that is too long for this place]"
		}
	}
	return text
}

// fails lists what fails in a step, as far as its words show it.
func (s *State) fails(i int) []string {
	st := &s.steps[i]
	switch {
	case verdict.Spoke(st.verify) && st.verify.Exit != 0:
		return verdict.Failing(st.verify.Tail)
	case st.main != nil && st.main.Agent == nil:
		return verdict.Failing(st.main.Tail)
	}
	return nil
}

// access are the ranks of what a profile may do.
var access = map[string]int{"": 1, "read": 0, "edit": 1, "full": 2}

// covering are the roles that may do what was denied, and no less than the
// present one otherwise.
func (s *State) covering(i int, denied []string) []recovery.Role {
	if len(denied) == 0 && s.steps[i].failure.Class != belay.ClassPermission {
		return nil
	}
	has := s.profile(i)
	var roles []recovery.Role
	for name, p := range s.tree.started.Roles {
		if recovery.Role(name) == s.role(i) || access[p.Access] < access[has.Access] {
			continue
		}
		tools := len(denied) > 0 && !slices.ContainsFunc(denied, func(t string) bool { return !slices.Contains(p.Tools, t) })
		if slices.Contains(s.tree.started.Toolless, cmp.Or(p.Agent, s.ownAgent(i))) {
			tools = false // they would do nothing for who takes it over
		}
		if access[p.Access] > access[has.Access] || tools {
			roles = append(roles, recovery.Role(name))
		}
	}
	slices.Sort(roles)
	return roles
}

// mayRecover tells whether an agent may be asked to finish a sub-recipe: not
// when it is switched off, and not where there was nothing to recover from.
func (s *State) mayRecover(i int) bool {
	st := &s.steps[i]
	if s.recoveryMode(i) == "off" || !s.tree.started.Agents || st.main == nil || st.main.Child == nil {
		return false
	}
	if st.main.KilledBy == fault.KilledCancel || st.main.KilledBy == fault.KilledStop {
		return false
	}
	if s.refusedBelow(i) {
		return false
	}
	f := s.rootCause(i)
	return f == nil || f.Rule != belay.RulePerson && f.Rule != ruleEnds && f.Kind != belay.RecursionLimit && f.Class != belay.ClassBudget && f.Class != belay.ClassCancelled
}

// refusedBelow tells whether an agent was asked about the same failure one level
// below, and could do nothing.
func (s *State) refusedBelow(i int) bool {
	child := s.tree.runs[s.steps[i].last]
	if child == nil {
		return false
	}
	for k := range child.steps {
		c := &child.steps[k]
		if c.phase != Failed || child.prog.Steps[k].Optional {
			continue
		}
		if slices.ContainsFunc(c.past, func(p recovery.Past) bool { return p.Act == belay.ActRecover }) || child.refusedBelow(k) {
			return true
		}
	}
	return false
}

// rootCause is the failure at the bottom of a failed sub-recipe, nil when
// nothing in it failed: what is no ground for a recovery there is none above.
func (s *State) rootCause(i int) *belay.Failure {
	child := s.tree.runs[s.steps[i].last]
	if child == nil || s.steps[i].main.Child == nil {
		return nil
	}
	for k := range child.steps {
		c := &child.steps[k]
		if c.phase != Failed || child.prog.Steps[k].Optional {
			continue
		}
		if c.main != nil && c.main.Child != nil {
			if f := child.rootCause(k); f != nil {
				return f
			}
		}
		return c.failure
	}
	return s.steps[i].main.Child.Failure
}

// recoveryMode is on, off or classic: the step's word, the recipe's, the run's.
func (s *State) recoveryMode(i int) string {
	for _, mode := range []string{s.prog.Steps[i].Recovery, s.ownWord(s.prog.Recovery), s.tree.started.Recovery} {
		if mode != "" {
			return mode
		}
	}
	return "on"
}
