package receipt

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/belay-run/belay"
)

// Criterion is one of what the work was to achieve, as the outputs of the run
// tell it.
type Criterion struct {
	ID       string `json:"id"`
	Text     string `json:"text"`
	Verdict  string `json:"verdict"` // met, unmet or unproven
	Evidence string `json:"evidence,omitempty"`
	Check    string `json:"check,omitempty"`      // the command that Belay ran for it
	Exit     *int   `json:"check_exit,omitempty"` // and what that exited with
	Commit   string `json:"check_commit,omitempty"`
	CheckDir string `json:"check_dir,omitempty"` // where it ran, when that was no copy of a commit
}

// The verdicts about a criterion.
const (
	Met      = "met"
	Unmet    = "unmet"
	NoProof  = "unproven"
	maxTexts = 200 // criteria
)

// criteria are read from the output of a step of that name, when it has the shape: a list
// of objects with an id or a text, and a verdict. Anything else is somebody's own
// output of the same name.
func (m *maker) criteria() []Criterion {
	v, ok := m.Output(m.top, "criteria")
	if !ok {
		v, ok = m.Output(m.top, "best") // the best round of belay do
	}
	if !ok {
		return nil
	}
	return criteriaIn(m.bytes(v))
}

func (m *maker) bytes(v belay.Value) []byte {
	if v.Inline() {
		return v.JSON
	}
	if m.Text == nil {
		return nil
	}
	return m.Text(v)
}

func criteriaIn(raw []byte) []Criterion {
	var text string
	if json.Unmarshal(raw, &text) == nil { // a list that was kept as text
		raw = []byte(text)
	}
	var within struct {
		Criteria json.RawMessage `json:"criteria"`
	}
	if json.Unmarshal(raw, &within) == nil && within.Criteria != nil {
		raw = within.Criteria
	}
	var list []struct {
		ID       string          `json:"id"`
		Text     string          `json:"text"`
		Verdict  string          `json:"verdict"`
		Status   string          `json:"status"`
		Evidence json.RawMessage `json:"evidence"`
		Why      string          `json:"why"`
		Note     string          `json:"note"`
	}
	if json.Unmarshal(raw, &list) != nil || len(list) == 0 || len(list) > maxTexts {
		return nil
	}
	var out []Criterion
	for _, c := range list {
		verdict := cmp.Or(c.Verdict, c.Status)
		if c.ID == "" && c.Text == "" || verdict != Met && verdict != Unmet && verdict != NoProof {
			return nil
		}
		evidence := cmp.Or(words(c.Evidence), c.Why)
		if c.Note != "" {
			evidence += "; " + c.Note
		}
		out = append(out, Criterion{ID: c.ID, Text: c.Text, Verdict: verdict, Evidence: evidence})
	}
	return out
}

// words are a text, or the texts of a list.
func words(raw json.RawMessage) string {
	var one string
	if len(raw) == 0 || json.Unmarshal(raw, &one) == nil {
		return one
	}
	var some []string
	if json.Unmarshal(raw, &some) == nil {
		return strings.Join(some, "; ")
	}
	return string(raw)
}
