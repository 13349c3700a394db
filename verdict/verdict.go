// Package verdict says what an attempt amounts to, from observations alone:
// done, unknown, given back, or one of the failures. It is pure; it never
// looks at a clock, a file or an earlier verdict, and it starts nothing.
//
// [Of] judges an attempt from what was seen of it: its exit, its output, what an
// agent reported, what changed in the working tree, what a check said. What an
// agent says about its own work is never evidence for it. [Classify] tells which
// class of trouble a failure is, from codes where there are any and else from the
// words; that is one of the two places where text of errors is read (agent is
// the other).
package verdict

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/internal/output"
)

// Case is everything that is known about one main attempt.
type Case struct {
	Step     belay.Path
	Type     belay.StepType
	Once     bool
	Timeout  time.Duration
	Declared belay.FailureKind // what the recipe says a failure stands for
	Main     effect.Observation
	Check    *effect.Observation // the step's verify, when it ran
	Over     belay.Path          // the step above it whose time limit ended it, "" for none

	// Of an agent step:
	Expect  belay.Expect
	JSON    bool   // somebody reads its answer as JSON
	Classic bool   // hollow success is judged by the text alone
	Shared  string // who can have been at work in the same tree, as its author meant; "" = nobody
}

// NeedsCheck tells whether the step's verify has something to decide: the
// attempt ended well, or nobody can tell what it did.
func NeedsCheck(c Case) bool {
	if c.agent() && !c.unknown() {
		return c.agentFailure() == nil // an end without a word may still have left the work there
	}
	return c.good() || c.unknown()
}

// agent tells whether an agent did it, or was to do it.
func (c Case) agent() bool { return c.Type.Agent() && c.Main.Child == nil }

// Spoke tells whether a check ran to its own end. One that could not start or
// was cut off says nothing about the work.
func Spoke(check *effect.Observation) bool {
	return check != nil && check.Began && check.Fault == fault.None &&
		check.Signal == 0 && check.KilledBy == fault.KilledNot
}

// Of judges an attempt.
func Of(c Case) effect.Verdict {
	v := of(c)
	if c.Shared != "" && c.agent() && !v.GivenBack && !v.Unknown { // a change there can be anybody's
		v.Against = append(slices.Clone(v.Against), "shared tree: "+c.Shared)
	}
	return v
}

func of(c Case) effect.Verdict {
	if Passed(c.Check) {
		switch report := c.Main.Agent; {
		case c.agent() && report != nil && !c.unknown():
			return c.ofAgent()
		case c.agent() && report != nil:
			return Lost(c, &report.Evidence)
		case c.agent():
			return Lost(c, nil)
		}
		return effect.Verdict{OK: true, Basis: effect.BasisVerify, Partial: c.partial(), For: append([]string{c.how()}, CheckedFor(*c.Check)...), Against: c.degraded()}
	}
	silent := c.Check != nil && !Spoke(c.Check)
	switch {
	case c.unknown() && !Spoke(c.Check):
		return effect.Verdict{Unknown: true, Against: []string{c.how()}}
	case c.Once && silent: // it may be there: a second run would be a guess
		return effect.Verdict{Unknown: true, Against: []string{c.how(), "verify: " + ending(*c.Check, 0)}}
	case c.ended():
		return effect.Verdict{GivenBack: true, Against: []string{c.how()}}
	case c.agent():
		return c.ofAgent()
	case c.Check != nil && c.good():
		return failed(c.checkFailure(), c.how())
	case c.good():
		return effect.Verdict{OK: true, Basis: effect.BasisExit, Partial: c.partial(), For: []string{c.how()}, Against: c.degraded()}
	}
	return failed(c.failure(c.Main, ""), c.how())
}

func failed(f *belay.Failure, against string) effect.Verdict {
	return effect.Verdict{Failure: f, Against: []string{against}}
}

// good tells whether the attempt by itself ended well.
func (c Case) good() bool {
	o := c.Main
	if o.Child != nil {
		return o.KilledBy == fault.KilledNot && (o.Child.Status == belay.Achieved || o.Child.Status == belay.Partial && o.Child.Failure == nil)
	}
	return o.Began && o.Exit == 0 && o.Signal == 0 && o.Fault == fault.None && o.KilledBy == fault.KilledNot
}

// degraded says what speaks against an attempt that ended well all the same.
func (c Case) degraded() []string {
	if !c.Main.Degraded {
		return nil
	}
	return []string{"degraded: there is no JSON in the output; it stays text"}
}

func (c Case) partial() bool {
	return c.Main.Child != nil && c.Main.Child.Status == belay.Partial
}

// unknown tells whether a step that must not run twice was cut off in the
// middle, or ended without saying that it failed while what it printed could
// not be kept: its effect may or may not be there.
func (c Case) unknown() bool {
	o := c.Main
	unkept := o.Fault != fault.None && o.Exit <= 0
	return c.Once && o.Began && o.Child == nil && (o.KilledBy != fault.KilledNot || o.Signal != 0 || unkept)
}

// ended tells whether the attempt was ended by a stop or a cancel, which is
// nobody's failure.
func (c Case) ended() bool {
	return c.Main.KilledBy == fault.KilledStop || c.Main.KilledBy == fault.KilledCancel
}

// how says in a few words how the attempt ended.
func (c Case) how() string {
	if c.Type.Inside() && c.good() {
		return "the function gave its result"
	}
	if c.Main.KilledBy == fault.KilledCancel && c.Over != "" {
		return OverWords(c.Over)
	}
	return ending(c.Main, c.Timeout)
}

// OverWords say of what is inside of a step that the time limit of that one ended it.
func OverWords(step belay.Path) string { return "ended by the time limit of step " + string(step) }

func ending(o effect.Observation, timeout time.Duration) string {
	switch {
	case o.KilledBy == fault.KilledDeadline:
		if timeout > 0 {
			return "timed out after " + timeout.String()
		}
		return "timed out"
	case o.KilledBy == fault.KilledGrace:
		return "ended by its keeper: no driver came back in time"
	case o.KilledBy == fault.KilledLease:
		return "ended by its keeper: its host could not be reached"
	case o.KilledBy != fault.KilledNot:
		return "ended by " + string(o.KilledBy)
	case o.Child != nil:
		return "child run " + string(o.Child.Status)
	case o.Fault != fault.None && o.Detail != "":
		return o.Detail
	case o.Fault != fault.None:
		return "fault: " + string(o.Fault)
	case o.Signal != 0:
		return fmt.Sprintf("signal %d", o.Signal)
	}
	return fmt.Sprintf("exit %d", o.Exit)
}

func (c Case) failure(o effect.Observation, prefix string) *belay.Failure {
	f := &belay.Failure{Kind: belay.BashFailure, Op: "step " + string(c.Step)}
	f.Cause = prefix + ending(o, c.Timeout)
	switch {
	case o.Fault != fault.None:
		f.Kind, f.Hint = faultKind(o.Fault)
	case c.Type.Child() && prefix == "":
		f.Kind = belay.RecipeFailure
		if o.Child != nil && o.Child.Failure != nil && o.KilledBy == fault.KilledNot {
			f.Cause = o.Child.Failure.Error()
			f.Hint = o.Child.Failure.Hint
		}
	default:
		if line := Telling(o.Tail); line != "" {
			f.Cause += ": " + line
		}
		f.Hint = tooLong(o)
	}
	if c.Declared != "" {
		f.Kind = c.Declared
	}
	return f
}

// faultKind says what a hand's fault stands for and what a person can do.
// cannotExecute is the exit of a shell that could not start a program.
const cannotExecute = 126

// tooLong is the hint for a program that bash could not execute, when a value
// was there that is too big to be an argument.
func tooLong(o effect.Observation) string {
	if o.Exit != cannotExecute || len(o.Big) == 0 {
		return ""
	}
	name := o.Big[0]
	return fmt.Sprintf("argument list too long? the value of %s is too big to be an argument of a program: give it the file instead, whose path is in $%s_FILE",
		name, strings.ToUpper(strings.ReplaceAll(name, "-", "_")))
}

func faultKind(f fault.Fault) (belay.FailureKind, string) {
	switch f {
	case fault.Program:
		return belay.Infrastructure, "install bash, or put it on PATH"
	case fault.Disk:
		return belay.Infrastructure, "free some disk space, then resume the run"
	case fault.Spawn:
		return belay.Infrastructure, "check the limits on processes and memory, then resume the run"
	case fault.Dir:
		return belay.BashFailure, "make the directory in an earlier step, or correct working_dir"
	case fault.TooBig:
		return belay.BashFailure, "hand big values over in files: $NAME_FILE holds the path of a value"
	case fault.Output:
		return belay.BashFailure, "write big results to a file and print its path instead"
	case fault.Input:
		return belay.BashFailure, "check the values that the step reads"
	case fault.Hidden:
		return belay.BashFailure, "name the secret under secrets: and read it where it comes from"
	case fault.JSON:
		return belay.BashFailure, "print JSON and nothing else, or ask for parse_json without parse_json_required"
	case fault.Result:
		return belay.BashFailure, "write the result before the step ends, or correct outputs:"
	case fault.Agent:
		return belay.Infrastructure, "belay doctor tells which agents are there"
	case fault.None:
	}
	return belay.BashFailure, ""
}

// Telling is the line of a message that says most: the first complaint of git or of Belay in
// its last lines, which end in advice; else the last line.
func Telling(tail string) string {
	const few = 12
	lines := strings.Split(strings.TrimSpace(tail), "\n")
	for _, line := range lines[max(0, len(lines)-few):] {
		line = strings.TrimSpace(line)
		if said, ours := strings.CutPrefix(line, "belay: error: "); ours { // a hint follows it
			return lastLine(said)
		}
		if strings.HasPrefix(line, "fatal: ") || strings.HasPrefix(line, "! [") {
			return lastLine(line)
		}
	}
	return lastLine(tail)
}

// maxLine is how much of a line a report has, in characters.
const maxLine = 200

// lastLine is the last line of a tail that has something on it, cut to a
// length that fits a report.
func lastLine(tail string) string { return output.LastLine(tail, maxLine) }
