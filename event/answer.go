package event

import (
	"encoding/json"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
)

// Fits tells whether the answer is of the kind that was asked for.
func (e AnswerGiven) Fits() bool { return effect.Fits(e.Key, e.Answer) }

// UnmarshalJSON reads an answer of the kind that its key names.
func (e *AnswerGiven) UnmarshalJSON(b []byte) error {
	var raw struct {
		Key    belay.Key       `json:"key"`
		Answer json.RawMessage `json:"answer"`
	}
	if err := json.Unmarshal(b, &raw); err != nil {
		return err
	}
	a, err := effect.DecodeAnswer(raw.Key, raw.Answer)
	if err != nil {
		return err
	}
	e.Key, e.Answer = raw.Key, a
	return nil
}
