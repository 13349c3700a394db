package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/internal/tui"
)

// previewSize is how much of a value is shown.
const previewSize = 400

// attemptFacts is what the journal says about one attempt.
type attemptFacts struct {
	Key         belay.Key          `json:"key"`
	Role        belay.Role         `json:"role"`
	Hook        string             `json:"hook,omitempty"` // pre_step, post_step or on_error
	Attempt     int                `json:"attempt"`
	StartedAt   time.Time          `json:"started_at"`
	Child       belay.RunID        `json:"child,omitempty"`
	Agent       string             `json:"agent,omitempty"`   // who does it
	Session     string             `json:"session,omitempty"` // of the agent, as far as it is known
	Resume      bool               `json:"resume,omitempty"`  // the session of an earlier attempt goes on
	Notes       []belay.AgentNote  `json:"notes,omitempty"`   // of an agent that has not reported yet
	Found       []belay.Found      `json:"found,omitempty"`
	Observation *belay.Observation `json:"observation,omitempty"`
	Verdict     *belay.Verdict     `json:"verdict,omitempty"`
	Log         string             `json:"log,omitempty"`
}

// place is a step of a run.
type place struct {
	run  belay.RunID
	path belay.Path
}

// attempts are those of a step, in the order of their start.
func (s *story) attempts(run belay.RunID, p belay.Path) []*attemptFacts {
	if s.tried == nil {
		s.tried = s.collect()
	}
	return s.tried[place{run, p}]
}

// collect sorts the records of all attempts by their steps, in one reading: a
// run may have thousands.
func (s *story) collect() map[place][]*attemptFacts {
	all := map[place][]*attemptFacts{}
	by := map[belay.Key]*attemptFacts{}
	for _, r := range s.recs {
		switch e := r.Event.(type) {
		case belay.AttemptStarted:
			if by[e.Key] != nil {
				continue // unborn ones start again under their own key
			}
			f := &attemptFacts{Key: e.Key, Role: e.Role, Attempt: e.Attempt, StartedAt: r.At, Child: e.Child, Agent: e.Agent, Session: e.Session, Resume: e.Resume}
			if e.Child == "" {
				f.Log = s.view.LogPath(e.Key)
			}
			by[e.Key] = f
			at := place{r.Run, e.Path}
			if e.Role == belay.RoleHook {
				_, f.Hook, _ = strings.Cut(string(e.Path), "@")
			}
			all[at] = append(all[at], f)
		case belay.AttemptNoted:
			if f := by[e.Key]; f != nil {
				f.note(r.At, e)
			}
		case belay.AttemptFound:
			if f := by[e.Key]; f != nil {
				f.Found = append(f.Found, e.How)
			}
		case belay.AttemptEnded:
			if f := by[e.Key]; f != nil {
				f.see(&e.Observation)
			}
		case belay.AttemptJudged:
			if f := by[e.Key]; f != nil {
				f.Verdict = &e.Verdict
			}
		}
	}
	return all
}

// stepFacts is a step as --json prints it.
type stepFacts struct {
	Run      belay.RunID     `json:"run"`
	Step     belay.Path      `json:"step"`
	Type     belay.StepType  `json:"type"`
	Phase    flow.Phase      `json:"phase"`
	Optional bool            `json:"optional,omitempty"`
	Attempt  int             `json:"attempt"`
	Allowed  int             `json:"attempts_allowed"`
	Lost     int             `json:"lost,omitempty"`
	Child    belay.RunID     `json:"child,omitempty"`
	Due      time.Time       `json:"due,omitzero"`
	Failure  *belay.Failure  `json:"failure,omitempty"`
	Item     string          `json:"item,omitempty"`
	Taken    *takenFor       `json:"taken,omitempty"` // a person's word stands for its check
	Attempts []*attemptFacts `json:"attempts"`
	Hooks    []*attemptFacts `json:"hooks,omitempty"`
}

func stepObject(s *story, p placed) stepFacts {
	list := s.attempts(p.run, p.Path)
	if list == nil {
		list = []*attemptFacts{}
	}
	facts := stepFacts{
		Run: p.run, Step: p.Path, Type: p.Type, Phase: p.Phase, Optional: p.Optional, Attempt: p.Attempt,
		Allowed: p.StepView.Attempts, Lost: p.Lost, Child: p.Child, Due: p.Due, Failure: p.Failure, Item: p.Item,
		Attempts: list, Hooks: s.hooks(p),
	}
	if t, ok := s.takenFor(p); ok {
		facts.Taken = &t
	}
	return facts
}

// showStep prints all that is known of one step.
func (a *app) showStep(s *story, path belay.Path, asJSON bool) error {
	p, err := s.step(path)
	if err != nil {
		return err
	}
	if asJSON {
		a.object(stepObject(s, p))
		return nil
	}
	rows := [][]string{{"step", string(p.Path)}, {"run", string(p.run)}, {"type", string(p.Type)}, {"phase", string(p.Phase)}}
	if p.Child != "" {
		rows = append(rows, []string{"child run", string(p.Child)})
	}
	if t, ok := s.takenFor(p); ok {
		rows = append(rows, []string{"done", tui.Clean(t.words())})
	}
	if p.Failure != nil && p.Phase != flow.Done {
		rows = append(rows, []string{"failure", tui.Clean(tui.Reason(p.Failure))})
		if p.Failure.Hint != "" {
			rows = append(rows, []string{"hint", tui.Clean(p.Failure.Hint)})
		}
	}
	a.out.lines(tui.Table(rows))
	if p.Failure != nil && p.Phase != flow.Done {
		a.out.lines(pointer(s.tree, p.Failure, s.source))
	}
	for _, f := range s.attempts(p.run, p.Path) {
		a.out.line("\n%s %d", f.Role, f.Attempt)
		a.out.lines(tui.Table(f.rows(s)))
	}
	for _, f := range s.hooks(p) {
		a.out.line("\nhook %s %d", f.Hook, f.Attempt)
		a.out.lines(tui.Table(f.rows(s)))
	}
	if p.Phase == flow.Held && !s.over(p.run) {
		a.out.line("\n%s", tui.Clean(s.question(p.run, p.Item)))
		a.out.line("next: %s", tui.Answer(p.run, p.Path, a.name()))
	}
	return nil
}

// question is what a person was asked.
func (s *story) question(run belay.RunID, item string) string {
	text := ""
	for _, r := range s.recs {
		if e, ok := r.Event.(belay.ItemOpened); ok && r.Run == run && e.ID == item {
			text = e.Ask
		}
	}
	return text
}

// rows are the facts of an attempt, two columns.
func (f *attemptFacts) rows(s *story) [][]string {
	var rows [][]string
	add := func(name, format string, args ...any) {
		rows = append(rows, []string{"  " + name, tui.Clean(fmt.Sprintf(format, args...))})
	}
	add("started", "%s", f.StartedAt.Local().Format(time.DateTime))
	for _, how := range f.Found {
		add("found", "%s", how)
	}
	f.agentHead(add)
	if o := f.Observation; o != nil {
		f.observed(o, s, add)
	}
	noteRows(f.Notes, add)
	if v := f.Verdict; v != nil {
		add("verdict", "%s", f.verdictText())
		if v.Sure > 0 {
			add("confidence", "%d %%", v.Sure)
		}
		for _, e := range v.For {
			add("for", "%s", e)
		}
		for _, e := range v.Against {
			add("against", "%s", e)
		}
	}
	if f.Log != "" && f.Observation != nil && f.Observation.LogSize > 0 {
		add("log", "%s", f.Log)
	}
	return rows
}

func (f *attemptFacts) observed(o *belay.Observation, s *story, add func(name, format string, args ...any)) {
	if !o.Ended.IsZero() && !o.Started.IsZero() {
		add("took", "%s", tui.Took(o.Ended.Sub(o.Started)))
	}
	if o.Child != nil {
		add("child run", "%s %s %s", f.Child, o.Child.Status, o.Child.Reason)
		return
	}
	if o.Agent != nil {
		agentRows(o.Agent, f.place(s), add)
	} else {
		add("exit", "%d", o.Exit)
	}
	if o.Signal != 0 {
		add("signal", "%d", o.Signal)
	}
	if o.KilledBy != belay.KilledNot {
		add("killed by", "%s", o.KilledBy)
	}
	if o.Fault != belay.FaultNone {
		add("fault", "%s: %s", o.Fault, o.Detail)
	}
	add("cpu", "%s", tui.Took(time.Duration(o.CPU)*time.Microsecond))
	add("memory", "%s", tui.Size(o.RSS<<10))
	if o.Strays > 0 {
		add("strays", "%d descendants had to be ended", o.Strays)
	}
	add("printed", "%s", tui.Size(o.LogSize))
	if o.Output != nil {
		add("output", "%s", preview(s, *o.Output))
	}
	for _, name := range slices.Sorted(maps.Keys(o.Outputs)) {
		add("output "+name, "%s", preview(s, o.Outputs[name]))
	}
	if o.Agent != nil && o.Output == nil && o.Agent.Result.Excerpt != "" {
		add("answer", "%s", tui.Cut(o.Agent.Result.Excerpt, previewSize))
	}
	if last := tui.LastLine(o.Tail); last != "" && o.Agent == nil {
		add("last line", "%s", tui.Cut(last, previewSize))
	}
	checkRows(o.Check, add)
}

func (f *attemptFacts) verdictText() string {
	v := f.Verdict
	switch {
	case v.OK && v.Partial && f.Role == belay.RoleRecovery:
		return "recovered, unverified"
	case v.OK && f.Role == belay.RoleRecovery && slices.Contains(v.For, flow.TakenAnswer):
		return "recovered, unverified"
	case v.OK && f.Role == belay.RoleRecovery:
		return "recovered"
	case v.OK && v.Partial && slices.Contains(v.For, flow.Joined):
		return "done, " + flow.Joined
	case v.OK && v.Partial && f.Observation != nil && f.Observation.Child != nil && f.Observation.Child.Reason != "":
		return "done, " + f.Observation.Child.Reason
	case v.OK && v.Partial:
		return "done, a part was left out"
	case v.OK && len(v.Against) > 0 && v.Sure == 0:
		return "done, " + strings.Join(v.Against, ", ")
	case v.OK && v.Basis == belay.BasisAnswer:
		return tui.Answered + ", not checked"
	case v.OK:
		return "done"
	case v.Unknown:
		return "unknown"
	case v.GivenBack:
		return "given back"
	case v.Failure != nil:
		return tui.Reason(v.Failure)
	}
	return "none"
}

// preview is the beginning of a value.
func preview(s *story, v belay.Value) string {
	if v.Inline() {
		var text string
		if json.Unmarshal(v.JSON, &text) != nil {
			text = string(v.JSON)
		}
		return tui.Cut(text, previewSize)
	}
	b, err := s.view.ReadBlob(v.Sha, v.Size)
	if err != nil {
		return fmt.Sprintf("%s, cannot be read: %v", tui.Size(v.Size), err)
	}
	if bytes.IndexByte(b, 0) >= 0 {
		return tui.Size(v.Size) + " of binary data"
	}
	return tui.Size(v.Size) + ": " + tui.Cut(strings.TrimSpace(string(b[:min(len(b), 4*previewSize)])), previewSize)
}
