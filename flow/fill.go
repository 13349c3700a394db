package flow

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/expr"
	"github.com/belay-run/belay/recipe"
)

// textKey names the question for texts over values that are not in the records.
func (s *State) textKey(i int) belay.Key {
	return s.mainKey(i, s.steps[i].attempt+1).About(belay.TopicText)
}

// nextTexts asks for the texts of a step that only the hands can fill in, nil
// when there is none or they are known.
func (s *State) nextTexts(i int) command {
	def, st := &s.prog.Steps[i], &s.steps[i]
	c := s.scope(i)
	q := effect.AskText{Lenient: c.compat}
	var names []string
	for _, t := range textsOf(def) {
		_, known := st.filled[t.String()]
		if _, alone := t.Alone(); known || alone || !c.big(t.Names()) || slices.Contains(q.Texts, t.String()) {
			continue
		}
		q.Texts, names = append(q.Texts, t.String()), append(names, t.Names()...)
	}
	if def.List() != "" && st.list == nil && c.big([]string{def.List()}) {
		q.List, names = listText(def), append(names, def.List())
	}
	if len(q.Texts) == 0 && q.List == "" {
		return nil
	}
	if st.unheard != "" { // asked, and there is no answer
		return s.refuse(i, s.ownKind(i), st.unheard, "big values: give the script the file, $NAME_FILE")
	}
	q.Vars = c.pick(names)
	return effect.Ask{Key: s.textKey(i), Question: q}
}

// textsOf are the texts that must be filled in before a step starts.
func textsOf(def *recipe.Step) []*expr.Text {
	if def.Foreach != "" || def.Repeat != nil {
		return nil // what one item or round reads is its own business
	}
	var list []*expr.Text
	for _, script := range []*recipe.Script{def.Script, def.Verify} {
		if script == nil {
			continue
		}
		for _, u := range script.Uses {
			list = append(list, u.Value)
		}
	}
	for _, a := range def.Context {
		list = append(list, a.Texts()...)
	}
	if def.Prompt != nil && def.Type.Agent() {
		list = append(list, def.Prompt.Pieces()...)
	}
	return list
}

// listText is the text that gives the list of a foreach step as JSON.
func listText(def *recipe.Step) string { return "{{" + def.Foreach + " | json}}" }

// fillIn keeps the answer to textKey.
func (s *State) fillIn(i int, a effect.AnswerText) {
	st := &s.steps[i]
	if st.filled == nil {
		st.filled = map[string]effect.Filled{}
	}
	for text, f := range a.Texts {
		st.filled[text] = f
	}
	st.list, st.unheard = a.List, a.Error
}

// render is the value of a text of step i.
func (s *State) render(i int, c *scope, t *expr.Text) (belay.Value, error) {
	f, known := s.steps[i].filled[t.String()]
	switch {
	case !known:
		return c.render(t)
	case f.Problem != "":
		return belay.Value{}, &expr.Error{Col: max(f.Col, 1), Msg: f.Problem, Src: t.String()}
	}
	return f.Value, nil
}

// listOf is the list that a foreach step walks through; plain tells that it is a
// variable by itself, so that its child run has it anyway.
func (s *State) listOf(i int) (list json.RawMessage, plain bool, err error) {
	def, st := &s.prog.Steps[i], &s.steps[i]
	v, ok := s.vars.vars[def.List()]
	switch {
	case def.Items != nil:
		return def.Items, false, nil
	case st.list != nil:
		return st.list, false, nil
	case !ok:
		return nil, false, fmt.Errorf("no variable named %q", def.List())
	case def.Foreach == def.List():
		return v.JSON, true, nil
	}
	t, err := expr.ParseText(listText(def))
	if err != nil {
		return nil, false, err
	}
	text, err := t.Render(s.vars.texts())
	var known *expr.Error
	if errors.As(err, &known) {
		err = errors.New(known.Msg)
	}
	return json.RawMessage(text), false, err
}
