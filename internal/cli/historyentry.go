package cli

import (
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/tui"
	"github.com/belay-run/belay/recovery"
)

// decision is one decision on record: the entry that every reader of histories
// knows, and beside it what else Belay wrote down. Chosen stands for the
// entry's strategy, because there are more ways out than the six of an entry.
type decision struct {
	recovery.Entry
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
	Refused []belay.NotTaken `json:"refused,omitempty"` // ways out that were looked at before it
	Counts  bool             `json:"counts,omitempty"`
	By      string           `json:"by,omitempty"` // the person

	at      place
	act     belay.Act
	from    string         // who had failed, for people: the agent, or its role where that changes
	taker   string         // and who took over: an agent, a role, or a model alone
	choice  string         // of an answer; of a clearing: what
	failure *belay.Failure // that it is about
}

// chronicle reads records in their order and keeps what a decision must know of
// those before it.
type chronicle struct {
	allowed  func(place) int    // attempts that a step may have; 0 = not known
	role     func(place) string // that a step has by its recipe
	roles    map[place]string   // that it was given since
	retries  int                // of the classic policy
	agents   map[place]string
	attempts map[place]int
	failures map[place]*belay.Failure
	keys     map[belay.Key]place
	list     []decision
}

// decisions are those of the run that was asked for and of all runs below it,
// in their order; never nil.
func (s *story) decisions() []decision {
	c := newChronicle(func(p place) int {
		v, _ := s.tree.Run(p.run).Step(p.path)
		return v.Attempts
	}, s.role)
	if n := s.tree.Started().MaxRetries; n > 0 {
		c.retries = n
	}
	for _, r := range s.recs {
		if below(r.Run, s.id) {
			c.take(r)
		}
	}
	return c.list
}

// role is the role that a step has by its recipe.
func (s *story) role(p place) string {
	for i := range s.tree.Run(p.run).Recipe().Steps {
		if def := &s.tree.Run(p.run).Recipe().Steps[i]; def.ID == p.path && def.Role != "" {
			return def.Role
		}
	}
	return string(recovery.Coder)
}

func newChronicle(allowed func(place) int, role func(place) string) *chronicle {
	return &chronicle{
		allowed: allowed, role: role, roles: map[place]string{}, retries: recovery.DefaultMaxRetries, agents: map[place]string{}, attempts: map[place]int{},
		failures: map[place]*belay.Failure{}, keys: map[belay.Key]place{}, list: []decision{},
	}
}

// below tells whether a run is the one that was asked for, or below it.
func below(run, top belay.RunID) bool {
	return run == top || strings.HasPrefix(string(run), string(top)+"/")
}

func (c *chronicle) take(r belay.Record) {
	switch e := r.Event.(type) {
	case belay.AttemptStarted:
		at := place{r.Run, e.Path}
		c.keys[e.Key] = at
		if e.Role == belay.RoleMain {
			c.agents[at], c.attempts[at] = e.Agent, e.Attempt
		}
	case belay.AttemptJudged:
		c.failures[c.keys[e.Key]] = e.Verdict.Failure
	case belay.StepRefused:
		c.failures[place{r.Run, e.Path}] = &e.Failure
	case belay.RecoveryChosen:
		c.chosen(r, e)
	case belay.StepSkipped:
		d := c.add(r, e.Path, e.Why)
		d.By, d.Chosen = e.By, recovery.Strategy{Kind: recovery.Skip, Reason: e.Why}
	case belay.AnswerGiven:
		if p, ok := tui.Blocks(r.Run, e); ok && !c.told(p, r, e) {
			d := c.add(r, p, e.Answer.Error)
			d.Due, d.Chosen = e.Answer.Until, other{"wait": {"until": e.Answer.Until.UTC()}}
		}
	case belay.ItemOpened:
		d := c.add(r, e.Path, e.Ask)
		d.Chosen = other{"ask": {"item": e.ID, "choices": e.Choices}}
	case belay.ItemAnswered:
		d := c.add(r, e.Path, e.Why)
		d.By, d.choice = e.By, e.Choice
		d.Chosen = other{"answer": {"item": e.ID, "choice": e.Choice}}
	case belay.RunCleared:
		d := c.add(r, e.Path, e.Why)
		d.By, d.choice = e.By, string(e.What)
		d.Chosen = other{"clear": {"what": e.What}}
	case belay.RunReopened:
		d := c.add(r, "", e.Why)
		d.By, d.Chosen = e.By, other{"reopen": {}}
	}
}

// told tells whether the last decision was the same wait: a service is asked
// for again and again.
func (c *chronicle) told(p belay.Path, r belay.Record, e belay.AnswerGiven) bool {
	if len(c.list) == 0 {
		return false
	}
	d := &c.list[len(c.list)-1]
	return d.Kind == e.Kind() && d.at == place{r.Run, p} && d.Reason == e.Answer.Error
}

// add puts one more decision at the end.
func (c *chronicle) add(r belay.Record, p belay.Path, reason string) *decision {
	task := tui.StepName(r.Run, p)
	if p == "" {
		task = strings.TrimSuffix(task, "/")
	}
	c.list = append(c.list, decision{
		Entry: recovery.Entry{TaskID: task, Timestamp: r.At.UTC(), Reason: reason},
		Run:   r.Run, Kind: r.Event.Kind(), at: place{r.Run, p},
	})
	return &c.list[len(c.list)-1]
}

func (c *chronicle) chosen(r belay.Record, e belay.RecoveryChosen) {
	d, p := c.add(r, e.Path, e.Plan.Reason), e.Plan
	d.Rule, d.Policy, d.Class, d.Level, d.Print = p.Rule, p.Policy, p.Class, p.Level, p.Print
	d.Due, d.Refused, d.Counts, d.act = p.Due, p.Refused, p.Counts, p.Act
	d.Agent, d.To, d.failure = c.agents[d.at], firstOf(p.Agent, p.Role), c.failures[d.at]
	if f := d.failure; f != nil { // a plan of an older journal names only its rule
		d.Class = belay.Class(firstOf(string(d.Class), string(f.Class)))
		d.Level = belay.Level(firstOf(string(d.Level), string(f.Level)))
		d.Print = firstOf(d.Print, f.Print)
	}
	d.from, d.taker = tui.AgentName(d.Agent), firstOf(tui.AgentName(p.Agent), p.Role)
	if p.Act == belay.ActReassign && p.Role != "" {
		d.from, d.taker = firstOf(c.roles[d.at], c.role(d.at)), p.Role
		c.roles[d.at] = p.Role
	}
	d.Chosen = c.wire(d, p)
}

// other is a way out beyond the six classic ones, in the same form.
type other map[string]map[string]any

// wire is the strategy as it is printed.
func (c *chronicle) wire(d *decision, p belay.Plan) any {
	s := recovery.Strategy{Reason: p.Reason}
	switch p.Act {
	case belay.ActRetry:
		s.Kind, s.MaxAttempts, s.BackoffMS = recovery.Retry, c.most(d.at, p), d.wait().Milliseconds()
	case belay.ActReassign:
		s.Kind, s.NewRole = recovery.Reassign, recovery.Role(p.Role)
	case belay.ActDecompose:
		s.Kind, s.Subtasks = recovery.Decompose, subtasks(p)
	case belay.ActSkip:
		s.Kind = recovery.Skip
	case belay.ActAbort:
		s.Kind = recovery.Abort
	case belay.ActHold:
		s.Kind = recovery.Escalate
	case belay.ActResume, belay.ActFresh, belay.ActFailover, belay.ActRepair, belay.ActRecover, belay.ActFallback, belay.ActGiveUp:
		body := map[string]any{}
		if d.To != "" {
			body["to"] = d.To
		}
		return other{string(p.Act): body}
	}
	d.StrategyChosen = s
	return s
}

// most is how many attempts there may be after a retry was chosen.
func (c *chronicle) most(at place, p belay.Plan) int {
	n := c.attempts[at]
	if p.Policy == "classic" {
		if p.Rule == string(recovery.RuleTimeout) {
			return n // attempts are counted before this failure: one more than those
		}
		return c.retries
	}
	return max(c.allowed(at), n+1)
}

func subtasks(p belay.Plan) []recovery.Subtask {
	list := make([]recovery.Subtask, len(p.Parts))
	for i, part := range p.Parts {
		s := recovery.Subtask{Description: firstOf(part.Title, part.Task), AssignedTo: recovery.Role(p.Role), Dependencies: []string{}}
		for _, n := range part.Needs {
			if n >= 1 && n <= len(p.Parts) {
				s.Dependencies = append(s.Dependencies, firstOf(p.Parts[n-1].Title, p.Parts[n-1].Task))
			}
		}
		list[i] = s
	}
	return list
}
