package journal

import (
	"slices"

	"github.com/ncruces/go-sqlite3"

	"github.com/belay-run/belay"
)

// openSchema tells the runs that somebody may have to do something about from
// all others, so that what is asked of them costs nothing for those.
const openSchema = `
	ALTER TABLE runs ADD COLUMN work TEXT NOT NULL DEFAULT '';
	ALTER TABLE runs ADD COLUMN open INTEGER NOT NULL DEFAULT 1;
	CREATE INDEX runs_open ON runs(status) WHERE open = 1;
	CREATE INDEX runs_status ON runs(status);
	CREATE INDEX runs_work ON runs(name, dir)`

// tellOpen adds that to an index. A new one is filled from the journals.
func (s *State) tellOpen(c *sqlite3.Conn) error {
	if err := c.Exec(openSchema); err != nil {
		return err
	}
	if n, err := askInt(c, "SELECT count(*) FROM runs"); err != nil || n == 0 {
		return first(err, s.fill(c))
	}
	err := run(c, "UPDATE runs SET open = 0 WHERE status IN (?, ?)", string(belay.Achieved), string(belay.Aborted))
	if err != nil {
		return err
	}
	args := make([]any, 0, len(unmet())+1)
	for _, status := range unmet() {
		args = append(args, string(status))
	}
	return run(c, "UPDATE runs SET open = 0 WHERE status"+oneOf(len(args))+` AND EXISTS
		(SELECT 1 FROM runs AS later WHERE later.name = runs.name AND later.dir = runs.dir AND later.status = ? AND later.updated >= runs.updated)`,
		append(args, string(belay.Achieved))...)
}

// unmet are the statuses of runs that went no further and did not reach their
// goal. They are open until the same work is achieved, or a person wants to hear no
// more of them.
func unmet() []belay.Status {
	return []belay.Status{belay.Failed, belay.NotAchieved, belay.Partial, belay.Hollow, belay.Stalemate, belay.Stopped}
}

// open tells whether somebody may have to do something about a run.
func (sum Summary) open() bool {
	return sum.Status != belay.Achieved && sum.Status != belay.Aborted && !sum.seen
}

// settle closes what the same work left unmet before: a run of it was achieved.
// Of what an older Belay wrote only recipe and directory are known.
func settle(c *sqlite3.Conn, sum Summary) error {
	args := []any{sum.Name, sum.Dir, sum.Work, sum.Updated, sum.ID}
	for _, status := range unmet() {
		args = append(args, string(status))
	}
	return run(c, "UPDATE runs SET open = 0 WHERE open = 1 AND name = ? AND dir = ? AND work IN (?, '') AND updated <= ? AND id != ? AND status"+
		oneOf(len(unmet())), args...)
}

// Seen closes a run of which a person wants to hear no more. One that goes on or
// waits for an answer stays open.
func (s *State) Seen(id belay.RunID) error {
	return s.change("close run", func(c *sqlite3.Conn) error {
		return run(c, "UPDATE runs SET open = 0 WHERE id = ? AND status NOT IN (?, ?, ?, ?)",
			string(id), string(belay.Running), string(belay.Held), string(belay.Parked), string(belay.Paused))
	})
}

// OpenRuns lists the runs that somebody may have to do something about, the
// newest first, as Runs does: all, or those with one of these statuses. Of those that
// left the same work unmet it lists the newest, which says for how many it stands.
// What it costs grows with what it lists, not with what lies in the index.
func (s *State) OpenRuns(of ...belay.Status) ([]Summary, error) {
	where, args := " WHERE open = 1", make([]any, len(of))
	for i, status := range of {
		args[i] = string(status)
	}
	if len(of) > 0 {
		where += " AND status" + oneOf(len(of))
	}
	sums, err := s.lines(where, args...)
	sums, err = s.looked(newest(sums), err)
	return slices.DeleteFunc(sums, func(sum Summary) bool { return sum.Gone }), err
}

// Quiet tells whether a parked run is known to ask nobody for anything, without a look
// into its journal: its driver said so with its last record, and closed the journal.
func (s *State) Quiet(sum Summary) bool {
	path := s.Folder(sum.ID).Journal()
	return sum.Status == belay.Parked && sum.Beat.Phase == string(belay.Parked) && sum.Beat.Quiet &&
		fileSize(path) > 0 && fileSize(path+"-wal") == 0
}

// newest leaves one run of those that left the same work unmet.
func newest(sums []Summary) []Summary {
	type work struct{ name, dir, work string }
	at := map[work]int{}
	list := sums[:0:0]
	for _, sum := range sums {
		w := work{sum.Name, sum.Dir, sum.Work}
		if i, met := at[w]; met && slices.Contains(unmet(), sum.Status) {
			list[i].Times++
			continue
		}
		if slices.Contains(unmet(), sum.Status) {
			at[w], sum.Times = len(list), 1
		}
		list = append(list, sum)
	}
	return list
}
