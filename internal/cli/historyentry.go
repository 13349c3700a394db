package cli

import (
	"cmp"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/recovery"
	"github.com/belay-run/belay/recovery/classic"
	"github.com/belay-run/belay/story"
)

// decision is one decision on record: the entry that every reader of histories
// knows, and beside it what else Belay wrote down. Chosen stands for the
// entry's strategy, because there are more recoveries than the six of an entry.
type decision struct {
	classic.Entry
	Chosen  any              `json:"strategy_chosen"`
	Run     belay.RunID      `json:"run"`
	Kind    string           `json:"kind"` // of the record
	Rule    string           `json:"rule,omitempty"`
	Policy  string           `json:"policy,omitempty"`
	Class   belay.Class      `json:"class,omitempty"`
	Level   belay.Level      `json:"level,omitempty"`
	Print   string           `json:"fingerprint,omitempty"`
	Agent   string           `json:"agent,omitempty"` // who had failed
	To      string           `json:"to,omitempty"`    // the agent or the role that took over
	Due     time.Time        `json:"due,omitzero"`
	Refused []belay.NotTaken `json:"refused,omitempty"` // recoveries that were looked at before it
	Counts  bool             `json:"counts,omitempty"`
	By      string           `json:"by,omitempty"` // the person

	of      *story.Decision
	retries int // that the classic policy has
	allowed int // attempts that the step may have
}

// decisions are those of the run that was asked for and of all runs below it,
// in their order; never nil.
func (s *runView) decisions() []decision {
	list := []decision{}
	retries := classic.DefaultMaxRetries
	if n := s.Tree.Started().MaxRetries; n > 0 {
		retries = n
	}
	for _, of := range s.Decisions(s.id) {
		d := decision{of: of, retries: retries, allowed: s.View(of.Place).Attempts}
		d.write()
		list = append(list, d)
	}
	return list
}

// write fills in what is printed.
func (d *decision) write() {
	of := d.of
	d.TaskID, d.Timestamp, d.Reason = of.Name(), of.At.UTC(), of.Why
	if of.Path == "" {
		d.TaskID = strings.TrimSuffix(d.TaskID, "/")
	}
	d.Run, d.Kind, d.By, d.Due = of.Run, string(of.What), of.By, of.Due()
	switch {
	case of.Plan != nil:
		d.chosen(of.Plan)
	case of.What == story.StepSkipped:
		d.Chosen = classic.Strategy{Kind: belay.ActSkip, Reason: of.Why}
	case of.What == story.AnswerGiven:
		d.Chosen = other{"wait": {"until": of.Until.UTC()}}
	case of.What == story.ItemOpened:
		d.Chosen = other{"ask": {"item": of.Item, "choices": of.Choices}}
	case of.What == story.ItemAnswered:
		d.Chosen = other{"answer": {"item": of.Item, "choice": of.Choice}}
	case of.What == story.RunCleared:
		d.Chosen = other{"clear": {"what": of.Choice}}
	case of.What == story.StepReset:
		d.Chosen = other{"rerun": {"also": of.Also, "kept": of.Kept}}
	case of.What == story.RunResumed:
		d.Chosen = other{"resume": {"agent": of.Agent}}
	case of.What == story.RunReopened:
		d.Chosen = other{"reopen": {}}
	}
}

func (d *decision) chosen(p *belay.Plan) {
	d.Rule, d.Policy, d.Class, d.Level, d.Print = p.Rule, p.Policy, p.Class, p.Level, p.Print
	d.Refused, d.Counts = p.Refused, p.Counts
	d.Agent, d.To = d.of.Agent, cmp.Or(p.Agent, p.Role)
	if f := d.of.Failure; f != nil { // a plan of an older journal names only its rule
		d.Class = cmp.Or(d.Class, f.Class)
		d.Level = cmp.Or(d.Level, f.Level)
		d.Print = cmp.Or(d.Print, f.Print)
	}
	d.Chosen = d.wire(p)
}

// other is a recovery beyond the six classic ones, in the same form.
type other map[string]map[string]any

// wire is the strategy as it is printed.
func (d *decision) wire(p *belay.Plan) any {
	row := p.Act.Row()
	if row.Classic == "" || !row.Planned {
		body := map[string]any{}
		if d.To != "" {
			body["to"] = d.To
		}
		return other{string(p.Act): body}
	}
	d.StrategyChosen = classic.Strategy{ // its kind tells which of these are written
		Kind: row.Classic, MaxAttempts: d.most(p), BackoffMS: d.of.Wait().Milliseconds(),
		NewRole: recovery.Role(p.Role), Subtasks: subtasks(p), Reason: p.Reason,
	}
	return d.StrategyChosen
}

// most is how many attempts there may be after a retry was chosen.
func (d *decision) most(p *belay.Plan) int {
	n := d.of.N
	if p.Policy == "classic" {
		if p.Rule == string(classic.RuleTimeout) {
			return n // attempts are counted before this failure: one more than those
		}
		return d.retries
	}
	return max(d.allowed, n+1)
}

func subtasks(p *belay.Plan) []classic.Subtask {
	list := make([]classic.Subtask, len(p.Parts))
	for i, part := range p.Parts {
		s := classic.Subtask{Description: cmp.Or(part.Title, part.Task), AssignedTo: recovery.Role(p.Role), Dependencies: []string{}}
		for _, n := range part.Needs {
			if n >= 1 && n <= len(p.Parts) {
				s.Dependencies = append(s.Dependencies, cmp.Or(p.Parts[n-1].Title, p.Parts[n-1].Task))
			}
		}
		list[i] = s
	}
	return list
}
