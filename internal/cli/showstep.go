package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/internal/tui"
	"github.com/belay-run/belay/story"
)

// previewSize is how much of a value is shown.
const previewSize = 400

// attemptFacts is an attempt as --json prints it: its story, and where its log
// is.
type attemptFacts struct {
	*story.Attempt
	Log string `json:"log,omitempty"`
}

// attempts are those of a step, in the order of their start.
func (s *runView) attempts(at story.Place) []attemptFacts { return s.logged(s.Step(at).Attempts) }

// hooks are the attempts of the hooks of a step.
func (s *runView) hooks(at story.Place) []attemptFacts { return s.logged(s.Hooks(at)) }

// logged are attempts with their logs; a child run has none of its own, and those
// of a run in an archive are unpacked only for the moment.
func (s *runView) logged(list []*story.Attempt) []attemptFacts {
	facts := make([]attemptFacts, len(list))
	for i, a := range list {
		facts[i].Attempt = a
		if a.Child == "" && s.lies == nil {
			facts[i].Log = s.view.LogPath(a.Key)
		}
	}
	return facts
}

// stepFacts is a step as --json prints it.
type stepFacts struct {
	Run      belay.RunID    `json:"run"`
	Step     belay.Path     `json:"step"`
	Type     belay.StepType `json:"type"`
	Call     string         `json:"call,omitempty"` // the function of a call step
	Phase    flow.Phase     `json:"phase"`
	Optional bool           `json:"optional,omitempty"`
	Attempt  int            `json:"attempt"`
	Allowed  int            `json:"attempts_allowed"`
	Lost     int            `json:"lost,omitempty"`
	Child    belay.RunID    `json:"child,omitempty"`
	Due      time.Time      `json:"due,omitzero"`
	Failure  *belay.Failure `json:"failure,omitempty"`
	Item     string         `json:"item,omitempty"`
	Taken    *takenFor      `json:"taken,omitempty"` // a person's word stands for its check
	Attempts []attemptFacts `json:"attempts"`
	Hooks    []attemptFacts `json:"hooks,omitempty"`
}

func stepObject(s *runView, p story.Placed) stepFacts {
	facts := stepFacts{
		Run: p.Run, Step: p.Path, Type: p.Type, Call: p.Call, Phase: p.Phase, Optional: p.Optional, Attempt: p.Attempt,
		Allowed: p.StepView.Attempts, Lost: p.Lost, Child: p.Child, Due: p.Due, Failure: p.Failure, Item: p.Item,
		Attempts: s.attempts(p.At()), Hooks: s.hooks(p.At()),
	}
	if t, ok := s.takenFor(p); ok {
		facts.Taken = &t
	}
	return facts
}

// inside tells whether an attempt was a call, for which no process was started.
func (s *runView) inside(k belay.Key) bool {
	p, ok := belay.ParseKey(k)
	if !ok || p.Role != belay.RoleMain {
		return false
	}
	v, ok := s.Tree.Run(p.Run).Step(p.Path)
	return ok && v.Type.Inside()
}

// showStep prints all that is known of one step.
func (a *app) showStep(s *runView, path belay.Path, asJSON bool) error {
	p, err := s.step(path)
	if err != nil {
		return err
	}
	if asJSON {
		a.object(stepObject(s, p))
		return nil
	}
	names := tui.NewNames(s.Tree)
	about, id := names.From(p.Run), string(p.Path)
	if own := names.Own(p.At()); own != id {
		id = readable.Clean(own) + " (" + id + ")"
	}
	rows := [][]string{{"step", id}, {"run", string(p.Run)}, {"type", p.Type.Row().Words}, {"status", string(p.Phase)}}
	if p.Call != "" {
		rows = append(rows, []string{"calls", p.Call})
	}
	if p.Child != "" {
		rows = append(rows, []string{"child run", string(p.Child)})
	}
	if t, ok := s.takenFor(p); ok {
		rows = append(rows, []string{"done", readable.Clean(t.words())})
	}
	if p.Failure != nil && p.Phase != flow.Done {
		rows = append(rows, []string{"failure", readable.Clean(about(p.At().Name(), p.Failure.Words()))})
		if a.verbose {
			rows = append(rows, []string{"kind", p.Failure.Name()})
		}
		if p.Failure.Hint != "" {
			rows = append(rows, []string{"hint", a.ours(readable.Clean(p.Failure.Hint))})
		}
	}
	a.facts(rows)
	if p.Failure != nil && p.Phase != flow.Done {
		for _, l := range pointer(s.Tree, p.Failure, s.source, a.outWidth()) {
			a.out.raw(l)
		}
	}
	for _, f := range s.attempts(p.At()) {
		a.out.line("\n%s", attemptTitle(f.Role, f.N))
		a.facts(inWords(about, p, f.rows(a.ctx, s)))
	}
	for _, f := range s.hooks(p.At()) {
		a.out.line("\nhook %s %d", f.Hook, f.N)
		a.facts(inWords(about, p, f.rows(a.ctx, s)))
	}
	if p.Phase == flow.Held && !s.Over(p.Run) {
		question := ""
		if q := s.Step(p.At()).Question; q != nil && q.ID == p.Item {
			question = q.Ask
		}
		a.out.line("\n%s", readable.Clean(about(p.At().Name(), question)))
		for _, q := range s.Questions([]story.Placed{p}, time.Now()) {
			a.out.line("next: %s", q.Command().Text(a.name()))
		}
	}
	return nil
}

// attemptTitle is what an attempt of a step is called.
func attemptTitle(r belay.Role, n int) string {
	if r == belay.RoleMain {
		return fmt.Sprintf("attempt %d", n)
	}
	return fmt.Sprintf("%s %d", r, n)
}

// inWords gives the items in facts about a step their values.
func inWords(about func(step, text string) string, p story.Placed, rows [][]string) [][]string {
	for _, row := range rows {
		row[len(row)-1] = about(p.At().Name(), row[len(row)-1])
	}
	return rows
}

// rows are the facts of an attempt, two columns.
func (f attemptFacts) rows(ctx context.Context, s *runView) [][]string {
	var rows [][]string
	add := func(name, format string, args ...any) {
		rows = append(rows, []string{"  " + name, readable.Clean(fmt.Sprintf(format, args...))})
	}
	add("started", "%s", f.StartedAt.Local().Format(time.DateTime))
	for _, how := range f.Found {
		add("found", "%s", how)
	}
	f.agentHead(add)
	if o := f.Observation; o != nil {
		f.observed(ctx, o, s, add)
	}
	noteRows(f.Notes, add)
	if v := f.Verdict; v != nil {
		add("verdict", "%s", verdictText(f.Attempt))
		if v.Sure > 0 {
			add("confidence", "%d %%", v.Sure)
		}
		for _, e := range v.For {
			add("evidence for", "%s", e)
		}
		for _, e := range v.Against {
			add("evidence against", "%s", e)
		}
	}
	if f.Log != "" && f.Observation != nil && f.Observation.LogSize > 0 {
		add("log", "%s", f.Log)
	}
	return rows
}

func (f attemptFacts) observed(ctx context.Context, o *effect.Observation, s *runView, add func(name, format string, args ...any)) {
	if !o.Ended.IsZero() && !o.Started.IsZero() {
		add("took", "%s", readable.Took(o.Ended.Sub(o.Started)))
	}
	if o.Child != nil {
		add("child run", "%s %s %s", f.Child, o.Child.Status, o.Child.Reason)
		return
	}
	if o.Agent != nil {
		kept := s.keeps(ctx, f.Key, o.Agent.Evidence.Snapshot)
		agentRows(o.Agent, tree{s.place(f.Key), f.N > 1, kept}, add)
	} else if !s.inside(f.Key) {
		add("exit", "%d", o.Exit)
	}
	if o.Signal != 0 {
		add("signal", "%d", o.Signal)
	}
	if o.KilledBy != fault.KilledNot {
		add("killed by", "%s", o.KilledBy)
	}
	if o.Fault != fault.None {
		add("fault", "%s: %s", o.Fault, o.Detail)
	}
	if !s.inside(f.Key) {
		add("cpu", "%s", readable.Took(time.Duration(o.CPU)*time.Microsecond))
	}
	if o.RSS > 0 {
		add("memory", "%s", readable.Size(o.RSS<<10))
	}
	if o.Strays > 0 {
		add("strays", "%d descendants had to be ended", o.Strays)
	}
	if !s.inside(f.Key) {
		add("printed", "%s", readable.Size(o.LogSize))
	}
	if o.Output != nil {
		add("output", "%s", preview(s, *o.Output))
	}
	for _, name := range slices.Sorted(maps.Keys(o.Outputs)) {
		add("output "+name, "%s", preview(s, o.Outputs[name]))
	}
	if o.Agent != nil && o.Output == nil && o.Agent.Result.Excerpt != "" {
		add("answer", "%s", readable.Cut(o.Agent.Result.Excerpt, previewSize))
	}
	if last := readable.LastLine(o.Tail); last != "" && o.Agent == nil {
		add("last line", "%s", readable.Cut(last, previewSize))
	}
	checkRows(o.Check, add)
}

func verdictText(f *story.Attempt) string {
	v := f.Verdict
	switch {
	case f.Role == belay.RoleRecovery && story.UnverifiedBy(v):
		return story.RecoveredWord + ", unverified"
	case v.OK && f.Role == belay.RoleRecovery:
		return story.RecoveredWord
	case v.OK && v.Partial && slices.Contains(v.For, flow.Joined):
		return "done, " + flow.Joined
	case v.OK && v.Partial && f.Observation != nil && f.Observation.Child != nil && f.Observation.Child.Reason != "":
		return "done, " + f.Observation.Child.Reason
	case v.OK && v.Partial:
		return "done, a part was left out"
	case v.OK && len(v.Against) > 0 && v.Sure == 0:
		return "done, " + strings.Join(v.Against, ", ")
	case v.OK && v.Basis == effect.BasisAnswer:
		return story.AnsweredWord + ", not checked"
	case v.OK:
		return "done"
	case v.Unknown:
		return "unknown"
	case v.GivenBack:
		return "given back"
	case v.Failure != nil:
		return "failed: " + v.Failure.Words()
	}
	return "none"
}

// preview is the beginning of a value.
func preview(s *runView, v belay.Value) string {
	if v.Inline() {
		var text string
		if json.Unmarshal(v.JSON, &text) != nil {
			text = string(v.JSON)
		}
		return readable.Cut(text, previewSize)
	}
	b, err := s.view.ReadBlob(v.Sha, v.Size)
	if err != nil {
		return fmt.Sprintf("%s, cannot be read: %v", readable.Size(v.Size), err)
	}
	if bytes.IndexByte(b, 0) >= 0 {
		return readable.Size(v.Size) + " of binary data"
	}
	return readable.Size(v.Size) + ": " + readable.Cut(strings.TrimSpace(string(b[:min(len(b), 4*previewSize)])), previewSize)
}
