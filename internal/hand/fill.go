package hand

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/expr"
	"github.com/belay-run/belay/internal/output"
	"github.com/belay-run/belay/proc"
)

// values reads values that may lie outside the records, decoded.
func (h *Hand) values(vars map[string]belay.Value) (map[string]any, error) {
	vals := make(map[string]any, len(vars))
	for name, v := range vars {
		x, err := h.decoded(v)
		if err != nil {
			return nil, fmt.Errorf("value of %s: %w", name, err)
		}
		vals[name] = x
	}
	return vals, nil
}

// jsonOf is a value as JSON; a big one is typed as a small one would be.
func (h *Hand) jsonOf(v belay.Value) (json.RawMessage, error) {
	if v.Inline() {
		return v.JSON, nil
	}
	if v.Size > maxAskValue {
		return nil, fmt.Errorf("it has %d bytes; at most %d can be looked at", v.Size, maxAskValue)
	}
	b, err := h.Store.ReadBlob(v.Sha, maxAskValue)
	if err != nil {
		return nil, err
	}
	if !utf8.Valid(b) {
		return nil, errors.New("it is not text: it has bytes that are no UTF-8")
	}
	return output.Typed(string(b)), nil
}

// exact decodes with numbers as they are written.
func exact(raw []byte, to *any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(to)
}

// fillIn puts values into texts.
func (h *Hand) fillIn(q effect.AskText) (a effect.AnswerText, err error) {
	vals, err := h.values(q.Vars)
	if err != nil {
		return a, err
	}
	look := func(name string) (any, bool) { v, ok := vals[name]; return v, ok || q.Lenient }
	a.Texts = make(map[string]effect.Filled, len(q.Texts))
	for _, src := range q.Texts {
		text, err := render(src, look, q.Lenient)
		var wrong *expr.Error
		if errors.As(err, &wrong) {
			a.Texts[src] = effect.Filled{Problem: wrong.Msg, Col: wrong.Col}
			continue
		}
		if err != nil {
			return a, err
		}
		v, err := h.textValue(text)
		if err != nil {
			return a, err
		}
		a.Texts[src] = effect.Filled{Value: v}
	}
	if q.List == "" {
		return a, nil
	}
	list, err := render(q.List, look, false)
	var wrong *expr.Error
	if errors.As(err, &wrong) {
		return a, errors.New(wrong.Msg)
	}
	a.List = json.RawMessage(list)
	return a, err
}

func render(src string, look expr.Lookup, lenient bool) (string, error) {
	t, err := expr.ParseText(src)
	if err != nil {
		return "", err
	}
	if lenient {
		t.Lenient()
	}
	return t.Render(look)
}

// textValue keeps a text in the record, or as a blob when it is big.
func (h *Hand) textValue(text string) (belay.Value, error) {
	if len(text) <= belay.MaxInline && strings.IndexByte(text, 0) < 0 {
		return belay.Text(text), nil
	}
	return h.Store.PutBlob([]byte(text))
}

// gather makes many values one.
func (h *Hand) gather(q effect.AskList) (*belay.Value, error) {
	switch {
	case q.As != "":
		return h.withList(q)
	case len(q.Pieces) > 0:
		return h.list(q.Pieces)
	}
	return h.object(q.Object)
}

// withList makes an object of which the list is a field.
func (h *Hand) withList(q effect.AskList) (*belay.Value, error) {
	list, err := h.list(q.Pieces)
	if err != nil {
		return nil, err
	}
	all := maps.Clone(q.Object)
	all[q.As] = *list
	return h.object(all)
}

// list makes pieces one list.
func (h *Hand) list(pieces []effect.Piece) (*belay.Value, error) {
	most := h.mostOut()
	var b bytes.Buffer
	b.WriteByte('[')
	for i, p := range pieces {
		if i > 0 {
			b.WriteByte(',')
		}
		raw, err := h.pieceOf(p)
		if err != nil {
			return nil, fmt.Errorf("the output of item %d: %w", i+1, err)
		}
		if int64(b.Len()+len(raw)) > most {
			return nil, fmt.Errorf("the results of all items have more than %d bytes", most)
		}
		b.Write(raw)
	}
	b.WriteByte(']')
	v, err := h.Store.PutBlob(b.Bytes())
	return &v, err
}

// mostOut is how big a value may be that is made of others.
func (h *Hand) mostOut() int64 {
	if h.Limits.MaxOut > 0 {
		return h.Limits.MaxOut
	}
	return proc.DefaultMaxOut
}

// object makes values one object.
func (h *Hand) object(values map[string]belay.Value) (*belay.Value, error) {
	var all int64
	for _, v := range values {
		all += v.Size + int64(len(v.JSON))
	}
	if most := h.mostOut(); all > most {
		return nil, fmt.Errorf("all outputs together have %d bytes; at most %d can be one object", all, most)
	}
	raw, err := h.pieceOf(effect.Piece{Object: values})
	if err != nil {
		return nil, err
	}
	v, err := h.Store.PutBlob(raw)
	return &v, err
}

// pieceOf is one item of a list as JSON.
func (h *Hand) pieceOf(p effect.Piece) (json.RawMessage, error) {
	switch {
	case p.Value != nil:
		return h.jsonOf(*p.Value)
	case p.Object == nil:
		return json.RawMessage("null"), nil
	}
	object := make(map[string]json.RawMessage, len(p.Object))
	for _, name := range slices.Sorted(maps.Keys(p.Object)) {
		raw, err := h.jsonOf(p.Object[name])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		object[name] = raw
	}
	return json.Marshal(object)
}
