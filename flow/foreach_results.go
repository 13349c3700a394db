package flow

import (
	"bytes"
	"encoding/json"

	"github.com/belay-run/belay"
)

// maxResults is how much the results of a foreach hold that the brain makes a
// list of by itself.
const maxResults = 1 << 20

// listKey names the question for the list of all results.
func (s *State) listKey() belay.Key { return belay.KeyParts{Run: s.id, Topic: belay.TopicList}.Key() }

// toldList keeps the answer to listKey.
func (s *State) toldList(a belay.Answer) {
	s.listed = &a
}

// endEach ends a run that is items: their results become one list, in the order
// of the items. An item that failed or was left out is null there.
func (s *State) endEach(r belay.RunResult, room int) belay.Command {
	r.Outputs = nil
	useful := r.Status == belay.Achieved || r.Status == belay.Partial || r.Status == belay.Failed && s.each.all
	if s.each.output == "" || !useful {
		return belay.End{Result: r}
	}
	pieces := make([]belay.Piece, len(s.steps))
	for i := range s.steps {
		if s.steps[i].phase == Done {
			pieces[i] = s.piece(i)
		}
	}
	list := small(pieces)
	switch {
	case list != nil:
	case s.listed == nil && room < 0:
		return nil // it comes to rest; asked when it goes on
	case s.listed == nil:
		return belay.Ask{Key: s.listKey(), Question: belay.Question{Pieces: pieces}}
	case s.listed.Value == nil:
		return belay.End{Result: tooMuch("list "+s.each.output, s.listed.Error)}
	default:
		list = s.listed.Value
	}
	r.Outputs = map[string]belay.Value{s.each.output: *list}
	return belay.End{Result: r}
}

// piece is what one item gave: what it printed, or all that its sub-recipe gave.
func (s *State) piece(i int) belay.Piece {
	o := s.produced(i)
	switch {
	case o == nil:
		return belay.Piece{}
	case o.Child != nil && s.prog.Steps[i].Type != belay.TypeRecipe: // done instead
		v, ok := o.Child.Outputs[s.each.output]
		if !ok {
			v, _ = resultOf(o.Child, s.each.output)
		}
		return belay.Piece{Value: &v}
	case o.Child != nil:
		object := o.Child.Outputs
		if object == nil {
			object = map[string]belay.Value{}
		}
		return belay.Piece{Object: object}
	}
	return belay.Piece{Value: o.Output}
}

// small is the list of pieces that are all in the records, nil when it must be
// made by the hands.
func small(pieces []belay.Piece) *belay.Value {
	var b bytes.Buffer
	b.WriteByte('[')
	for i, p := range pieces {
		if i > 0 {
			b.WriteByte(',')
		}
		raw := json.RawMessage("null")
		switch {
		case p.Object != nil:
			for _, v := range p.Object {
				if !v.Inline() {
					return nil
				}
			}
			raw = gathered(p.Object).JSON
		case p.Value != nil && !p.Value.Inline():
			return nil
		case p.Value != nil:
			raw = p.Value.JSON
		}
		if b.Len()+len(raw) > maxResults {
			return nil
		}
		b.Write(raw)
	}
	b.WriteByte(']')
	return &belay.Value{JSON: b.Bytes()}
}
