// Package ledger is what runs on a machine share and ask for before they act: the
// budget of agents, the services that those call, working trees, places in the tree
// of sessions, and counts that outlive a driver. Everything is counted under the key
// of an attempt, so that asking twice counts once. It owns its tables, and lies in
// a database that somebody else opens, locks and migrates.
package ledger

import (
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/proc"
)

// Ledger is the ledger of one state directory.
type Ledger struct {
	Store Store
	Dead  func(proc.Identity) bool // proof, not absence of news
	Sweep func(belay.RunID) error  // ends what is left running of a dead run
}

// Store is the database.
type Store interface {
	Read(op string, do func(Tx) error) error
	// Change is one transaction that no other process writes into; it is on disk
	// when it returns.
	Change(op string, do func(Tx) error) error
	// Note is Change for what a power cut makes untrue anyway: nobody waits for the disk.
	Note(op string, do func(Tx) error) error
}

// Tx does statements with texts, numbers, run ids and times in them.
type Tx interface {
	Run(text string, args ...any) error
	Each(text string, args []any, show func(Row)) error
}

// Row is one row of an answer.
type Row interface {
	ColumnText(col int) string
	ColumnInt64(col int) int64
}

// number is the first column of the first row; 0 for no row.
func number(c Tx, text string, args ...any) (n int64, err error) {
	err = c.Each(text, args, func(q Row) { n = q.ColumnInt64(0) })
	return n, err
}

// timeAt is a time in a column; 0 is none.
func timeAt(q Row, col int) time.Time {
	n := q.ColumnInt64(col)
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

func identityAt(q Row, col int) proc.Identity {
	return proc.Identity{Pid: int(q.ColumnInt64(col)), Start: uint64(q.ColumnInt64(col + 1)), Boot: q.ColumnText(col + 2)}
}
