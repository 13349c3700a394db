// Package verdict says what an attempt amounts to, from observations alone:
// done, unknown, given back, or one of the failures. It is pure; it never
// looks at a clock, a file or an earlier verdict, and it starts nothing.
package verdict

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay"
)

// Case is everything that is known about one main attempt.
type Case struct {
	Step     belay.Path
	Type     belay.StepType
	Once     bool
	Timeout  time.Duration
	Declared belay.FailureKind // what the recipe says a failure stands for
	Main     belay.Observation
	Check    *belay.Observation // the step's verify, when it ran

	// Of an agent step:
	Expect  belay.Expect
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
func (c Case) agent() bool { return c.Type == belay.TypeAgent && c.Main.Child == nil }

// Spoke tells whether a check ran to its own end. One that could not start or
// was cut off says nothing about the work.
func Spoke(check *belay.Observation) bool {
	return check != nil && check.Began && check.Fault == belay.FaultNone &&
		check.Signal == 0 && check.KilledBy == belay.KilledNot
}

// Of judges an attempt.
func Of(c Case) belay.Verdict {
	v := of(c)
	if c.Shared != "" && c.agent() && !v.GivenBack && !v.Unknown { // a change there can be anybody's
		v.Against = append(slices.Clone(v.Against), "shared tree: "+c.Shared)
	}
	return v
}

func of(c Case) belay.Verdict {
	if Passed(c.Check) {
		switch report := c.Main.Agent; {
		case c.agent() && report != nil && !c.unknown():
			return c.ofAgent()
		case c.agent() && report != nil:
			return Lost(c, &report.Evidence)
		case c.agent():
			return Lost(c, nil)
		}
		return belay.Verdict{OK: true, Basis: belay.BasisVerify, Partial: c.partial(), For: append([]string{c.how()}, CheckedFor(*c.Check)...), Against: c.degraded()}
	}
	silent := c.Check != nil && !Spoke(c.Check)
	switch {
	case c.unknown() && !Spoke(c.Check):
		return belay.Verdict{Unknown: true, Against: []string{c.how()}}
	case c.Once && silent: // it may be there: a second run would be a guess
		return belay.Verdict{Unknown: true, Against: []string{c.how(), "verify: " + ending(*c.Check, 0)}}
	case c.ended():
		return belay.Verdict{GivenBack: true, Against: []string{c.how()}}
	case c.agent():
		return c.ofAgent()
	case c.Check != nil && c.good():
		return failed(c.checkFailure(), c.how())
	case c.good():
		return belay.Verdict{OK: true, Basis: belay.BasisExit, Partial: c.partial(), For: []string{c.how()}, Against: c.degraded()}
	}
	return failed(c.failure(c.Main, ""), c.how())
}

func failed(f *belay.Failure, against string) belay.Verdict {
	return belay.Verdict{Failure: f, Against: []string{against}}
}

// good tells whether the attempt by itself ended well.
func (c Case) good() bool {
	o := c.Main
	if o.Child != nil {
		return o.KilledBy == belay.KilledNot && (o.Child.Status == belay.Achieved || o.Child.Status == belay.Partial && o.Child.Failure == nil)
	}
	return o.Began && o.Exit == 0 && o.Signal == 0 && o.Fault == belay.FaultNone && o.KilledBy == belay.KilledNot
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
	unkept := o.Fault != belay.FaultNone && o.Exit <= 0
	return c.Once && o.Began && o.Child == nil && (o.KilledBy != belay.KilledNot || o.Signal != 0 || unkept)
}

// ended tells whether the attempt was ended by a stop or a cancel, which is
// nobody's failure.
func (c Case) ended() bool {
	return c.Main.KilledBy == belay.KilledStop || c.Main.KilledBy == belay.KilledCancel
}

// how says in a few words how the attempt ended.
func (c Case) how() string { return ending(c.Main, c.Timeout) }

func ending(o belay.Observation, timeout time.Duration) string {
	switch {
	case o.KilledBy == belay.KilledDeadline:
		if timeout > 0 {
			return "timed out after " + timeout.String()
		}
		return "timed out"
	case o.KilledBy == belay.KilledGrace:
		return "ended by its keeper: no driver came back in time"
	case o.KilledBy != belay.KilledNot:
		return "ended by " + string(o.KilledBy)
	case o.Child != nil:
		return "child run " + string(o.Child.Status)
	case o.Fault != belay.FaultNone && o.Detail != "":
		return o.Detail
	case o.Fault != belay.FaultNone:
		return "fault: " + string(o.Fault)
	case o.Signal != 0:
		return fmt.Sprintf("signal %d", o.Signal)
	}
	return fmt.Sprintf("exit %d", o.Exit)
}

func (c Case) failure(o belay.Observation, prefix string) *belay.Failure {
	f := &belay.Failure{Kind: belay.BashFailure, Op: "step " + string(c.Step)}
	f.Cause = prefix + ending(o, c.Timeout)
	switch {
	case o.Fault != belay.FaultNone:
		f.Kind, f.Hint = faultKind(o.Fault)
	case c.Type == belay.TypeRecipe && prefix == "":
		f.Kind = belay.RecipeFailure
		if o.Child != nil && o.Child.Failure != nil && o.KilledBy == belay.KilledNot {
			f.Cause = o.Child.Failure.Error()
			f.Hint = o.Child.Failure.Hint
		}
	default:
		if last := lastLine(o.Tail); last != "" {
			f.Cause += ": " + last
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
func tooLong(o belay.Observation) string {
	if o.Exit != cannotExecute || len(o.Big) == 0 {
		return ""
	}
	name := o.Big[0]
	return fmt.Sprintf("argument list too long? the value of %s is too big to be an argument of a program: give it the file instead, whose path is in $%s_FILE",
		name, strings.ToUpper(strings.ReplaceAll(name, "-", "_")))
}

func faultKind(f belay.Fault) (belay.FailureKind, string) {
	switch f {
	case belay.FaultProgram:
		return belay.Infrastructure, "install bash, or put it on PATH"
	case belay.FaultDisk:
		return belay.Infrastructure, "free some disk space, then resume the run"
	case belay.FaultSpawn:
		return belay.Infrastructure, "check the limits on processes and memory, then resume the run"
	case belay.FaultDir:
		return belay.BashFailure, "make the directory in an earlier step, or correct working_dir"
	case belay.FaultTooBig:
		return belay.BashFailure, "hand big values over in files: $NAME_FILE holds the path of a value"
	case belay.FaultOutput:
		return belay.BashFailure, "write big results to a file and print its path instead"
	case belay.FaultInput:
		return belay.BashFailure, "check the values that the step reads"
	case belay.FaultHidden:
		return belay.BashFailure, "name the secret under secrets: and read it where it comes from"
	case belay.FaultJSON:
		return belay.BashFailure, "print JSON and nothing else, or ask for parse_json without parse_json_required"
	case belay.FaultResult:
		return belay.BashFailure, "write the result before the step ends, or correct outputs:"
	case belay.FaultAgent:
		return belay.Infrastructure, "belay doctor tells which agents are there"
	case belay.FaultNone:
	}
	return belay.BashFailure, ""
}

// lastLine is the last line of a tail that has something on it, cut to a
// length that fits a report.
func lastLine(tail string) string {
	const most = 200
	lines := strings.Split(strings.TrimSpace(tail), "\n")
	last := []rune(strings.TrimSpace(lines[len(lines)-1]))
	if len(last) > most {
		return string(last[:most]) + "…"
	}
	return string(last)
}
