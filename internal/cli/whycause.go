package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/internal/tui"
)

// whyFailure is the failure at the bottom of all: the step that failed by
// itself, and first.
type whyFailure struct {
	Run      belay.RunID       `json:"run"`            // that the step belongs to
	Step     string            `json:"step,omitempty"` // "" = the recipe as a whole
	Name     string            `json:"name"`           // as the screen names the step
	Type     belay.StepType    `json:"type,omitempty"`
	Agent    string            `json:"agent,omitempty"`
	At       time.Time         `json:"at,omitzero"` // when it failed for the first time
	Attempts int               `json:"attempts"`
	Kind     belay.FailureKind `json:"kind,omitempty"`
	Class    belay.Class       `json:"class,omitempty"`
	Level    belay.Level       `json:"level,omitempty"`
	Decided  string            `json:"decided,omitempty"` // the level in words
	Rule     string            `json:"rule,omitempty"`
	Print    string            `json:"fingerprint,omitempty"`
	Cause    string            `json:"cause"`
	First    string            `json:"first_cause,omitempty"` // of its first failure, when that was another
	Hint     string            `json:"hint,omitempty"`
	Reset    time.Time         `json:"reset,omitzero"`    // when the other side can go on
	Same     int               `json:"same,omitempty"`    // how often in a row, with nothing changed in between
	Above    []string          `json:"above,omitempty"`   // steps that failed because of it, the outermost first
	Against  []string          `json:"against,omitempty"` // the evidence, of an agent's step
	Output   []string          `json:"output,omitempty"`  // the last lines
	Printed  string            `json:"printed_by,omitempty"`
	Final    bool              `json:"final"`  // no way out is left
	Others   int               `json:"others"` // steps that failed by themselves beside it
}

// rootCause is the step that failed first of those that failed by themselves;
// nil when nothing is wrong.
func rootCause(s *story, all []placed) *whyFailure {
	final := func(p placed) bool { return p.Phase == flow.Failed && !p.Optional || p.Phase == flow.Held }
	leaves := deepest(all, final)
	if len(leaves) == 0 {
		leaves = deepest(all, func(p placed) bool { return troubled(s, p) })
	}
	if len(leaves) == 0 {
		return wholeFailure(s)
	}
	begun := s.firstFailures()
	first, began := leaves[0], begun[place{leaves[0].run, leaves[0].Path}]
	for _, p := range leaves {
		if b := begun[place{p.run, p.Path}]; !b.at.IsZero() && (began.at.IsZero() || b.at.Before(began.at)) {
			first, began = p, b
		}
	}
	f := causeOf(s, first)
	f.At, f.Final, f.Others = began.at, final(first), len(leaves)-1
	if began.cause != f.Cause {
		f.First = began.cause
	}
	return f
}

// beginning is the first failure of a step.
type beginning struct {
	at    time.Time
	cause string
}

// troubled tells whether a step failed and is not yet through with it.
func troubled(s *story, p placed) bool {
	if p.Failure == nil || s.over(p.run) {
		return false
	}
	switch p.Phase {
	case flow.Waiting, flow.Running, flow.Ended, flow.Checking, flow.Broken, flow.Aided, flow.Merging:
		return true
	case flow.Held, flow.Failed, flow.Done, flow.NotTaken, flow.Skipped:
	}
	return false
}

// deepest are the bad steps that have no bad ones below them. The list is in the
// order of a walk: what is below a step follows it.
func deepest(all []placed, bad func(placed) bool) []placed {
	var leaves []placed
	for i, p := range all {
		if !bad(p) {
			continue
		}
		leaf := true
		for j := i + 1; leaf && j < len(all) && all[j].depth > p.depth; j++ {
			leaf = !bad(all[j])
		}
		if leaf {
			leaves = append(leaves, p)
		}
	}
	return leaves
}

// wholeFailure is a failure that no step has: nothing was taken.
func wholeFailure(s *story) *whyFailure {
	res := s.tree.Run(s.id).Result()
	if res == nil || res.Failure == nil {
		return nil
	}
	f := &whyFailure{Run: s.id, Name: res.Failure.Op, Final: true}
	f.take(res.Failure)
	return f
}

// firstFailures are how the trouble of steps began since a person opened the
// run, or ever.
func (s *story) firstFailures() map[place]beginning {
	begun, keys := map[place]beginning{}, map[belay.Key]place{}
	note := func(p place, at time.Time, f *belay.Failure) {
		if !begun[p].at.IsZero() {
			return
		}
		b := beginning{at: at.UTC()}
		if f != nil {
			b.cause = f.Cause
		}
		begun[p] = b
	}
	for _, r := range s.recs {
		switch e := r.Event.(type) {
		case belay.AttemptStarted:
			keys[e.Key] = place{r.Run, e.Path}
		case belay.AttemptJudged:
			if e.Verdict.Failure != nil || e.Verdict.Unknown {
				note(keys[e.Key], r.At, e.Verdict.Failure)
			}
		case belay.StepRefused:
			note(place{r.Run, e.Path}, r.At, &e.Failure)
		case belay.ItemOpened:
			note(place{r.Run, e.Path}, r.At, nil)
		case belay.RunReopened:
			clear(begun)
		}
	}
	return begun
}

func causeOf(s *story, p placed) *whyFailure {
	f := &whyFailure{
		Run: p.run, Step: string(p.Path), Name: tui.StepName(p.run, p.Path), Type: p.Type, Agent: s.worker(p),
		Attempts: p.Attempt, Above: above(p.run, s.id), Same: p.Same,
	}
	switch {
	case p.Failure != nil:
		f.take(p.Failure)
	case tui.Stale(p.StepView):
		f.Cause = fmt.Sprintf("it failed %d times in the same way, and nothing has changed since", p.Same)
	case tui.OverBudget(p.StepView):
		f.Cause, f.Class = "no further agent may start: the budget is used up", belay.ClassBudget
	default:
		f.Cause = "nobody can tell whether its work was done"
	}
	if p.Verdict != nil {
		f.Against = p.Verdict.Against
	}
	f.lastLines(s.attempts(p.run, p.Path))
	return f
}

// worker is the agent that did the last attempt of a step, "" for none.
func (s *story) worker(p placed) string {
	name := ""
	for _, f := range s.attempts(p.run, p.Path) {
		if f.Role == belay.RoleMain {
			name = f.Agent
		}
	}
	return tui.AgentName(name)
}

func (f *whyFailure) take(x *belay.Failure) {
	f.Kind, f.Class, f.Level, f.Rule, f.Print = x.Kind, x.Class, x.Level, x.Rule, x.Print
	f.Cause, f.Hint, f.Reset, f.Decided = x.Cause, x.Hint, x.Reset, decidedFrom(x.Level)
}

// above are the steps that a run is nested in, below the run that was asked for.
func above(run, top belay.RunID) []string {
	var list []string
	for run != top && run.Depth() > 0 {
		i := strings.LastIndexByte(string(run), '/')
		list = append([]string{strings.TrimSuffix(tui.StepName(run, ""), "/")}, list...)
		run = run[:i]
	}
	return list
}

// How many of the last lines of a step are shown, and how many are stored.
const lastLines = 8

// lastLines takes the end of what the failing attempt printed: its check, if
// that spoke last, or the words of an agent.
func (f *whyFailure) lastLines(tries []*attemptFacts) {
	for i := len(tries) - 1; i >= 0; i-- {
		t := tries[i]
		if t.Observation == nil || t.Role != belay.RoleMain && t.Role != belay.RoleVerify {
			continue
		}
		text, by := t.Observation.Tail, "step"
		switch a := t.Observation.Agent; {
		case a != nil:
			text, by = a.Result.Excerpt, "agent"
		case t.Role == belay.RoleVerify:
			by = "check"
		}
		if lines := endOf(text); len(lines) > 0 {
			f.Output, f.Printed = lines, by
			return
		}
		if t.Role == belay.RoleMain {
			return
		}
	}
}

// endOf is the last lines of a text that say something, fit for a terminal.
func endOf(text string) []string {
	var lines []string
	for _, l := range strings.Split(text, "\n") {
		if i := strings.LastIndexByte(strings.TrimRight(l, "\r"), '\r'); i >= 0 { // a progress bar wrote over it
			l = l[i+1:]
		}
		if l = indented(l); strings.TrimSpace(l) != "" {
			lines = append(lines, l)
		}
	}
	return lines[max(0, len(lines)-lastLines):]
}

// indented is a clean line that keeps the blanks in front: they carry sense.
func indented(l string) string {
	l = strings.ReplaceAll(tui.Harmless(l), "\t", "    ")
	return strings.TrimRight(strings.ReplaceAll(l, "\n", " "), " ")
}

// decidedFrom is a rung of the ladder of evidence in words.
func decidedFrom(l belay.Level) string {
	switch l {
	case belay.LevelAct:
		return "decided from what belay itself did"
	case belay.LevelTyped:
		return "decided from the agent's own result"
	case belay.LevelProcess:
		return "decided from its exit code"
	case belay.LevelProbe:
		return "decided by a look at the machine"
	case belay.LevelRepeat:
		return "decided because the same happened again and nothing had changed"
	case belay.LevelText:
		return "decided from the last lines it printed"
	case belay.LevelUnknown:
		return "nothing tells what kind of failure it is"
	}
	return ""
}

// who says what kind of step it is, and who did it.
func (f *whyFailure) who() string {
	switch f.Type {
	case belay.TypeAgent:
		return strings.TrimSpace("agent step " + prefixed("of ", f.Agent))
	case belay.TypeRecipe:
		return "sub-recipe"
	case belay.TypeBash:
		return "shell step"
	}
	return ""
}

func prefixed(before, text string) string {
	if text == "" {
		return ""
	}
	return fmt.Sprint(before, text)
}
