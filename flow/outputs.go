package flow

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/recipe"
)

// produced is the observation that holds what a step produced: its own, or that of
// its check, which read the files that a lost one had left.
func (s *State) produced(i int) *effect.Observation {
	if st := &s.steps[i]; !st.gone {
		return st.main
	}
	return s.steps[i].verify
}

// setOutputs binds what the step produced to its variables. What a step sets
// is seen by whatever starts after it was judged.
func (s *State) setOutputs(i int) {
	def, o := &s.prog.Steps[i], s.produced(i)
	if o == nil || s.ofStep() { // items and rounds are gathered at the end of all
		return
	}
	var names []string
	bind := func(name string, v belay.Value) {
		names = append(names, name)
		s.vars.set(name, v)
		s.outputs[name] = true
		if slices.Contains(o.Hidden, name) {
			s.vars.hidden[name] = def.ID
		}
	}
	if o.Child != nil {
		for _, name := range slices.Sorted(maps.Keys(o.Child.Outputs)) {
			v := o.Child.Outputs[name]
			if s.steps[i].nextAttempt.parts == nil || name == def.Output || slices.ContainsFunc(def.Outputs, func(o effect.OutputSpec) bool { return o.Name == name }) {
				bind(name, v)
			}
		}
	}
	if o.Child != nil && def.Type.Child() && s.oneChild(i) && def.Output != "" {
		v := objectOf(o.Child)
		if s.vars.compat {
			v = s.asTable(i, o.Child)
		}
		bind(def.Output, v)
		if len(o.Hidden) > 0 {
			s.vars.hidden[def.Output] = def.ID
		}
	}
	if o.Child != nil && (!def.Type.Child() || s.steps[i].nextAttempt.fallback) && s.oneChild(i) && def.Output != "" {
		if v, ok := resultOf(o.Child, def.Output); ok {
			bind(def.Output, v)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.Outputs)) {
		bind(name, o.Outputs[name])
	}
	if def.Output != "" && o.Output != nil {
		bind(def.Output, *o.Output)
		if slices.Contains(o.Hidden, effect.Stdout) {
			s.vars.hidden[def.Output] = def.ID
		}
	}
	s.forget(i, names)
}

// tellFailed binds why an optional step failed, for those that go on without it.
func (s *State) tellFailed(i int) {
	def, f := &s.prog.Steps[i], s.steps[i].failure
	if def.Failed == "" || f == nil || s.ofStep() {
		return
	}
	object := map[string]belay.Value{"kind": belay.Text(string(f.Kind)), "class": belay.Text(string(f.Class)), "rule": belay.Text(f.Rule), "text": belay.Text(f.Error())}
	if f.Agent {
		object["agent"] = belay.Value{JSON: json.RawMessage("true")}
	}
	s.vars.set(def.Failed, gathered(object))
	s.outputs[def.Failed] = true
}

// oneChild tells whether the last child run of a step is not its items or its
// rounds, which bring their output themselves.
func (s *State) oneChild(i int) bool {
	def := &s.prog.Steps[i]
	return def.Foreach == "" && (def.Repeat == nil || s.steps[i].nextAttempt.fallback || s.steps[i].nextAttempt.parts != nil)
}

// objectOf is what a child run gave, as one object.
func objectOf(r *belay.RunResult) belay.Value {
	if r.Object != nil {
		return *r.Object
	}
	return gathered(r.Outputs)
}

// asTable is what a child run gave as the older runner has it, a text that says how
// its steps ended; what they gave follows as JSON.
func (s *State) asTable(i int, r *belay.RunResult) belay.Value {
	var b strings.Builder
	fmt.Fprintf(&b, "Recipe '%s': SUCCESS", s.prog.Steps[i].Recipe)
	if child := s.tree.Run(s.steps[i].last); child != nil {
		for k := range child.steps {
			word := "skipped"
			if phase := child.steps[k].phase; phase == Done {
				word = "completed"
			} else if phase == Failed {
				word = "failed"
			}
			fmt.Fprintf(&b, "\n  [%s] %s", word, child.prog.Steps[k].ID)
		}
	}
	if all := gathered(r.Outputs); len(r.Outputs) > 0 {
		b.WriteString("\n" + string(all.JSON))
	}
	return belay.Text(b.String())
}

// gathered is what a child run gave, as one object; a value that is not in the
// records is left to its own name.
func gathered(outputs map[string]belay.Value) belay.Value {
	all := make(map[string]json.RawMessage, len(outputs))
	for name, v := range outputs {
		if v.Inline() {
			all[name] = v.JSON
		}
	}
	b, err := json.Marshal(all) // sorted by name
	if err != nil {             // every value was read as JSON
		return belay.Value{JSON: json.RawMessage("{}")}
	}
	return belay.Value{JSON: b}
}

// hiddenOut are the outputs of a run in which something was hidden.
func (s *State) hiddenOut() []string {
	if s.rounds != nil {
		return s.hiddenRounds()
	}
	var names []string
	for name := range s.vars.hidden {
		if s.outputs[name] {
			names = append(names, name)
		}
	}
	for i := range s.steps {
		if o := s.produced(i); s.each != nil && o != nil && slices.Contains(o.Hidden, effect.Stdout) {
			return []string{s.each.output}
		}
	}
	slices.Sort(names)
	return names
}

// hiddenFrom refuses a step that reads a value in which a secret was hidden:
// half a value would do harm in silence.
func (s *State) hiddenFrom(i int, names []string) command {
	for _, name := range names {
		if by := s.scope(i).hidden[name]; by != "" {
			return s.refuse(i, s.ownKind(i),
				fmt.Sprintf("it reads %s, and step %s printed a secret there, which was hidden; step %s would get a value with a hole in it",
					name, by, s.prog.Steps[i].ID),
				"name the secret under secrets: and read it where it comes from, or pass it on in a file outside the state directory")
		}
	}
	return nil
}

// reads are the variables that a step looks at once it is taken, as far as its
// text shows; none while nothing is hidden, because nobody else asks.
func (s *State) reads(def *recipe.Step) []string {
	if len(s.vars.hidden) == 0 && s.rounds == nil {
		return nil
	}
	var names []string
	for _, script := range []*recipe.Script{def.Script, def.Verify} {
		if script == nil {
			continue
		}
		for _, u := range script.Uses {
			names = append(names, u.Value.Names()...)
		}
		names = append(names, s.vars.mentioned(script.Text)...)
	}
	if def.Prompt != nil {
		names = append(names, def.Prompt.Names()...)
	}
	if def.Dir != nil {
		names = append(names, def.Dir.Names()...)
	}
	for _, a := range slices.Concat(def.Context, def.With) {
		for _, t := range a.Texts() {
			names = append(names, t.Names()...)
		}
	}
	if def.List() != "" {
		names = append(names, def.List())
	}
	return names
}

// leftOut tells whether the tags that the run was started with leave a step
// out. A step without tags is always in.
func (s *State) leftOut(def *recipe.Step) bool {
	if len(def.Tags) == 0 {
		return false
	}
	has := func(list []string) bool {
		return slices.ContainsFunc(list, func(t string) bool { return slices.Contains(def.Tags, t) })
	}
	return has(s.started.Exclude) || len(s.started.Include) > 0 && !has(s.started.Include)
}
