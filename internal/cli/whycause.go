package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/story"
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
	Final    bool              `json:"final"`                 // no recovery is left
	Back     bool              `json:"rolled_back,omitempty"` // its fallback put the files back as they were
	Others   int               `json:"others"`                // steps that failed by themselves beside it
}

// rootCause puts the cause of a failure into words; nil when nothing is wrong.
func rootCause(c *story.Cause) *whyFailure {
	if c == nil {
		return nil
	}
	f := &whyFailure{Run: c.Run, Final: c.Final}
	if c.Whole {
		f.Name = c.Failure.Op
		f.take(c.Failure)
		return f
	}
	f.Step, f.Name, f.Type, f.Agent, f.Attempts, f.Same = string(c.Path), c.At().Name(), c.Type, c.Agent, c.Attempt, c.Same
	f.Back = story.RolledBack(c.StepView)
	f.At, f.Others = c.Began.At.UTC(), c.Others
	for _, up := range c.Above {
		f.Above = append(f.Above, strings.TrimSuffix(up.Name(), "/"))
	}
	if c.Failure != nil {
		f.take(c.Failure)
	} else {
		f.Cause = story.HeldWords(c.StepView)
		if story.OverBudget(c.StepView) {
			f.Class = belay.ClassBudget
		}
	}
	if c.Failure == nil && c.Began.Cause != f.Cause || c.Failure != nil && !c.Began.Is(c.Failure) {
		f.First = c.Began.Cause
	}
	if c.Verdict != nil {
		f.Against = c.Verdict.Against
	}
	f.lastLines(c.Printed)
	return f
}

func (f *whyFailure) take(x *belay.Failure) {
	f.Kind, f.Class, f.Level, f.Rule, f.Print = x.Kind, x.Class, x.Level, x.Rule, x.Print
	f.Cause, f.Hint, f.Reset, f.Decided = x.Cause, x.Hint, x.Reset, decidedFrom(x.Level)
}

// How many of the last lines of a step are shown, and how many are stored.
const lastLines = 8

// lastLines takes the end of what an attempt printed: the failing one, its
// check, or the words of an agent.
func (f *whyFailure) lastLines(a *story.Attempt) {
	if a == nil {
		return
	}
	by := "step"
	switch {
	case a.Report() != nil:
		by = "agent"
	case a.Role == belay.RoleVerify:
		by = "check"
	}
	if lines := endOf(a.Said()); len(lines) > 0 {
		f.Output, f.Printed = lines, by
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
	l = strings.ReplaceAll(readable.Harmless(l), "\t", "    ")
	return strings.TrimRight(strings.ReplaceAll(l, "\n", " "), " ")
}

// decidedFrom is a rung of the ladder of evidence in words.
func decidedFrom(l belay.Level) string {
	switch l {
	case belay.LevelAct:
		return "known from what belay itself did"
	case belay.LevelTyped:
		return "reported by the agent"
	case belay.LevelProcess:
		return "known from its exit code"
	case belay.LevelProbe:
		return "seen by belay itself"
	case belay.LevelRepeat:
		return "known because the same happened again and nothing had changed"
	case belay.LevelText:
		return "a guess, from the last lines it printed"
	case belay.LevelUnknown:
		return "neither the exit code nor what it printed says more about the cause"
	}
	return ""
}

// who says what kind of step it is, and who did it.
func (f *whyFailure) who() string {
	row := f.Type.Row()
	if row.Agent {
		return strings.TrimSpace(row.Words + prefixed(", agent ", f.Agent))
	}
	if f.Type == belay.TypeApprove {
		return row.Words + " step"
	}
	return row.Words
}

func prefixed(before, text string) string {
	if text == "" {
		return ""
	}
	return fmt.Sprint(before, text)
}
