package ledger

import (
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay"
)

// LeaseSchema makes the table of working trees: one agent works in each at a time. Who does is a row here: a step
// of a run, which has the tree until it gives it back. A row of a run of which
// driver and keeper are proven dead counts for nothing.
// taken is when the holder took the tree over from somebody else; it stays the
// same while nobody else has had the tree, also over a crash.
const LeaseSchema = `
	CREATE TABLE leases (
		tree TEXT NOT NULL, run TEXT NOT NULL, step TEXT NOT NULL,
		shared INTEGER NOT NULL, held INTEGER NOT NULL, taken INTEGER NOT NULL,
		PRIMARY KEY (tree, run, step)
	) STRICT;
	CREATE INDEX leases_run ON leases (run)`

// keptLeases is how long it is remembered who had a tree last.
const keptLeases = 30 * 24 * time.Hour

// Lease asks for a working tree.
type Lease struct {
	Tree   string // its real top
	Run    belay.RunID
	Step   string // names the step in the whole tree of runs: RUN:STEP
	Shared bool   // steps of the same run that say so, too, may be there at the same time
}

// Leased is the answer to it.
type Leased struct {
	OK    bool
	Taken int64       // of a tree that was taken: another number than before when somebody else had it meanwhile
	By    belay.RunID // else: who has it
	Never bool        // and waiting for it could last for ever, because a run that this one is part of has another tree
}

type leaseRow struct {
	Lease
	held  bool
	taken int64
}

// TakeTree gives a step a tree, or says who has it. What a dead holder left
// running is ended first: an agent that outlived its keeper may still write.
func (led *Ledger) TakeTree(l Lease) (Leased, error) {
	var got Leased
	var left belay.RunID
	swept := map[belay.RunID]bool{}
	for {
		err := led.Store.Change("take a working tree", func(c Tx) error {
			var err error
			got, left, err = led.takeTree(c, l, swept)
			return err
		})
		if err != nil || left == "" || swept[left] {
			return got, err
		}
		if led.Sweep(left) != nil {
			return got, nil // somebody goes on with it just now, or it cannot be ended: it has the tree
		}
		swept[left] = true
	}
}

// takeTree is one try. left is a dead run that has the tree and was not swept.
func (led *Ledger) takeTree(c Tx, l Lease, swept map[belay.RunID]bool) (_ Leased, left belay.RunID, _ error) {
	rows, err := leasesOf(c, "tree = ? ORDER BY taken", l.Tree)
	if err != nil {
		return Leased{}, "", err
	}
	above, err := ancestorsOf(c, l.Run)
	if err != nil {
		return Leased{}, "", err
	}
	var own *leaseRow
	last := int64(0) // when it last passed to somebody else than this step
	for _, r := range rows {
		if r.Run == l.Run.Root() && r.Step == l.Step {
			own = &r
			continue
		}
		last = max(last, r.taken)
		if !r.held || under(r, l, above) {
			continue
		}
		dead, err := led.gone(c, r.Run)
		if err != nil {
			return Leased{}, "", err
		}
		if dead = dead && r.Run != l.Run.Root(); dead && !swept[r.Run] {
			return Leased{By: r.Run}, r.Run, nil
		}
		if !dead {
			never, err := elsewhereHeld(c, above, l.Tree)
			return Leased{By: r.Run, Never: never}, "", err
		}
		if err := c.Run("UPDATE leases SET held = 0 WHERE tree = ? AND run = ?", l.Tree, r.Run); err != nil {
			return Leased{}, "", err
		}
	}
	taken := time.Now().UnixNano()
	if own != nil && own.taken > last {
		taken = own.taken
	}
	taken = max(taken, last+1)
	err = c.Run("INSERT OR REPLACE INTO leases VALUES (?,?,?,?,1,?)", l.Tree, l.Run.Root(), l.Step, asInt(l.Shared), taken)
	if err == nil {
		err = c.Run("DELETE FROM leases WHERE held = 0 AND taken < ?", time.Now().Add(-keptLeases).UnixNano())
	}
	return Leased{OK: err == nil, Taken: taken}, "", err
}

// under tells whether a step works under the lease of another: it belongs to a
// run that was started inside of it, it is a part of the step, or both share.
func under(r leaseRow, l Lease, above []belay.RunID) bool {
	if r.Run != l.Run.Root() {
		return slices.Contains(above, r.Run)
	}
	run, path, _ := belay.CutRun(r.Step)
	return r.Shared && l.Shared || strings.HasPrefix(l.Step, string(run)+"/"+path+".")
}

// elsewhereHeld tells whether a run that this one was started in has another
// tree: who waits in it would keep that one waiting, too.
func elsewhereHeld(c Tx, above []belay.RunID, tree string) (bool, error) {
	for _, id := range above {
		rows, err := leasesOf(c, "run = ? AND held = 1 AND tree <> ?", id, tree)
		if err != nil || len(rows) > 0 {
			return len(rows) > 0, err
		}
	}
	return false, nil
}

// ancestorsOf are the runs that a run was started in, the nearest first.
func ancestorsOf(c Tx, id belay.RunID) ([]belay.RunID, error) {
	var above []belay.RunID
	for at := id.Root(); len(above) < DefaultMaxSessions; {
		m, err := member(c, "run = ?", at)
		if err != nil || m == nil || m.Session.Parent == "" {
			return above, err
		}
		at = m.Session.Parent.Root()
		above = append(above, at)
	}
	return above, nil
}

// gone tells whether nothing of a run can be at work any more.
func (led *Ledger) gone(c Tx, id belay.RunID) (bool, error) {
	m, err := member(c, "run = ?", id)
	if err != nil || m == nil {
		return m == nil && err == nil, err // it was removed
	}
	return led.Dead(m.Driver) && led.Dead(m.Keeper), nil
}

// GiveTrees gives back all trees of a run but those that are kept: steps by tree.
// That it had them last stays known.
func (led *Ledger) GiveTrees(id belay.RunID, keep map[string][]string) error {
	return led.Store.Change("give working trees back", func(c Tx) error {
		rows, err := leasesOf(c, "run = ? AND held = 1", id.Root())
		for _, r := range rows {
			if err == nil && !slices.Contains(keep[r.Tree], r.Step) {
				err = c.Run("UPDATE leases SET held = 0 WHERE tree = ? AND run = ? AND step = ?", r.Tree, r.Run, r.Step)
			}
		}
		return err
	})
}

// TreesOf are the trees that a run has, with the steps that have them.
func (led *Ledger) TreesOf(id belay.RunID) (map[string][]string, error) {
	has := map[string][]string{}
	err := led.Store.Read("list working trees", func(c Tx) error {
		rows, err := leasesOf(c, "run = ? AND held = 1", id.Root())
		for _, r := range rows {
			has[r.Tree] = append(has[r.Tree], r.Step)
		}
		return err
	})
	return has, err
}

func leasesOf(c Tx, where string, args ...any) ([]leaseRow, error) {
	var rows []leaseRow
	err := c.Each("SELECT tree, run, step, shared, held, taken FROM leases WHERE "+where, args, func(q Row) {
		rows = append(rows, leaseRow{
			Lease: Lease{Tree: q.ColumnText(0), Run: belay.RunID(q.ColumnText(1)), Step: q.ColumnText(2), Shared: q.ColumnInt64(3) != 0},
			held:  q.ColumnInt64(4) != 0, taken: q.ColumnInt64(5),
		})
	})
	return rows, err
}

func asInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
