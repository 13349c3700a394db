package flow

import (
	"bytes"
	"encoding/json"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
)

// maxResults is how much the results of a foreach hold that the brain makes a
// list of by itself.
const maxResults = 1 << 20

// listKey names the question for the list of all results.
func (s *State) listKey() belay.Key { return belay.KeyParts{Run: s.id, Topic: belay.TopicList}.Key() }

// endEach ends a run that is items: their results become one list, in the order
// of the items. An item that failed or was left out is null there.
func (s *State) endEach(r belay.RunResult, room int) command {
	r.Outputs = nil
	useful := r.Status == belay.Achieved || r.Status == belay.Partial || s.each.all && s.cancel == nil
	if s.each.output == "" || !useful {
		return runEnd{Result: r}
	}
	pieces := make([]effect.Piece, len(s.steps))
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
		return effect.Ask{Key: s.listKey(), Question: effect.AskList{Pieces: pieces}}
	case s.listed.Value == nil:
		return runEnd{Result: tooMuch("list "+s.each.output, s.listed.Error)}
	default:
		list = s.listed.Value
	}
	r.Outputs = map[string]belay.Value{s.each.output: *list}
	return runEnd{Result: r}
}

// piece is what one item gave: what it printed, or all that its sub-recipe gave.
func (s *State) piece(i int) effect.Piece {
	o := s.produced(i)
	switch {
	case o == nil:
		return effect.Piece{}
	case o.Child != nil && !s.prog.Steps[i].Type.Child(): // done instead
		v, ok := o.Child.Outputs[s.each.output]
		if !ok {
			v, _ = resultOf(o.Child, s.each.output)
		}
		return effect.Piece{Value: &v}
	case o.Child != nil:
		object := o.Child.Outputs
		if object == nil {
			object = map[string]belay.Value{}
		}
		return effect.Piece{Object: object}
	}
	return effect.Piece{Value: o.Output}
}

// small is the list of pieces that are all in the records, nil when it must be
// made by the hands.
func small(pieces []effect.Piece) *belay.Value {
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
