package flow

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/fault"
)

// inFull tells whether a round is done, and nothing of it is missing.
func (s *State) inFull(j int) bool {
	st := &s.steps[j]
	return st.phase == Done && (st.verdict == nil || !st.verdict.Partial)
}

// roundOutputs are the results of a round by their names; output is what a bash or
// agent step printed.
func (s *State) roundOutputs(j int) map[string]belay.Value {
	def, o := &s.prog.Steps[j], s.produced(j)
	all := map[string]belay.Value{}
	if o == nil {
		return all
	}
	maps.Copy(all, o.Outputs)
	if o.Output != nil {
		all["output"] = *o.Output
	}
	if o.Child == nil {
		return all
	}
	maps.Copy(all, o.Child.Outputs)
	if !def.Type.Child() && def.Output != "" { // done in parts
		v, _ := resultOf(o.Child, def.Output)
		delete(all, def.Output)
		all["output"] = v
	}
	return all
}

// roundValues are what the next round reads of a round: its results, and how it
// ended where no result has that name.
func (s *State) roundValues(j int) map[string]belay.Value {
	st := &s.steps[j]
	all := map[string]belay.Value{
		"ok": {JSON: json.RawMessage(strconv.FormatBool(s.inFull(j)))}, "status": belay.Text(string(s.roundStatus(j))), "failure": belay.Text(""),
	}
	if st.phase == Failed && st.failure != nil {
		all["failure"] = belay.Text(belay.Plain(st.failure.Error()))
	}
	maps.Copy(all, s.roundOutputs(j))
	return all
}

// roundStatus is what a round amounts to.
func (s *State) roundStatus(j int) belay.Status {
	st := &s.steps[j]
	switch {
	case s.inFull(j):
		return belay.Achieved
	case st.phase != Failed:
		return belay.Partial
	}
	if o := st.main; o != nil && o.Child != nil && o.KilledBy == fault.KilledNot && s.prog.Steps[j].Type.Child() {
		return o.Child.Status // also one that its recipe gave
	}
	return s.failedOutcome(j).Status
}

// gave is what a round gave as one value; nil with why it cannot be one, or
// without while nobody was asked.
func (s *State) gave(j int) (v *belay.Value, problem string) {
	values := s.roundValues(j)
	big := false
	for _, v := range values {
		big = big || !v.Inline()
	}
	switch a := s.steps[j].round.value; {
	case !big:
		all := gathered(values)
		return &all, ""
	case a == nil:
		return nil, ""
	default:
		return a.Value, a.Error
	}
}

// alike tells whether a round gave the same as another and left the same files.
// What nobody could see counts as different.
func (s *State) alike(a, b int) bool {
	x, y := &s.steps[a], &s.steps[b]
	if x.phase != y.phase || !sameTree(x.round.tree, y.round.tree) {
		return false
	}
	if x.phase == Failed && (x.failure == nil || y.failure == nil || x.failure.Kind != y.failure.Kind || x.failure.Print != y.failure.Print) {
		return false
	}
	return maps.EqualFunc(s.roundOutputs(a), s.roundOutputs(b), func(v, w belay.Value) bool {
		return v.Sha == w.Sha && bytes.Equal(v.JSON, w.JSON)
	})
}

func sameTree(a, b *effect.AnswerLook) bool {
	if a == nil || b == nil || a.Seen == nil || b.Seen == nil {
		return false
	}
	x, y := &a.Seen.After, &b.Seen.After
	return usable(x) && usable(y) && x.Tree == y.Tree && x.Head == y.Head
}

// hidesSome tells whether a secret was hidden in what a round gave.
func (s *State) hidesSome(j int) bool {
	o := s.produced(j)
	return o != nil && len(o.Hidden) > 0
}

// endRounds ends a run that is rounds: the results of the last one are its own,
// and its output says what all of them gave.
func (s *State) endRounds(room int) command {
	j := s.lastRound(len(s.steps))
	if s.cancel != nil || j < 0 {
		return runEnd{Result: s.outcome()}
	}
	if s.failing {
		r := s.failedOutcome(j)
		r.Outputs = s.boundAfter(j)
		return runEnd{Result: r}
	}
	how, why, c := s.over(j)
	if c != nil && room < 0 || how == stopNot && why != "" {
		return nil // it comes to rest, or an answer is awaited
	}
	if c != nil {
		return c
	}
	r := s.roundsOutcome(how, why, j)
	r.Outputs = s.boundAfter(j)
	if s.rounds.def.Output == "" || how == stopError {
		return runEnd{Result: r}
	}
	return s.endObjectOf(r, how, j, room)
}

// boundAfter are the variables that the last round sets for the steps that follow.
func (s *State) boundAfter(j int) map[string]belay.Value {
	all := s.roundOutputs(j)
	if !s.rounds.def.Type.Child() {
		delete(all, "output") // it is in the object
	}
	return all
}

// endObjectOf ends the run with the object of all rounds among its outputs.
func (s *State) endObjectOf(r belay.RunResult, how stop, j, room int) command {
	pieces := make([]effect.Piece, 0, j+1)
	for k := 0; k <= j; k++ {
		pieces = append(pieces, effect.Piece{Object: s.roundValues(k)})
	}
	object := s.roundValues(j)
	object["round"] = belay.Value{JSON: json.RawMessage(strconv.Itoa(j + 1))}
	object["stopped"] = belay.Text(string(how))
	list := small(pieces)
	switch {
	case list != nil:
	case s.listed == nil && room < 0:
		return nil // it comes to rest; asked when it goes on
	case s.listed == nil:
		return effect.Ask{Key: s.listKey(), Question: effect.AskList{Object: object, Pieces: pieces, As: "rounds"}}
	case s.listed.Value == nil:
		return runEnd{Result: tooMuch("output "+s.rounds.def.Output, s.listed.Error)}
	default:
		r.Outputs[s.rounds.def.Output] = *s.listed.Value
		return runEnd{Result: r}
	}
	object["rounds"] = *list
	r.Outputs[s.rounds.def.Output] = gathered(object)
	return runEnd{Result: r}
}

// hiddenRounds are the outputs of rounds in which something was hidden.
func (s *State) hiddenRounds() []string {
	var names []string
	for j := range s.steps {
		if !s.hidesSome(j) {
			continue
		}
		names = append(names, slices.DeleteFunc(slices.Clone(s.produced(j).Hidden), func(n string) bool { return n == effect.Stdout })...)
		if s.rounds.def.Output != "" {
			names = append(names, s.rounds.def.Output)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
