// Package exit holds the exit codes of the binary: one table, one function that
// maps an error to its code, and the error that carries one. It never exits.
package exit

import (
	"errors"
	"fmt"
)

// The exit codes of the binary: one table, one function, one place that exits.
const (
	OK         = 0   // the command did what was asked; for a run: ACHIEVED
	Failed     = 1   // failed
	Panic      = 2   // never used on purpose: Go's own code of a panic
	Stalemate  = 3   // no further round would change anything
	Aborted    = 4   // aborted by the user
	Partial    = 5   // a required step was left out
	Hollow     = 6   // success was claimed, nothing was done
	Damaged    = 7   // the journal is damaged
	Infra      = 8   // disk, login, tool, network
	Busy       = 9   // another process drives this run
	Held       = 11  // a person must act
	Window     = 12  // runs go on without this process: the window of a watch ended, or the run is parked
	Watched    = 20  // watch: a watched run failed
	Watch      = 30  // watch: the watch itself failed
	Usage      = 64  // wrong usage
	Invalid    = 65  // invalid recipe or input
	Hangup     = 129 // SIGHUP
	Interrupt  = 130 // SIGINT
	Terminated = 143 // SIGTERM
)

// Row is a row of the table of exit codes.
type Row struct {
	Code    int
	Meaning string
}

// Table is the table of the codes that exist so far, as the manual prints it.
func Table() []Row {
	return []Row{
		{OK, "the command did what was asked; for a recipe: every required step done, on evidence that Belay saw"},
		{Failed, "failed, or NOT_ACHIEVED: by its recipe, nothing of the goal was reached"},
		{Panic, "never used on purpose; a crash of belay itself"},
		{Stalemate, "STALEMATE: rounds came to a standstill, the next would change nothing"},
		{Aborted, "aborted by the user (cancel)"},
		{Partial, "PARTIAL: a required step was skipped by a person, or recovered with nothing that checks it"},
		{Hollow, "HOLLOW: an agent claimed success, and nothing was done, or nothing shows it"},
		{Damaged, "the journal is damaged; nothing was overwritten"},
		{Infra, "infrastructure: disk, tool, keeper, state directory"},
		{Busy, "another process drives this run"},
		{Held, "a person must act; the run is held and can go on"},
		{Window, "runs go on without this process: the window of a watch ended, or a run is parked"},
		{Watched, "watch: a watched run ended without reaching its goal"},
		{Watch, "watch: the watch itself failed"},
		{Usage, "wrong usage"},
		{Invalid, "invalid recipe or input"},
		{Hangup, "SIGHUP: stopped, can be resumed"},
		{Interrupt, "SIGINT: stopped, can be resumed"},
		{Terminated, "SIGTERM: stopped, can be resumed"},
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

// New makes an error with a code, an operation and a hint.
func New(code int, op string, err error, hint string) error {
	return &Error{Code: code, Op: op, Err: err, Hint: hint}
}

// Code maps any error to the code of the process. Only nil is 0; an error
// that carries no code of its own is 1.
func Code(err error) int {
	if err == nil {
		return OK
	}
	code := Failed
	var run interface{ RunExitCode() int } // a run that did not end well knows its own
	var coded *Error
	switch {
	case errors.As(err, &run):
		code = run.RunExitCode()
	case errors.As(err, &coded):
		code = coded.Code
	}
	if code == OK { // an error never ends in 0
		return Failed
	}
	return code
}

// precedence orders the codes when several apply: the first one wins.
var precedence = [...]int{
	Damaged, Busy, Held, Stalemate, Infra, Hollow, Failed, Partial,
}

// Worse is the code that wins when both apply.
func Worse(a, b int) int {
	for _, c := range precedence {
		if a == c || b == c {
			return c
		}
	}
	if a != OK {
		return a
	}
	return b
}
