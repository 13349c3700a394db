package journal

import (
	"errors"

	"github.com/ncruces/go-sqlite3"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/ledger"
	"github.com/belay-run/belay/proc"
)

// Ledger is what the runs of this state directory share. Its tables are in the
// index, beside the list of runs.
func (s *State) Ledger() *ledger.Ledger {
	return &ledger.Ledger{Store: index{s}, Dead: s.dead, Sweep: s.sweepLeft}
}

// index is the index as the ledger sees it.
type index struct{ s *State }

func (x index) Read(op string, do func(ledger.Tx) error) error   { return x.s.inIndex(op, within(do)) }
func (x index) Change(op string, do func(ledger.Tx) error) error { return x.s.change(op, within(do)) }
func (x index) Note(op string, do func(ledger.Tx) error) error   { return x.s.note(op, within(do)) }

func within(do func(ledger.Tx) error) func(*sqlite3.Conn) error {
	return func(c *sqlite3.Conn) error { return do(tx{c}) }
}

// tx runs the ledger's statements.
type tx struct{ c *sqlite3.Conn }

func (t tx) Run(text string, args ...any) error { return run(t.c, text, args...) }

func (t tx) Each(text string, args []any, show func(ledger.Row)) error {
	return each(t.c, text, args, func(q *sqlite3.Stmt) { show(q) })
}

// sweepLeft ends what is left running of a dead run.
func (s *State) sweepLeft(id belay.RunID) error {
	if dir := string(s.Folder(id)); exists(dir) {
		return proc.Sweep(dir, id)
	}
	return nil
}

// proven tells whether a process is known to be dead. That it could not be
// looked at proves nothing.
func proven(id proc.Identity) bool {
	if id.Pid <= 0 {
		return true // there is none
	}
	if id.Alive() {
		return false
	}
	now, err := proc.Identify(id.Pid)
	switch {
	case errors.Is(err, proc.ErrGone):
		return true
	case err != nil:
		return false
	}
	return now != id || !id.Alive() // another process has its pid, or it is a zombie
}
