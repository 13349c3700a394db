package flow

import (
	"encoding/json"

	"github.com/belay-run/belay/effect"
)

// callJob makes a job the call of a function. The hand fills in its inputs: the
// values may be too big to be in the records.
func (s *State) callJob(j *effect.Job, i int) {
	def, c := &s.prog.Steps[i], s.scope(i)
	j.Call = &effect.CallJob{Name: def.Call, With: make(map[string]json.RawMessage, len(def.With)), Lenient: c.compat}
	var names []string
	for n := range def.With {
		a := &def.With[n]
		j.Call.With[a.Name] = a.Template()
		for _, t := range a.Texts() {
			names = append(names, t.Names()...)
		}
	}
	j.Vars, j.Output = c.pick(names), true
}

// inputsRender tells whether the inputs of a function have values, as far as these
// are in the records.
func (s *State) inputsRender(i int, c *scope) error {
	def := &s.prog.Steps[i]
	for n := range def.With {
		a := &def.With[n]
		big := false
		for _, t := range a.Texts() {
			big = big || c.big(t.Names())
		}
		if big {
			continue
		}
		if _, err := s.argumentOf(i, c, a, "with "+a.Name); err != nil {
			return err
		}
	}
	return nil
}
