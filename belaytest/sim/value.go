package sim

import (
	"encoding/json"
	"fmt"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/expr"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/internal/output"
	"github.com/belay-run/belay/task"
)

// text is a text as a value: in the record, or beside it when it is big.
func (w *world) text(s string) belay.Value {
	if len(s) <= belay.MaxInline {
		return belay.Text(s)
	}
	sha := fmt.Sprintf("blob %d", len(w.blobs)+1)
	w.blobs[sha] = s
	return belay.Value{Sha: sha, Size: int64(len(s))}
}

// plain is a value as a script sees it.
func (w *world) plain(v belay.Value) string {
	if !v.Inline() {
		return w.blobs[v.Sha]
	}
	var s string
	if json.Unmarshal(v.JSON, &s) == nil {
		return s
	}
	return string(v.JSON)
}

// holds looks at a condition over values that are too big for the records.
func (w *world) holds(q effect.AskCond) effect.AnswerCond {
	var ok bool
	e, err := expr.Parse(q.Cond)
	if err == nil {
		ok, err = e.Truth(w.among(q.Vars))
	}
	return effect.AnswerCond{OK: ok, Error: problem(err)}
}

// fill puts such values into texts and a list.
func (w *world) fill(q effect.AskText) effect.AnswerText {
	a := effect.AnswerText{}
	for _, src := range q.Texts {
		s, err := render(src, w.among(q.Vars))
		if err != nil {
			a.Error = problem(err)
			return a
		}
		if a.Texts == nil {
			a.Texts = map[string]effect.Filled{}
		}
		a.Texts[src] = effect.Filled{Value: w.text(s)}
	}
	if q.List != "" {
		s, err := render(q.List, w.among(q.Vars))
		a.List, a.Error = json.RawMessage(s), problem(err)
	}
	a.OK = a.Error == ""
	return a
}

// call calls a function.
func (w *world) call(j effect.Job) effect.Observation {
	with := map[string]json.RawMessage{}
	for name, raw := range j.Call.With {
		var template any
		err := json.Unmarshal(raw, &template)
		if err == nil {
			template, err = expr.Fill(template, w.among(j.Vars), j.Call.Lenient)
		}
		if err == nil {
			with[name], err = json.Marshal(template)
		}
		if err != nil {
			return effect.Observation{Fault: fault.Input, Detail: problem(err), Exit: -1}
		}
	}
	out, err := task.Call(j.Call.Name, with)
	if err != nil {
		return effect.Observation{Fault: fault.Input, Detail: err.Error(), Exit: -1}
	}
	return effect.Observation{Began: true, Output: &belay.Value{JSON: out}}
}

// gather makes one value of many: a list of the pieces, or an object.
func (w *world) gather(q effect.AskList) effect.AnswerList {
	var all any = w.object(q.Object)
	if len(q.Pieces) > 0 {
		list := make([]any, len(q.Pieces))
		for i, p := range q.Pieces {
			switch {
			case p.Value != nil:
				list[i], _ = w.decoded(*p.Value)
			case p.Object != nil:
				list[i] = w.object(p.Object)
			}
		}
		all = list
		if q.As != "" {
			object := w.object(q.Object)
			object[q.As] = list
			all = object
		}
	}
	b, err := json.Marshal(all)
	v := w.text(string(b))
	if v.Inline() {
		v = belay.Value{JSON: b}
	}
	return effect.AnswerList{OK: err == nil, Error: problem(err), Value: &v}
}

func (w *world) object(values map[string]belay.Value) map[string]any {
	all := map[string]any{}
	for name, v := range values {
		all[name], _ = w.decoded(v)
	}
	return all
}

// problem is the text of an error, "" without one.
func problem(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// among looks names up in values.
func (w *world) among(vars map[string]belay.Value) expr.Lookup {
	return func(name string) (any, bool) { return w.value(vars, name) }
}

func render(src string, look expr.Lookup) (string, error) {
	t, err := expr.ParseText(src)
	if err != nil {
		return "", err
	}
	return t.Render(look)
}

// value is a value as conditions and texts see it. A big one is typed as a small
// one would be.
func (w *world) value(vars map[string]belay.Value, name string) (any, bool) {
	v, ok := vars[name]
	if !ok {
		return nil, false
	}
	return w.decoded(v)
}

func (w *world) decoded(v belay.Value) (any, bool) {
	raw := v.JSON
	if !v.Inline() {
		text, kept := w.blobs[v.Sha]
		if !kept {
			return nil, false
		}
		raw = output.Typed(text)
	}
	var x any
	err := json.Unmarshal(raw, &x)
	return x, err == nil
}
