package flow

import (
	"fmt"
	"slices"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/recipe"
	"github.com/belay-run/belay/recovery"
)

// story is what the records alone say of one step. It shares nothing with the
// fold.
type story struct {
	def     *recipe.Step // nil = an item, a part or a fallback: required
	ending  string       // how it was settled last
	may     bool         // something allows its next start
	begun   int
	own     int // attempts that people granted
	clears  int
	plans   int // decisions of a policy
	lost    int // times that it, its check or its helper was lost
	agent   string
	fails   []fail
	turns   map[string]map[string]bool // fingerprint to agents that had their turn
	roles   map[string]map[string]bool // and to roles
	check   *effect.Observation
	main    *effect.Observation
	expects belay.Expect
	looked  *belay.Evidence // since the base of its lost attempt
	apart   bool            // it works in a tree of its own
	merging bool            // its work is to be merged
}

// fail is one failure of a step.
type fail struct{ mark, agent, left string }

// checker goes through records and says where they break a promise.
type checker struct {
	h       *history
	stories map[belay.Key]*story // run:path
	runs    map[belay.RunID]event.RunStarted
	replans int
	starts  int
	pardons int
	budget  int               // how often it was given back
	allowed map[belay.Key]int // agents that may start, by the budget that they are of
	found   []string
}

func (t *checker) say(r event.Record, format string, args ...any) {
	t.found = append(t.found, fmt.Sprintf("record %d: ", r.Seq)+fmt.Sprintf(format, args...))
}

// tell reads all records of a history.
func tell(h *history) *checker {
	t := &checker{h: h, stories: map[belay.Key]*story{}, runs: map[belay.RunID]event.RunStarted{}, allowed: map[belay.Key]int{}}
	for _, r := range h.recs {
		t.record(r)
	}
	return t
}

// of is the story of a step.
func (t *checker) of(run belay.RunID, p belay.Path) *story {
	k := belay.Key(run) + ":" + belay.Key(p)
	if t.stories[k] == nil {
		t.stories[k] = &story{turns: map[string]map[string]bool{}, roles: map[string]map[string]bool{}, def: t.def(run, p), may: true}
	}
	return t.stories[k]
}

// def is what the recipe says of a step, nil for what is no step of it.
func (t *checker) def(run belay.RunID, p belay.Path) *recipe.Step {
	e := t.runs[run]
	if e.Each != "" || e.Split != "" || e.Stand != "" {
		return nil
	}
	prog := t.h.lib.Recipes[e.Recipe]
	for i := range prog.Steps {
		if prog.Steps[i].ID == p {
			return &prog.Steps[i]
		}
	}
	return nil
}

func pathOf(k belay.Key) (belay.Path, bool) {
	_, text, _ := strings.Cut(string(k), ":")
	text = text[:strings.LastIndexByte(text, '.')]
	p, role, aside := strings.Cut(text, "@")
	return belay.Path(p), !aside || role == ""
}

func (t *checker) record(r event.Record) {
	switch e := r.Event.(type) {
	case event.RunStarted:
		t.runs[r.Run] = e
	case event.RunReopened:
		t.reopened(r)
	case event.RunCleared:
		t.cleared(r, e)
	case event.AttemptStarted:
		t.started(r, e)
	case event.AttemptFound:
		t.foundAgain(r, e)
	case event.AttemptEnded:
		t.ended(r, e)
	case event.AttemptJudged:
		t.judged(r, e)
	case event.RecoveryChosen:
		t.chosen(r, e)
	case event.StepNotTaken:
		t.of(r.Run, e.Path).ending = "not taken"
	case event.StepSkipped:
		t.of(r.Run, e.Path).ending = "skipped"
	case event.StepRefused:
		t.of(r.Run, e.Path).ending = "refused"
	case event.ItemOpened:
		t.of(r.Run, e.Path).ending = "held"
	case event.ItemAnswered:
		t.answered(r, e)
	case event.AnswerGiven:
		k, _, _ := strings.Cut(string(e.Key), "?")
		switch a := e.Answer.(type) {
		case effect.AnswerAgent:
			if a.OK {
				t.allowed[belay.Key(k)] = t.budget
			}
		case effect.AnswerLook:
			if k == string(r.Run)+":" { // at the user's checkout
				break
			}
			p, _ := pathOf(belay.Key(k))
			t.of(r.Run, p).looked = a.Seen
		case effect.AnswerWorktree:
			if a.Merge {
				t.of(r.Run, belay.Path(strings.TrimPrefix(k, string(r.Run)+":"))).apart = true
			}
		}
	case event.RunEnded:
		if e.Code == exit.OK || e.Status == belay.Achieved {
			t.achieved(r)
		}
	}
}

func (t *checker) reopened(r event.Record) {
	for k, s := range t.stories {
		if runOf(k) == r.Run {
			s.may, s.own = true, s.own+1
		}
	}
}

func (t *checker) cleared(r event.Record, e event.RunCleared) {
	switch e.What {
	case event.CountBudget:
		t.pardons -= min(t.pardons, max(0, t.starts-t.runs["r"].Limits.Starts())) // what a person allowed and nobody used is still allowed
		t.replans, t.starts, t.budget = 0, 0, t.budget+1
	case event.CountAttempts:
		for k, s := range t.stories {
			if runOf(k) == r.Run && (e.Path == "" || k == belay.Key(r.Run)+":"+belay.Key(e.Path)) {
				s.clears, s.fails = s.clears+1, nil
				clear(s.turns)
				clear(s.roles)
			}
		}
	case event.CountBreakers:
	}
}

// started holds promise 7 (starts are within the budget) and 8 (nothing starts
// again by itself).
func (t *checker) started(r event.Record, e event.AttemptStarted) {
	if of, ok := t.allowed[e.Key]; e.Agent != "" && (!ok || of == t.budget) { // else it is of a budget before
		t.starts++
		if most := t.runs["r"].Limits.Starts() + t.pardons; t.starts > most {
			t.say(r, "%s is agent start %d; %d are allowed", e.Key, t.starts, most)
		}
	}
	s := t.of(r.Run, e.Path)
	switch e.Role {
	case belay.RoleVerify:
		s.check = nil
	case belay.RoleMain:
		if !s.may {
			t.say(r, "%s starts, and nothing was chosen, answered or reopened before it", e.Key)
		}
		s.may, s.agent, s.main, s.check, s.looked = false, e.Agent, nil, nil, nil
		s.begun++
		s.expects = ""
		if j := t.h.jobs[e.Key]; j.Agent != nil {
			s.expects = j.Agent.Expect
		}
		if s.merging {
			t.say(r, "%s starts, and the work before it is not merged", e.Key)
		}
	case belay.RoleMerge:
		if !s.merging {
			t.say(r, "%s starts, and there is nothing to be merged", e.Key)
		}
	case belay.RoleHook, belay.RoleRepair, belay.RolePlan, belay.RoleRecovery:
	}
}

func (t *checker) foundAgain(r event.Record, e event.AttemptFound) {
	p, main := pathOf(e.Key)
	s := t.of(r.Run, p)
	switch e.How {
	case fault.Unborn:
		s.may = s.may || main
		if of, ok := t.allowed[e.Key]; t.h.jobs[e.Key].Agent != nil && (!ok || of == t.budget) {
			t.starts--
		}
	case fault.Lost:
		s.lost++
	case fault.Adopted, fault.Harvested:
	}
}

func (t *checker) ended(r event.Record, e event.AttemptEnded) {
	p, main := pathOf(e.Key)
	o := e.Observation
	switch {
	case main:
		t.of(r.Run, p).main = &o
	case strings.Contains(string(e.Key), "@verify."):
		t.of(r.Run, p).check = &o
	}
}

// judged keeps what was judged, and holds that nothing is called done against
// what was seen.
func (t *checker) judged(r event.Record, e event.AttemptJudged) {
	p, main := pathOf(e.Key)
	s, v := t.of(r.Run, p), e.Verdict
	check := strings.Contains(string(e.Key), "@verify.") // the run was opened again, and only its check was left to do
	if check && v.OK && !s.passed() {
		t.say(r, "called done, and its check did not pass")
	}
	last := main || check || strings.Contains(string(e.Key), "@recovery.") || s.ending == "to be checked"
	switch {
	case strings.Contains(string(e.Key), "@merge.") && v.OK:
		s.ending, s.merging = "done", false
	case strings.Contains(string(e.Key), "@merge."):
		s.ending = "failed"
		s.fails = append(s.fails, fail{mark: v.Failure.Print, agent: s.agent})
		mark(s.turns, v.Failure.Print, s.agent)
	case v.OK && s.apart && !s.merging && last:
		s.ending, s.merging = "to be merged", true
	case v.OK && (v.Partial || slices.Contains(v.For, "recovered, unverified")):
		s.ending = "partial"
	case v.OK && last:
		s.ending = "done"
	case strings.Contains(string(e.Key), "@repair."): // the step itself shows whether it is mended
		s.may = true
	}
	if !main {
		return
	}
	s.may = v.GivenBack
	if v.OK {
		t.honest(r, s)
	}
	if v.Failure == nil {
		return
	}
	s.ending = "failed"
	f := fail{mark: v.Failure.Print, agent: s.agent}
	if s.main != nil && s.main.Agent != nil && s.main.Agent.Evidence.After.Tree != "" {
		f.left = s.main.Agent.Evidence.After.Tree
	}
	s.fails = append(s.fails, f)
	mark(s.turns, f.mark, f.agent)
}

func mark(m map[string]map[string]bool, failure, who string) {
	if m[failure] == nil {
		m[failure] = map[string]bool{}
	}
	if who != "" {
		m[failure][who] = true
	}
}

func (s *story) passed() bool {
	return s.check != nil && s.check.Began && s.check.Exit == 0 && s.check.Signal == 0 && s.check.Fault == ""
}

// honest looks for work that is not there.
func (t *checker) honest(r event.Record, s *story) {
	if s.def != nil && s.def.Verify != nil && s.def.Foreach == "" && !s.passed() {
		t.say(r, "called done, and its check did not pass")
	}
	if s.main == nil { // lost
		t.honestLost(r, s)
		return
	}
	if s.main.Agent == nil {
		return
	}
	ev := s.main.Agent.Evidence
	if s.expects == belay.ExpectChange && ev.Before == ev.After && len(ev.Commits) == 0 && s.begun == 1 {
		t.say(r, "called done without the change that it must make")
	}
	if s.main.Agent.Result.Error {
		t.say(r, "called done, and its agent told of an error")
	}
}

// honestLost holds that a lost attempt is called done only with all that its step
// owes: what it printed, or answered, nobody has, and a change must be seen.
func (t *checker) honestLost(r event.Record, s *story) {
	switch {
	case s.def == nil:
	case s.def.Output != "":
		t.say(r, "lost and called done, and nobody has its output")
	case s.expects == belay.ExpectAnswer:
		t.say(r, "lost and called done, and nobody has its answer")
	case s.expects == belay.ExpectChange && (s.looked == nil || s.looked.Before.Tree == s.looked.After.Tree):
		t.say(r, "lost and called done without the change that it must make")
	}
}

// chosen holds promises 1 to 3 about decisions.
func (t *checker) chosen(r event.Record, e event.RecoveryChosen) {
	s, p := t.of(r.Run, e.Path), e.Plan
	if p.Counts {
		if t.replans++; t.replans > t.runs["r"].Limits.Replans() {
			t.say(r, "recovery %d of %d", t.replans, t.runs["r"].Limits.Replans())
		}
	}
	if p.Policy != "" && p.Rule != "planned" {
		s.plans++
		if most := t.most(s, p.Policy); s.plans > most {
			t.say(r, "decision %d about step %s; %d are the most", s.plans, e.Path, most)
		}
	}
	switch p.Act {
	case belay.ActRetry, belay.ActResume, belay.ActFresh, belay.ActFailover, belay.ActReassign, belay.ActFallback, belay.ActRepair, belay.ActDecompose:
		s.may = true
	case belay.ActGiveUp, belay.ActAbort:
		s.ending = "given up"
	case belay.ActSkip, belay.ActHold, belay.ActRecover:
	}
	if p.Policy == "belay" {
		t.fair(r, s, p)
	}
}

// most is how many decisions one step may need.
func (t *checker) most(s *story, policy string) int {
	own := 0
	if s.def != nil {
		own = s.def.Retry.MaxAttempts - 1
	} else {
		own = 2
	}
	once := recovery.MaxDecisions + own
	if policy == "classic" {
		once = own + 3 + 2 + t.runs["r"].Limits.Replans()
	}
	return once*(1+s.clears) + 2*s.own
}

// fair holds that nobody has the same turn twice, and that nothing is tried a
// third time in the same way.
func (t *checker) fair(r event.Record, s *story, p belay.Plan) {
	switch p.Act {
	case belay.ActFailover:
		if s.turns[p.Print][p.Agent] {
			t.say(r, "agent %s had its turn at %s", p.Agent, p.Print)
		}
		mark(s.turns, p.Print, p.Agent)
	case belay.ActReassign:
		if s.roles[p.Print][p.Role] {
			t.say(r, "role %s had its turn at %s", p.Role, p.Print)
		}
		mark(s.roles, p.Print, p.Role)
	case belay.ActRetry:
		n := len(s.fails)
		if n < 2 || p.Rule == "retry" || p.Patient || s.agent == "" {
			return
		}
		a, b := s.fails[n-2], s.fails[n-1]
		if a.mark == b.mark && a.agent == b.agent && (b.left == "" || a.left == b.left) && p.Print == b.mark {
			t.say(r, "the same for the third time: %s", b.mark)
		}
	case belay.ActResume, belay.ActFresh, belay.ActRepair, belay.ActDecompose, belay.ActRecover, belay.ActFallback,
		belay.ActSkip, belay.ActGiveUp, belay.ActAbort, belay.ActHold:
	}
}

func (t *checker) answered(r event.Record, e event.ItemAnswered) {
	s := t.of(r.Run, e.Path)
	if s.ending = e.Choice; e.Check {
		s.ending = "to be checked"
	}
	if e.Choice == event.ChoiceDone && !e.Check {
		if s.merging = s.apart && !s.merging; s.merging {
			s.ending = "to be merged"
		}
	}
	if e.Choice == event.ChoiceAgain {
		s.may, s.own = true, s.own+1
		if strings.HasSuffix(e.ID, ".budget") {
			t.pardons++
		}
	}
}

// achieved holds promise 4: every required step was seen to be done.
func (t *checker) achieved(r event.Record) {
	e := t.runs[r.Run]
	if e.Each == "" && e.Split == "" && e.Stand == "" {
		prog := t.h.lib.Recipes[e.Recipe]
		for i := range prog.Steps {
			if t.stories[belay.Key(r.Run)+":"+belay.Key(prog.Steps[i].ID)] == nil {
				t.say(r, "achieved, and nothing is known of step %s", prog.Steps[i].ID)
			}
		}
	}
	for k, s := range t.stories {
		if runOf(k) != r.Run || strings.Contains(string(k), "@") || s.def != nil && s.def.Optional {
			continue
		}
		switch s.ending {
		case "done", "not taken":
		default:
			t.say(r, "achieved, and step %s is %q", k, s.ending)
		}
	}
}
