package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/archive"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/worktree"
)

type pruneOptions struct {
	older age
	dry   bool
	json  bool
}

func (a *app) pruneCommand() *cobra.Command {
	o := pruneOptions{older: age(30 * day)}
	cmd := command("prune", "put old runs that have ended into the archive, one file each", 0, 0,
		func(ctx context.Context, _ *cobra.Command, _ []string) error { return a.prune(ctx, o) })
	cmd.Long = `prune takes runs out of the way that ended longer ago than --older. The journal, the
receipt, the outputs and the logs of each are put into one compressed file in the
state directory; when that was read back and holds all of it, the folder is removed.
belay runs --archived lists such runs; why, show, logs, history, receipt, graph,
audit and export still work on them. They cannot be resumed any more.

A worktree of such a run is removed only with the proof that gc asks for: nothing
uncommitted in it, no commit that is nowhere else, no file that git ignores, no
process. While one of them must stay, so does its run, and so does one that put files
away, because an earlier round was better. A run that has not ended, one
that somebody drives, and one with processes left stay too. Branches and snapshots
in repositories are for belay gc, before and after.`
	cmd.Flags().Var(&o.older, "older", "how long ago a run must have ended (30d, 12h)")
	cmd.Flags().BoolVar(&o.dry, "dry-run", false, "change nothing, only say what would be done")
	cmd.Flags().BoolVar(&o.json, "json", false, "print one JSON object for each run")
	return cmd
}

const day = 24 * time.Hour

// age is how long ago something was: days, or what Go calls a duration.
type age time.Duration

func (d *age) String() string {
	if t := time.Duration(*d); t%day != 0 {
		return t.String()
	}
	return strconv.FormatInt(int64(time.Duration(*d)/day), 10) + "d"
}

func (d *age) Type() string { return "age" }

func (d *age) Set(text string) error {
	if n, ok := strings.CutSuffix(text, "d"); ok {
		days, err := strconv.ParseUint(n, 10, 16)
		if err == nil {
			*d = age(time.Duration(days) * day)
			return nil
		}
	}
	t, err := time.ParseDuration(text)
	if err != nil || t < 0 {
		return errors.New("must be a time like 30d or 12h")
	}
	*d = age(t)
	return nil
}

// pruned is what becomes of an old run, as --json prints it.
type pruned struct {
	Run      belay.RunID  `json:"run"`
	Status   belay.Status `json:"status"`
	Crashed  bool         `json:"crashed,omitempty"` // nobody drives it, and nobody said so
	Recipe   string       `json:"recipe"`
	Last     time.Time    `json:"last"` // when it ended, or when something was last heard of it
	Safe     bool         `json:"safe"` // it can go
	Archived bool         `json:"archived"`
	Size     int64        `json:"size,omitempty"` // of its archive
	Why      []string     `json:"why,omitempty"`  // it stays
	Error    string       `json:"error,omitempty"`
}

// oldRun is all that is known of a run before something is done about it.
type oldRun struct {
	line   runLine
	last   time.Time
	things []leftover // what it left behind
}

// stays says why an old run is not taken out of the way.
func (r *oldRun) stays() (why []string) {
	switch {
	case r.line.Status == journal.Unreadable:
		why = append(why, "it cannot be read")
	case !r.line.Status.Terminal():
		why = append(why, "it has not ended")
	}
	for i := range r.things {
		switch l := &r.things[i]; {
		case l.Kind == "process":
			why = append(why, fmt.Sprintf("process %d is left of it", l.Pid))
		case l.Kind == string(worktree.KindWorktree) && !l.Safe:
			why = append(why, "worktree "+l.Path+": "+strings.Join(l.Why, ", "))
		case l.Kind == filesKind:
			why = append(why, "files "+l.Path+": "+strings.Join(l.Why, ", "))
		}
	}
	return why
}

func (a *app) prune(ctx context.Context, o pruneOptions) (err error) {
	st, err := a.openState()
	if err != nil {
		return err
	}
	defer closing(&err, "close state", st.Close)
	if !o.dry {
		if st.Still() != nil {
			return st.Still()
		}
		if err := a.person(st, "prune", ""); err != nil {
			return err
		}
		if err := a.finishPruning(st); err != nil {
			return err
		}
	}
	before := time.Now().Add(-time.Duration(o.older))
	old, err := a.oldRuns(ctx, st, before)
	if err != nil {
		return err
	}
	list := make([]pruned, 0, len(old))
	for i := range old {
		p := a.pruneRun(ctx, st, &old[i], before, o.dry)
		if p == nil {
			continue // another prune was faster
		}
		list = append(list, *p)
		if o.json {
			a.object(*p)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	if !o.json {
		a.printPruned(list, o)
	}
	if failed := countFunc(list, func(p pruned) bool { return p.Error != "" }); failed > 0 {
		return exit.New(exit.Infra, "prune", fmt.Errorf("%d of %d runs could not be archived", failed, len(list)), "each line above says why; nothing of them was removed")
	}
	return nil
}

// finishPruning ends what a prune that was killed had begun: the archive of such a
// run is there and proven, and its folder has lost its name.
func (a *app) finishPruning(st *journal.State) error {
	list, _, err := st.Archived() // what cannot be read is named by runs --archived
	if err != nil {
		return err
	}
	lies := map[belay.RunID]bool{}
	for _, l := range list {
		lies[l.Run] = !l.Imported
	}
	remains, err := st.Remains()
	if err != nil {
		return err
	}
	for dir, id := range remains {
		if lies[id] {
			if err := st.Finish(dir); err != nil {
				return err
			}
		}
	}
	sums, err := st.Runs()
	if err != nil {
		return err
	}
	for _, sum := range sums {
		if sum.Gone && lies[sum.ID] {
			if err := st.Forget(sum.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// oldRuns are the runs of which nothing was heard since a moment, the oldest
// first, with what they left behind.
func (a *app) oldRuns(ctx context.Context, st *journal.State, before time.Time) ([]oldRun, error) {
	sums, err := a.listed(st)
	if err != nil {
		return nil, err
	}
	sums = slices.DeleteFunc(sums, func(sum journal.Summary) bool {
		return sum.Gone || sum.Beginning || sum.Status == belay.Running && lineOf(sum).Pid != 0 || !heardOf(sum).Before(before)
	})
	slices.SortStableFunc(sums, func(x, y journal.Summary) int { return heardOf(x).Compare(heardOf(y)) })
	var list []oldRun
	at := map[belay.RunID]int{}
	for _, sum := range sums {
		l := lineOf(sum)
		if l.Crashed {
			l = l.mended(st, sum.Beat)
		}
		at[sum.ID] = len(list)
		list = append(list, oldRun{line: l, last: heardOf(sum)})
	}
	if len(list) == 0 {
		return nil, nil
	}
	for _, thing := range a.leftovers(ctx, st, sums, false) {
		if i, ok := at[thing.Run.Root()]; ok {
			list[i].things = append(list[i].things, thing)
		}
	}
	return list, nil
}

// heardOf is when something was last heard of a run.
func heardOf(sum journal.Summary) time.Time {
	last := sum.Updated
	for _, t := range []time.Time{sum.Ended, sum.Started, sum.Beat.At} {
		if t.After(last) {
			last = t
		}
	}
	return last
}

// pruneRun archives one run, or says why it stays; nil when it is gone meanwhile.
func (a *app) pruneRun(ctx context.Context, st *journal.State, r *oldRun, before time.Time, dry bool) *pruned {
	p := &pruned{Run: r.line.ID, Status: r.line.Status, Crashed: r.line.Crashed, Recipe: r.line.Recipe, Last: r.last.UTC(), Why: r.stays()}
	if p.Safe = len(p.Why) == 0; dry || !p.Safe {
		return p
	}
	for i := range r.things {
		l := &r.things[i]
		if l.Kind != string(worktree.KindWorktree) {
			continue
		}
		if l.take(ctx); l.Error != "" {
			p.Error = "worktree " + l.Path + ": " + l.Error
			return p
		}
	}
	if p.Why = r.stays(); len(p.Why) > 0 { // one of them is not safe any more
		p.Safe = false
		return p
	}
	size, err := st.Retire(p.Run, func(v *journal.View) (archive.Manifest, error) {
		m, tree, err := a.describe(v, p.Run)
		switch {
		case err != nil:
			return m, err
		case !tree.Status().Terminal():
			return m, &journal.InUse{Why: "it has not ended"}
		case !m.Last.Before(before):
			return m, &journal.InUse{Why: "it went on just now"}
		}
		return m, nil
	})
	var used *journal.InUse
	var unknown *journal.Unknown
	switch {
	case errors.As(err, &unknown):
		return nil
	case errors.As(err, &used):
		p.Safe, p.Why = false, []string{used.Why}
	case err != nil:
		p.Error = err.Error()
	default:
		p.Archived, p.Size = true, size
	}
	return p
}

func (a *app) printPruned(list []pruned, o pruneOptions) {
	if len(list) == 0 {
		a.say("no run is older than %s", o.older.String())
		return
	}
	rows := [][]string{{"RUN", "STATUS", "RECIPE", "LAST", ""}}
	var size int64
	for _, p := range list {
		size += p.Size
		status := string(p.Status)
		if p.Crashed {
			status = lostText
		}
		rows = append(rows, []string{string(p.Run), status, readable.Clean(p.Recipe), p.Last.Local().Format(time.DateTime), readable.Clean(p.fate())})
	}
	a.table(rows, len(rows[0])-1)
	n := countFunc(list, func(p pruned) bool { return p.Archived })
	safe := countFunc(list, func(p pruned) bool { return p.Safe })
	switch {
	case o.dry && safe > 0:
		a.say("%d of %d can be archived; nothing was changed", safe, len(list))
	case n > 0:
		a.say("%s archived, %s; see %s runs --archived", readable.Many(n, "run"), readable.Size(size), a.name())
	}
}

func (p *pruned) fate() string {
	switch {
	case p.Error != "":
		return "failed: " + p.Error
	case p.Archived:
		return "archived, " + readable.Size(p.Size)
	case p.Safe:
		return "can be archived"
	}
	return "kept: " + strings.Join(p.Why, "; ")
}

func countFunc[T any](list []T, is func(T) bool) (n int) {
	for _, x := range list {
		if is(x) {
			n++
		}
	}
	return n
}
