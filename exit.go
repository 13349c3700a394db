package belay

import (
	"errors"
	"fmt"
)

// The exit codes of the binary: one table, one function, one place that exits.
const (
	ExitOK         = 0   // the command did what was asked; for a run: ACHIEVED
	ExitFailed     = 1   // failed
	ExitPanic      = 2   // never used on purpose: Go's own code of a panic
	ExitStalemate  = 3   // no further round would change anything
	ExitAborted    = 4   // aborted by the user
	ExitPartial    = 5   // a required step was left out
	ExitHollow     = 6   // success was claimed, nothing was done
	ExitDamaged    = 7   // the journal is damaged
	ExitInfra      = 8   // disk, login, tool, network
	ExitBusy       = 9   // another process drives this run
	ExitHeld       = 11  // a person must act
	ExitWatching   = 12  // still running when the watch window ended
	ExitWatchRun   = 20  // watch: a watched run failed
	ExitWatchSelf  = 30  // watch: the watch itself failed
	ExitUsage      = 64  // wrong usage
	ExitInvalid    = 65  // invalid recipe or input
	ExitHangup     = 129 // SIGHUP
	ExitInterrupt  = 130 // SIGINT
	ExitTerminated = 143 // SIGTERM
)

// ExitRow is a row of the table of exit codes.
type ExitRow struct {
	Code    int
	Meaning string
}

// ExitTable is the table of the codes that exist so far, as the manual prints it.
func ExitTable() []ExitRow {
	return []ExitRow{
		{ExitOK, "the command did what was asked; for a recipe: every required step done and checked"},
		{ExitFailed, "failed"},
		{ExitPanic, "never used on purpose; a crash of belay itself"},
		{ExitAborted, "aborted by the user (cancel)"},
		{ExitPartial, "PARTIAL: a required step was skipped by a person, or recovered with nothing that checks it"},
		{ExitHollow, "HOLLOW: an agent claimed success, and nothing was done"},
		{ExitDamaged, "the journal is damaged; nothing was overwritten"},
		{ExitInfra, "infrastructure: disk, tool, keeper, state directory"},
		{ExitBusy, "another process drives this run"},
		{ExitHeld, "a person must act; the run is held and can go on"},
		{ExitUsage, "wrong usage"},
		{ExitInvalid, "invalid recipe or input"},
		{ExitHangup, "SIGHUP: stopped, can be resumed"},
		{ExitInterrupt, "SIGINT: stopped, can be resumed"},
		{ExitTerminated, "SIGTERM: stopped, can be resumed"},
	}
}

// Error is an error that knows its exit code and what a person can type next.
type Error struct {
	Code int
	Op   string
	Err  error
	Hint string
}

func (e *Error) Error() string {
	if e.Op == "" {
		return e.Err.Error()
	}
	return fmt.Sprintf("%s: %v", e.Op, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// Exit makes an error with a code, an operation and a hint.
func Exit(code int, op string, err error, hint string) error {
	return &Error{Code: code, Op: op, Err: err, Hint: hint}
}

// RunError is how a run ended when it did not end well; it has been shown to
// the user already when it reaches main.
type RunError struct {
	Run    RunID
	Result RunResult
}

func (e *RunError) Error() string {
	return fmt.Sprintf("run %s: %s: %s", e.Run, e.Result.Status, e.Result.Reason)
}

// ExitCode maps any error to the code of the process. Only nil is 0; an error
// that carries no code of its own is 1.
func ExitCode(err error) int {
	if err == nil {
		return ExitOK
	}
	code := ExitFailed
	var run *RunError
	var coded *Error
	switch {
	case errors.As(err, &run):
		code = run.Result.Code
	case errors.As(err, &coded):
		code = coded.Code
	}
	if code == ExitOK { // an error never ends in 0
		return ExitFailed
	}
	return code
}

// precedence orders the codes when several apply: the first one wins.
var precedence = [...]int{
	ExitDamaged, ExitBusy, ExitHeld, ExitStalemate, ExitInfra, ExitHollow, ExitFailed, ExitPartial,
}

// Worse is the code that wins when both apply.
func Worse(a, b int) int {
	for _, c := range precedence {
		if a == c || b == c {
			return c
		}
	}
	if a != ExitOK {
		return a
	}
	return b
}
