package sim

import (
	"encoding/json"
	"fmt"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/expr"
	"github.com/belay-run/belay/recipe"
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

// answer looks at values that are too big for the records: a condition over
// them, or texts and a list with them in it.
func (w *world) answer(q belay.Question) belay.Answer {
	a := belay.Answer{}
	var err error
	look := func(name string) (any, bool) { return w.value(q.Vars, name) }
	if q.Cond != "" {
		var e *expr.Expr
		if e, err = expr.Parse(q.Cond); err == nil {
			a.OK, err = e.Truth(look)
		}
	}
	for _, src := range q.Texts {
		var s string
		if s, err = render(src, look); err != nil {
			break
		}
		if a.Texts == nil {
			a.Texts = map[string]belay.Filled{}
		}
		a.Texts[src] = belay.Filled{Value: w.text(s)}
	}
	if err == nil && q.List != "" {
		var s string
		s, err = render(q.List, look)
		a.List = json.RawMessage(s)
	}
	if err != nil {
		a.Error = err.Error()
	}
	return a
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
	raw := v.JSON
	if !v.Inline() {
		text, kept := w.blobs[v.Sha]
		if !kept {
			return nil, false
		}
		raw = recipe.Typed(text)
	}
	var x any
	err := json.Unmarshal(raw, &x)
	return x, err == nil
}
