package cli

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/proc"
	"github.com/belay-run/belay/story"
	"github.com/belay-run/belay/watch"
)

// maxStarts is how many drivers are started at one look: a thousand runs that are
// woken at the same time must not be a thousand new processes at once.
const maxStarts = 8

// watcher is a watch at work.
type watcher struct {
	app     *app
	ws      *workshop
	o       watchOptions
	named   []belay.RunID
	lead    *journal.WatchLock             // nil while another watch has it
	seen    map[belay.RunID]bool           // that had not ended at the last look: how they end is told, too
	over    map[belay.RunID]watch.Decision // what was said of those that ended meanwhile, or before
	looked  bool                           // once already
	drivers drivers
	starts  int // at this look
	read    map[belay.RunID]readRun
	told    map[belay.RunID]watch.Event // what this watch said of it last
	bell    *bell
	deaf    bool                   // it was said that people cannot be told
	rung    map[belay.RunID]string // what people were told, at this look
	aside   func(belay.RunID) bool // whether something is kept beside that, at this look
	stoodBy bool
	stopped proc.Identity // the watch that leads and was stopped by a signal when it was last looked at
	stops   int           // how often in a row
}

// readRun is what the journal of a run said when it was last read.
type readRun struct {
	stamp  time.Time    // of the journal, at that time
	status belay.Status // in the index, at that time
	beat   bool         // only the beat was read
	run    watch.Run
	last   time.Time     // of its records
	place  belay.Session // where it was started
}

// look is one look at all runs: every run is looked at, whatever comes of
// another.
func (w *watcher) look() ([]watch.Decision, error) {
	now, err := clock()
	if err != nil {
		return nil, err
	}
	sums, err := w.list()
	if err != nil {
		return nil, err
	}
	ends := w.drivers.ended()
	ids := w.known(sums, ends)
	kept, err := w.ws.state.Ledger().Watched(ids...)
	if err != nil {
		return nil, err
	}
	if w.rung, err = w.ws.state.Ledger().Told(ids...); err != nil {
		return nil, err
	}
	w.aside = w.bell.aside.Some()
	for _, e := range ends {
		w.driverEnded(e, kept)
	}
	w.starts = 0
	all := make([]watch.Decision, 0, len(sums)+len(w.over))
	for _, sum := range sums {
		d := w.lookAt(sum, kept[sum.ID], now)
		if len(w.named) == 0 && !w.seen[sum.ID] { // looked at for the last time, unless it is opened again
			w.over[sum.ID] = d
			delete(w.read, sum.ID)
			continue
		}
		all = append(all, d)
	}
	return slices.AppendSeq(all, maps.Values(w.over)), nil
}

// known are the runs of which something may be kept.
func (w *watcher) known(sums []journal.Summary, ends []driverEnd) []belay.RunID {
	ids := make([]belay.RunID, 0, len(sums)+len(ends))
	for _, s := range sums {
		ids = append(ids, s.ID)
	}
	for _, e := range ends {
		ids = append(ids, e.run)
	}
	return ids
}

// lookAt decides about one run and does it. What was decided is kept before it
// is done; what cannot be kept is not done.
func (w *watcher) lookAt(sum journal.Summary, was string, now watch.Clock) watch.Decision {
	mem, err := watch.Recall(was)
	if err != nil {
		d := watch.Forgotten(sum.ID, err)
		w.say(d, sum)
		return d
	}
	run := w.facts(sum)
	d, next := watch.Decide(run, mem, w.o.rules, now)
	if w.o.dry {
		w.tell(d, sum)
		return d
	}
	if d.Start && w.starts >= maxStarts {
		return watch.Decision{Run: d.Run, Event: watch.Running, Reason: "many runs are started just now", Again: now.Wall}
	}
	is, err := next.Text()
	kept := is == was
	if err == nil && !kept {
		kept, err = w.ws.state.Ledger().KeepWatched(sum.ID, was, is)
	}
	switch {
	case err != nil && (d.Start || d.Event == watch.Stale):
		var full *journal.Full
		dir := ""
		if errors.As(err, &full) {
			dir = filepath.Dir(full.Path)
		}
		d = watch.Uncounted(sum.ID, err, dir)
	case !kept && d.Start: // another watch was faster
		return watch.Decision{Run: d.Run, Event: watch.Running, Reason: "another watch looks after it"}
	case d.Start:
		w.starts++
		if err := w.drivers.start(w.app, w.ws, sum.ID); err != nil {
			d.Reason += "; the driver could not be started: " + err.Error()
		}
	}
	w.say(d, sum)
	w.ring(d, sum, run)
	return d
}

// say tells a decision that is news; the first look says how everything stands.
func (w *watcher) say(d watch.Decision, sum journal.Summary) {
	if !d.Shown || w.told[sum.ID] != d.Event {
		w.tell(d, sum)
		w.told[sum.ID] = d.Event
	}
}

// list are the runs that are watched: those that were named, or all that have
// not ended, and those that ended while this watch looked. The first look takes in
// those that ended before without reaching their goal, as far as nobody has done or
// said anything about it: they are left alone, and no 0 hides them.
func (w *watcher) list() ([]journal.Summary, error) {
	gone := func(s journal.Summary) bool { return s.Gone }
	if len(w.named) > 0 {
		return w.ws.state.RunsNamed(w.named...)
	}
	sums, err := w.ws.state.OpenRuns(belay.Running, belay.Held, belay.Parked, belay.Paused, belay.Stopped)
	if err != nil {
		return nil, err
	}
	var before []journal.Summary
	if !w.looked {
		if before, err = w.ws.state.OpenRuns(belay.Failed, belay.NotAchieved, belay.Partial, belay.Hollow, belay.Stalemate); err != nil {
			return nil, err
		}
		w.looked = true
	}
	now := make(map[belay.RunID]bool, len(sums))
	for _, s := range sums {
		now[s.ID] = true
		delete(w.over, s.ID)
	}
	var missing []belay.RunID
	for id := range w.seen {
		if !now[id] {
			missing = append(missing, id)
		}
	}
	w.seen = now
	ended, err := w.ws.state.RunsNamed(missing...)
	return slices.Concat(sums, slices.DeleteFunc(ended, gone), before), err
}

// facts is what is known of a run. The beat tells of one that is driven; before
// anything is done about one that is not, its journal is read.
func (w *watcher) facts(sum journal.Summary) watch.Run {
	driver := sum.Driver
	if sum.Beat.Pid != 0 {
		driver = sum.Beat.Driver()
	}
	r := watch.Run{
		ID: sum.ID, Status: sum.Status, Code: sum.Code, Reason: belay.Plain(sum.Reason), Begun: true,
		Owner: w.owner(driver), Driver: fmt.Sprintf("%d.%d.%s", driver.Pid, driver.Start, driver.Boot),
		Done: sum.Beat.Done, Waits: sum.Beat.Waits(), Tried: sum.Beat.Tried,
	}
	switch starting := w.drivers.starting(sum.ID); {
	case sum.Beginning, starting && r.Owner == watch.OwnerDead && sum.Status == belay.Running:
		r.Owner = watch.OwnerAlive
	case starting && (sum.Status == belay.Held || sum.Status == belay.Parked): // and it was answered, or its time came
		r.Owner, r.Status = watch.OwnerAlive, belay.Running
	}
	if sum.Beat.Until != 0 {
		r.Until = time.Unix(sum.Beat.Until, 0)
	}
	if sum.Beat.Allowed != 0 {
		r.Allowed = time.Unix(sum.Beat.Allowed, 0)
	}
	switch {
	case sum.Status == journal.Unreadable:
		r.Unread = sum.Reason
	case !r.Status.Terminal() && r.Status != belay.Stopped && r.Owner == watch.OwnerDead:
		return w.below(w.readFacts(sum, r))
	}
	return r
}

// maxLevels bounds the walk up from a run to those whose steps started it.
const maxLevels = 64

// below takes in what a person decided about a run of which a step started this one,
// on any level, since this one worked last.
func (w *watcher) below(r watch.Run) watch.Run {
	read := w.read[r.ID]
	st, place := w.ws.state, read.place
	if place.Parent != "" && place.Home != "" {
		home, err := journal.OpenState(place.Home)
		if err != nil {
			return r // it is gone, and what was decided there with it
		}
		defer func() { _ = home.Close() }() // only read
		st = home
	}
	for range maxLevels {
		up, err := st.RunsNamed(place.Parent.Root())
		if place.Parent == "" || err != nil || len(up) == 0 {
			break
		}
		is := up[0].Status
		if (is == belay.Stopped || is == belay.Paused || is == belay.Aborted) && !read.last.After(up[0].Updated) {
			r.Above, r.How = up[0].ID, is
			return r
		}
		if place, err = st.SessionOf(up[0].ID); err != nil {
			break
		}
	}
	return r
}

func (w *watcher) owner(driver proc.Identity) watch.Owner {
	switch {
	case driver.Frozen():
		return watch.OwnerFrozen
	case driver.Alive():
		return watch.OwnerAlive
	case w.ws.state.Proven(driver):
		return watch.OwnerDead
	}
	return watch.OwnerUnproven
}

// readFacts takes from the journal what the beat does not tell. A journal that
// has not changed is not read again.
func (w *watcher) readFacts(sum journal.Summary, r watch.Run) watch.Run {
	folder := w.ws.state.Folder(sum.ID)
	stamp := folder.Changed()
	last, ok := w.read[sum.ID]
	due := last.beat && !time.Now().Before(last.run.Parked)
	if ok && last.stamp.Equal(stamp) && !stamp.IsZero() && last.status == sum.Status && !due {
		last.run.Owner, last.run.Driver = r.Owner, r.Driver
		return last.run
	}
	if parked, until := sum.Beat.Parked(); !ok && parked && sum.Status == belay.Parked && time.Now().Before(until) && folder.Mailed().IsZero() {
		r.Parked, r.For = until, sum.Reason // its journal is read before anything is done
		w.read[sum.ID] = readRun{stamp: stamp, status: sum.Status, beat: true, run: r}
		return r
	}
	s, err := tell(w.ws.state, string(sum.ID))
	switch {
	case err != nil && !w.ws.state.Begun(sum.ID):
		r.Begun = false
		return r
	case err != nil:
		r.Unread = err.Error()
		return r
	}
	defer func() { _ = s.close() }() // read only: nothing to lose
	w.bell.heard(s, stamp)
	r.Status, r.Done = story.Status(s.Tree), max(r.Done, s.Tree.Done())
	if s.Rest != nil {
		r.Code, r.Reason = s.Rest.Code, belay.Plain(s.Rest.Reason)
	}
	questions := waitings(s.Questions(s.steps(), time.Now()), w.app.name())
	switch {
	case r.Status == belay.Held && len(questions) > 0:
		r.Reason = questions[0].Question
	case (sum.Status == belay.Held || sum.Status == belay.Parked) && r.Status == belay.Running: // somebody said something to it
		r.Answered = s.Last
	}
	if p, parked := s.Tree.Parked(); parked {
		r.Parked, r.For = p.Until, p.For
	}
	r.Mail = folder.Mailed()
	r.Lacks = w.app.lacks(s.Tree.Started().Given)
	read := readRun{stamp: stamp, status: sum.Status, run: r, last: s.Last}
	if place := s.Tree.Started().Session; place != nil {
		read.place = *place
	}
	w.read[sum.ID] = read
	return r
}

// clock is the time of a look.
func clock() (watch.Clock, error) {
	boot, err := proc.BootID()
	if err != nil {
		return watch.Clock{}, fmt.Errorf("read boot id: %w", err)
	}
	awake, err := proc.Awake()
	if err != nil {
		return watch.Clock{}, fmt.Errorf("read clock: %w", err)
	}
	return watch.Clock{Boot: boot, Awake: awake, Wall: time.Now()}, nil
}

// driverEnded takes in how a driver ended that this watch started, when its run
// did not come to rest by it.
func (w *watcher) driverEnded(e driverEnd, kept map[belay.RunID]string) {
	was := kept[e.run]
	mem, err := watch.Recall(was)
	if err != nil {
		return // the run is not started any more
	}
	is, err := mem.Ended(e.how).Text()
	if err != nil {
		return
	}
	if ok, _ := w.ws.state.Ledger().KeepWatched(e.run, was, is); ok { // if not, the cap of tries still holds
		kept[e.run] = is
	}
}
