package verdict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/fault"
)

// The confidences of a judgement about an agent: what Belay saw for itself is
// worth more than what a tool's record says, and that more than a text.
const (
	sureSeen   = 95
	sureRecord = 85
	sureText   = 60
)

// agentFailure is what speaks against an agent that did not end well by itself:
// our own clock first, then its typed record, then its process. nil means that
// it ended by itself, without an error.
func (c Case) agentFailure() *belay.Failure {
	r := c.Main.Agent
	if r == nil {
		return c.unreported()
	}
	if by := endedBy(r.Ended, c); by != "" {
		return c.fail(belay.AgentTimeout, belay.ClassTimeout, by+c.where(),
			"look at what it did last with: belay logs, then raise timeout or split the task")
	}
	a := r.Result
	switch {
	case c.Main.Fault == fault.Output && c.Main.KilledBy == fault.KilledNot: // we may have ended it for that: how it left says nothing
		f := c.failure(c.Main, "")
		f.Class = faultClass(c.Main.Fault)
		return f
	case a.Stop == belay.StopRefused:
		return c.fail(belay.BashFailure, belay.ClassRefusal, "the model refused"+c.said(), "say the task in other words, or use another model")
	case a.Error || a.Class != belay.ClassNone && a.Class != belay.ClassBenign && !c.finished():
		return c.classified(a)
	case a.Stop == belay.StopLimit: // whatever its flag says, it did not come to its end
		return c.fail(belay.BashFailure, belay.ClassTurnLimit, "the agent used up what it may use of turns or calls"+c.said(), "split the task, or allow more turns")
	case a.Stop == belay.StopTruncated && c.Expect != belay.ExpectNone:
		return c.fail(belay.BashFailure, belay.ClassTokenLimit, "the answer was cut off at the model's output limit",
			"ask for files instead of a long answer, or split the task")
	case c.finished() && c.JSON && slices.Contains(c.Main.Hidden, effect.Stdout): // half a value would do harm in silence
		return c.fail(belay.BashFailure, belay.ClassWorkFailure, "there is a secret in the answer, which was hidden: what is left of it cannot be used",
			"keep the secret from the agent, or tell it not to repeat it")
	case c.finished():
		return c.tampered()
	case c.Main.Fault != fault.None: // it ended well, and what it left is not what was asked for
		f := c.failure(c.Main, "")
		f.Class = belay.ClassWorkFailure
		if f.Kind == belay.Infrastructure {
			f.Class = belay.ClassInfrastructure
		}
		return f
	case a.Signal != 0:
		return c.fail(belay.BashFailure, belay.ClassUnknown, fmt.Sprintf("%s was ended by signal %d, and not by us", r.Name, a.Signal), "")
	case !a.Final && a.Exit == 0 && Changed(r.Evidence): // real work is never hollow, and nobody says that it is all
		return c.fail(belay.BashFailure, belay.ClassUnknown, r.Name+" left with exit 0 and without the record that ends a run; there is work of it",
			"look at what it left, then resume the run")
	case !a.Final && a.Exit == 0:
		return c.fail(belay.HollowSuccess, belay.ClassHollow, r.Name+" left with exit 0 and without the record that ends a run", "")
	}
	return c.fail(belay.BashFailure, belay.ClassUnknown, fmt.Sprintf("%s: exit %d%s", r.Name, a.Exit, c.said()), "")
}

// finished tells whether the agent's process and its last record both say that
// it came to its end. The attendant answers for the record: it knows which
// agents write one.
func (c Case) finished() bool {
	o := c.Main
	return o.Began && o.Exit == 0 && o.Signal == 0 && o.KilledBy == fault.KilledNot && o.Fault == fault.None
}

// unreported is the failure of an agent whose attendant left no report.
func (c Case) unreported() *belay.Failure {
	o := c.Main
	switch {
	case o.KilledBy == fault.KilledDeadline || o.KilledBy == fault.KilledGrace || o.KilledBy == fault.KilledLease:
		return c.fail(belay.AgentTimeout, belay.ClassTimeout, ending(o, c.Timeout), "")
	case o.Fault != fault.None:
		f := c.failure(o, "")
		f.Class = belay.ClassInfrastructure
		return f
	}
	cause, hint := "the attendant of the agent left no report ("+ending(o, c.Timeout)+")", "out of memory, or ended by somebody else? look at: belay logs"
	if last := lastLine(o.Tail); o.Signal == 0 && last != "" { // it left by itself, and says why
		cause, hint = cause+": "+last, "is the disk full? look at: belay logs, belay doctor"
	}
	return c.fail(belay.Infrastructure, belay.ClassInfrastructure, cause, hint)
}

// classified is the failure that the agent's own record or the process of the
// CLI names.
func (c Case) classified(a belay.AgentResult) *belay.Failure {
	class := a.Class
	if class == belay.ClassNone {
		class = belay.ClassUnknown
	}
	row := class.Row()
	kind, hint := row.Kind, row.Hint
	if kind == "" {
		kind = belay.BashFailure
	}
	cause := a.Cause
	if cause == "" {
		cause = fmt.Sprintf("%s: exit %d", c.Main.Agent.Name, a.Exit)
	}
	if a.Status != 0 && !strings.Contains(cause, fmt.Sprint(a.Status)) {
		cause += fmt.Sprintf(" (HTTP %d)", a.Status)
	}
	if !a.Reset.IsZero() {
		hint = "it can go on after " + a.Reset.UTC().Format("2006-01-02 15:04 MST")
	}
	return c.fail(kind, class, cause, hint)
}

func endedBy(by effect.EndedBy, c Case) string {
	switch by {
	case effect.EndedDeadline:
		if c.Timeout > 0 {
			return "timed out after " + c.Timeout.String()
		}
		return "timed out"
	case effect.EndedFirst:
		return "ended by belay: it never said anything"
	case effect.EndedSilence:
		return "ended by belay: it fell silent"
	case effect.EndedTool:
		return "ended by belay: one tool took too long"
	case effect.EndedBabble:
		return "ended by belay: it talked on and on without doing anything"
	case effect.EndedRetries:
		return "ended by belay: it did nothing but retry"
	case effect.EndedSignal, effect.EndedOutput, effect.EndedItself:
	}
	return ""
}

// where says what was under way when an agent was ended.
func (c Case) where() string {
	for i := len(c.Main.Agent.Result.Tools) - 1; i >= 0; i-- {
		if t := c.Main.Agent.Result.Tools[i]; t.Open {
			return "; open then: " + strings.TrimSpace(t.Name+" "+t.Command)
		}
	}
	return c.said()
}

// said adds the agent's own words for an error.
func (c Case) said() string {
	if cause := c.Main.Agent.Result.Cause; cause != "" {
		return ": " + cause
	}
	return ""
}

func (c Case) fail(kind belay.FailureKind, class belay.Class, cause, hint string) *belay.Failure {
	return &belay.Failure{Kind: kind, Class: class, Op: "step " + string(c.Step), Cause: cause, Hint: hint}
}

// ofAgent judges an attempt of an agent step by what Belay saw: the tree, and
// the check that it ran. A check that passes is never in the place of what the
// step expects, and one that fails always fails the step.
func (c Case) ofAgent() effect.Verdict {
	if f := c.agentFailure(); f != nil {
		return c.verdictOf(f, sureRecord)
	}
	v := c.claim().judge()
	if c.Classic {
		v = c.claim().classic()
	}
	v.Against = append(v.Against, c.degraded()...)
	switch {
	case Passed(c.Check):
		v = c.passed(v)
	case c.Check != nil && (v.Failure == nil || c.Expect == belay.ExpectTests || c.Expect == belay.ExpectPR):
		v.OK, v.Failure, v.Basis = false, c.checkFailure(), ""
		v.Against = append(v.Against, v.Failure.Cause)
	}
	if v.Failure != nil {
		v.Failure.Op = "step " + string(c.Step)
	}
	return c.lowered(v)
}

// passed adds to a verdict that the step's check passed.
func (c Case) passed(v effect.Verdict) effect.Verdict {
	v.For = append(v.For, CheckedFor(*c.Check)...)
	if t := c.Check.Tally; t != nil && t.None && c.Expect != belay.ExpectTests { // it may look at more than tests
		v.Against = append(v.Against, "verify: the end of its output tells that no test ran")
	}
	switch {
	case v.OK:
		v.Sure = sureSeen
		if v.Basis == effect.BasisAnswer || v.Basis == effect.BasisExit {
			v.Basis = effect.BasisVerify
		}
	case v.Failure.Kind == belay.HollowSuccess && c.Expect == belay.ExpectChange:
		v.Failure.Hint = "its check passes, and the step demands a change all the same: say expect: none where there may be nothing to do"
	}
	return v
}

// verdictOf wraps a failure with what was seen of the work all the same.
func (c Case) verdictOf(f *belay.Failure, sure int) effect.Verdict {
	v := effect.Verdict{Failure: f, Against: []string{f.Cause}, Sure: sure}
	if r := c.Main.Agent; r != nil {
		v.For = changes(r.Evidence)
	}
	return v
}
