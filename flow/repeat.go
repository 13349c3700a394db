package flow

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/expr"
	"github.com/belay-run/belay/recipe"
	"github.com/belay-run/belay/verdict"
)

// rounds is a run that is the rounds of a repeat step: as many steps as there may
// be rounds, one after the other. Those that come after the end are not taken.
type rounds struct {
	def *recipe.Step // as its recipe has it

	at   int // the round that seen is the context of
	seen *scope
}

// roundFacts is what was asked about a round that is over.
type roundFacts struct {
	value *effect.AnswerList // what it gave, where that is too big for the records
	truth *effect.AnswerCond // of until, for the same reason
	tree  *effect.AnswerLook // the state of the files that it left
}

// stop is how rounds end.
type stop string

const (
	stopNot     stop = ""
	stopUntil   stop = "until"       // the condition holds
	stopMax     stop = "max"         // there are no more rounds
	stopSame    stop = "no_progress" // a round gave the same as the one before, and left the same files
	stopLeftOut stop = "left_out"    // a person left a round out
	stopError   stop = "error"       // nobody can say whether the condition holds
)

// roundsOf is the recipe of the rounds of a step: the same step again and again,
// with nothing around it. What may fail, who is asked and what is done instead
// concern all of them together.
func roundsOf(prog *recipe.Recipe, def *recipe.Step) *recipe.Recipe {
	c := *prog
	c.Hooks, c.Rules, c.Ends, c.AllowEmpty, c.Isolate = recipe.Hooks{}, nil, nil, true, false // they work where the step does
	c.Steps = make([]recipe.Step, def.Repeat.Max)
	for k := range c.Steps {
		item := *def
		item.ID = belay.Path("round-" + strconv.Itoa(k+1))
		item.Needs = nil
		if k > 0 {
			item.Needs = []int{k - 1}
		}
		item.Condition, item.Tags, item.Group = nil, nil, ""
		item.Repeat, item.Optional, item.Escalate, item.Cure, item.Fallback, item.Isolate = nil, false, false, false, nil, recipe.IsolateUnsaid
		c.Steps[k] = item
	}
	return &c
}

// startRounds begins the rounds of a step as a child run. One that was cut off
// goes on with the round that it was in; after an end of all rounds new ones
// begin, with what the last of the old ones gave.
func (s *State) startRounds(i int) command {
	def, st := &s.prog.Steps[i], &s.steps[i]
	n := st.attempt + 1
	key := s.mainKey(i, n)
	started := event.AttemptStarted{Key: key, Path: def.ID, Role: belay.RoleMain, Attempt: n}
	prior := s.tree.Run(st.prior)
	if s.goesOn(i, event.RunStarted{Recipe: s.started.Recipe, Repeat: def.ID}) && (prior.failing || prior.left > 0) {
		started.Child = st.prior
		return startRun{Started: started, Reopen: true}
	}
	e := event.RunStarted{
		Name: s.prog.Name, Recipe: s.started.Recipe, File: s.prog.File, Repeat: def.ID, Dir: s.root(i), Hidden: s.hiddenDown(i),
	}
	if prior != nil && prior.rounds != nil && !s.tree.anew {
		if last := prior.lastRound(len(prior.steps)); last >= 0 {
			if v, _ := prior.gave(last); v != nil {
				e.Vars = map[string]belay.Value{recipe.LastVar: *v}
			}
		}
	}
	started.Child = s.id.Child(def.ID, n)
	return startRun{Started: started, Child: s.below(key, e)}
}

// ofStep tells whether the run is the items or the rounds of one step: no level
// of recipes, and nothing that is counted among nested steps.
func (s *State) ofStep() bool { return s.each != nil || s.rounds != nil }

// nesting is how many recipes called each other to come here.
func (s *State) nesting() int {
	n := s.id.Depth()
	if s.tree == nil {
		return n
	}
	for up := s; up != nil; up = s.tree.runs[s.tree.parents[up.id].run] {
		if up.ofStep() || up.started.Finally {
			n--
		}
	}
	return n
}

// inRound is the context of a round: its number, and what the one before gave.
func (s *State) inRound(n int, last belay.Value, hidden bool) *scope {
	c := s.vars.with(recipe.RoundVar, belay.Value{JSON: json.RawMessage(strconv.Itoa(n))}).with(recipe.LastVar, last)
	if hidden {
		c.hidden[recipe.LastVar] = s.rounds.def.ID
	}
	return c
}

// roundScope is the context of the step that is round i.
func (s *State) roundScope(i int) *scope {
	r := s.rounds
	if r.seen == nil || r.at != i {
		last, hidden := belay.Value{JSON: json.RawMessage("{}")}, false
		if v, given := s.started.Vars[recipe.LastVar]; given && i == 0 {
			last = v
		}
		if i > 0 {
			if v, _ := s.gave(i - 1); v != nil {
				last = *v
			}
			hidden = s.hidesSome(i - 1)
		}
		if c := s.inRound(i+1, last, hidden); i == 0 || s.steps[i-1].phase.settled() {
			r.at, r.seen = i, c
		} else {
			return c
		}
	}
	return r.seen
}

// lastRound is the last round before one that was not left alone, -1 for none.
func (s *State) lastRound(before int) int {
	for j := before - 1; j >= 0; j-- {
		if st := &s.steps[j]; st.phase.settled() && st.phase != NotTaken {
			return j
		}
	}
	return -1
}

// nextRound says whether a round is taken; the second result tells that an answer
// is awaited.
func (s *State) nextRound(i int) (command, bool) {
	if i == 0 || s.steps[i].taken {
		return nil, false
	}
	j := s.lastRound(i)
	how, why, c := s.over(j)
	switch {
	case c != nil:
		return c, true
	case how == stopNot && why != "":
		return nil, true
	case how == stopNot:
		return nil, false
	}
	return note{Event: event.StepNotTaken{Path: s.prog.Steps[i].ID, Why: why}}, false
}

// awaited stands for why nobody knows yet whether rounds are over.
const awaited = "an answer is awaited"

// over says how the rounds end with round j, which is settled; a command asks for
// what has to be known for that.
func (s *State) over(j int) (how stop, why string, c command) {
	if s.steps[j].phase == Skipped {
		return stopLeftOut, fmt.Sprintf("round %d was left out", j+1), nil
	}
	v, problem := s.gave(j)
	if v == nil && problem == "" {
		key := s.roundKey(j, belay.TopicList)
		if s.wanted.keys[key] {
			return stopNot, awaited, nil
		}
		return stopNot, "", effect.Ask{Key: key, Question: effect.AskList{Object: s.roundValues(j)}}
	}
	if v == nil {
		return stopError, fmt.Sprintf("what round %d gave: %s", j+1, problem), nil
	}
	holds, why, c := s.untilHolds(j, *v)
	switch {
	case c != nil || why == awaited:
		return stopNot, why, c
	case why != "":
		return stopError, why, nil
	case holds && s.rounds.def.Repeat.Until == nil:
		return stopUntil, fmt.Sprintf("round %d is done", j+1), nil
	case holds:
		return stopUntil, fmt.Sprintf("after round %d it holds: %s", j+1, s.rounds.def.Repeat.Until), nil
	case j+1 == len(s.steps):
		return stopMax, fmt.Sprintf("all %d rounds are used up", len(s.steps)), nil
	}
	if s.steps[j].round.tree == nil {
		key := s.roundKey(j, belay.TopicLook)
		if s.wanted.keys[key] {
			return stopNot, awaited, nil
		}
		dir, _ := s.dir(j) // it had one when it started
		return stopNot, "", effect.Ask{Key: key, Question: effect.AskLook{Dir: dir}}
	}
	if j > 0 && s.alike(j-1, j) {
		return stopSame, fmt.Sprintf("round %d gave the same as round %d, and no file changed", j+1, j), nil
	}
	return stopNot, "", nil
}

// untilHolds tells whether the condition is true after round j; why says why
// nobody knows.
func (s *State) untilHolds(j int, last belay.Value) (holds bool, why string, c command) {
	until := s.rounds.def.Repeat.Until
	if until == nil {
		return s.inFull(j), "", nil
	}
	sc := s.inRound(j+1, last, s.hidesSome(j))
	names := until.Names()
	for _, name := range names {
		if by := sc.hidden[name]; by != "" {
			return false, fmt.Sprintf("until reads %s, and step %s printed a secret there, which was hidden", name, by), nil
		}
	}
	if !sc.big(names) {
		holds, err := until.Truth(sc.lookup())
		if err != nil {
			return false, s.noUntil(err), nil
		}
		return holds, "", nil
	}
	a, key := s.steps[j].round.truth, s.roundKey(j, belay.TopicCond)
	switch {
	case a == nil && s.wanted.keys[key]:
		return false, awaited, nil
	case a == nil:
		return false, "", effect.Ask{Key: key, Question: effect.AskCond{Cond: until.String(), Vars: sc.pick(names), Lenient: sc.compat}}
	case a.Error != "":
		return false, s.noUntil(noTruth(a)), nil
	}
	return a.OK, "", nil
}

// noUntil says where and why until has no answer.
func (s *State) noUntil(err error) string {
	def := s.rounds.def
	p := def.Repeat.UntilAt(max(expr.Column(err), 1))
	at := belay.Place{File: def.Where(s.prog), Line: p.Line, Col: p.Col}
	return (&unfilled{at: at, what: "until: " + def.Repeat.Until.String(), err: err}).Error()
}

// roundKey names a question about a round that is over.
func (s *State) roundKey(j int, about belay.Topic) belay.Key {
	if about == belay.TopicList { // of a step: it has no attempt in it
		return belay.KeyParts{Run: s.id, Path: s.prog.Steps[j].ID, Topic: about}.Key()
	}
	return s.mainKey(j, s.steps[j].attempt).About(about)
}

// roundAnswered keeps the answer to a question about a round that is over.
func (s *State) roundAnswered(k belay.Key, a effect.Answer) bool {
	p, ok := belay.ParseKey(k)
	if !ok || s.rounds == nil {
		return false
	}
	j, ok := s.index[p.Path]
	if !ok || !s.steps[j].phase.settled() || k != s.roundKey(j, p.Topic) {
		return false
	}
	facts := &s.steps[j].round
	switch a := a.(type) {
	case effect.AnswerList:
		facts.value = &a
	case effect.AnswerCond:
		facts.truth = &a
	case effect.AnswerLook:
		facts.tree = &a
	default:
		return false
	}
	return true
}

// endsRounds tells whether a failed round is the last one: the next would meet
// the same, until the machine is mended or a person acts.
func (s *State) endsRounds(i int) bool {
	st := &s.steps[i]
	if st.attempt == 0 || st.declared || failureCode(st) == exit.Infra {
		return true // it never began, a person said so, or the machine failed
	}
	f := st.failure
	if below := s.rootCause(i); below != nil {
		f = below
	}
	endless := []belay.Class{belay.ClassAuth, belay.ClassQuota, belay.ClassBudget, belay.ClassCancelled} // another round meets the same
	return slices.Contains(endless, f.Class) || f.Rule == belay.RulePerson || f.Kind == belay.Infrastructure || f.Kind == belay.RecursionLimit
}

// roundsOutcome is the status that the rounds amount to.
func (s *State) roundsOutcome(how stop, why string, j int) belay.RunResult {
	st := &s.steps[j]
	switch {
	case how == stopError:
		f := verdict.Refused(belay.Failure{Kind: belay.RecipeFailure, Op: "repeat", Cause: why})
		return belay.RunResult{Status: belay.Failed, Code: exit.Failed, Reason: f.Cause, Failure: &f}
	case how == stopSame:
		f := s.unfulfilled(why, "change what the rounds work on, or say what is different now, then resume the run")
		return belay.RunResult{Status: belay.Stalemate, Code: exit.Stalemate, Reason: why, Failure: f}
	case st.phase == Failed:
		return s.failedOutcome(j)
	case how == stopUntil && !s.inFull(j), how == stopLeftOut:
		return belay.RunResult{Status: belay.Partial, Code: exit.Partial, Reason: s.partly(j)}
	case how == stopUntil:
		return belay.RunResult{Status: belay.Achieved, Code: exit.OK}
	}
	why += ", and it never held: " + s.untilText()
	return belay.RunResult{Status: belay.Failed, Code: exit.Failed, Reason: why, Failure: s.unfulfilled(why, "give it more rounds with repeat: {max: …}, or look at what each gave")}
}

// untilText is the condition in words.
func (s *State) untilText() string {
	if until := s.rounds.def.Repeat.Until; until != nil {
		return until.String()
	}
	return "a round that is done in full"
}

// unfulfilled is the failure of rounds that did not come to what they are for.
func (s *State) unfulfilled(why, hint string) *belay.Failure {
	return &belay.Failure{
		Kind: belay.RecipeFailure, Class: belay.ClassWorkFailure, Op: "repeat", Cause: why, Hint: hint,
		Level: belay.LevelAct, Rule: "act.rounds", Move: belay.ActEscalate,
	}
}

// Standstill is what a tree whose rounds came to a standstill was left with: the
// directory that they work in, and the state of its files. ok is false for one that
// ended in another way, and once a person has cleared its attempts.
func (t *Tree) Standstill() (dir string, left belay.TreeState, ok bool) {
	root := t.runs[t.root]
	if root == nil || root.result == nil || root.result.Status != belay.Stalemate || t.pardoned {
		return "", belay.TreeState{}, false
	}
	s, a := t.stuckRounds()
	switch {
	case s == nil:
		return root.started.Dir, left, true
	case a == nil:
		return "", left, false // new rounds read what the last one gave, and can say the same again
	case a.Seen != nil:
		left = a.Seen.After
	}
	dir, _ = s.dir(s.lastRound(len(s.steps))) // it had one when it started
	return dir, left, true
}

// StuckRound is the round in which rounds came to a standstill, and how many there
// may be, with the run of all of them; 0 where none did.
func (t *Tree) StuckRound() (of belay.RunID, round, most int) {
	s, _ := t.stuckRounds()
	if s == nil {
		return "", 0, 0
	}
	return s.id, s.lastRound(len(s.steps)) + 1, len(s.steps)
}

// EndedByRounds tells whether rounds ended in a stalemate because they said so
// themselves, and not because two of them were the same.
func (t *Tree) EndedByRounds() bool {
	s, a := t.stuckRounds()
	return s != nil && a == nil
}

// stuckRounds are the last rounds that ended in a stalemate, with the look at their
// files that shows that nothing changed; no look where their recipe ended them.
func (t *Tree) stuckRounds() (*State, *effect.AnswerLook) {
	for _, s := range slices.Backward(t.born) {
		if s.rounds != nil && s.result != nil && s.result.Status == belay.Stalemate {
			return s, s.steps[s.lastRound(len(s.steps))].round.tree
		}
	}
	return nil, nil
}

// Moot tells whether nothing follows from how a step stands: a round that failed
// and was followed by another, or one that was not needed.
func (s *State) Moot(p belay.Path) bool {
	i, ok := s.index[p]
	if !ok || s.rounds == nil {
		return false
	}
	ph := s.steps[i].phase
	return ph == NotTaken || ph == Failed && i < s.lastRound(len(s.steps))
}
