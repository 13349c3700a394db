package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/proc"
	"github.com/belay-run/belay/watch"
)

// watcher is a watch at work.
type watcher struct {
	app     *app
	ws      *workshop
	o       watchOptions
	named   []belay.RunID
	seen    []belay.RunID // that it has looked at: how they end is told, too
	drivers drivers
	read    map[belay.RunID]readRun
	told    map[belay.RunID]bool // what is said of it was said by this watch
	bell    *bell
	deaf    bool                   // it was said that people cannot be told
	rung    map[belay.RunID]string // what people were told, at this look
	stoodBy bool
}

// readRun is what the journal of a run said when it was last read.
type readRun struct {
	stamp time.Time // of the journal, at that time
	run   watch.Run
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
	kept, err := w.ws.state.Ledger().Watched()
	if err != nil {
		return nil, err
	}
	if w.rung, err = w.ws.state.Ledger().Told(); err != nil {
		return nil, err
	}
	for _, e := range w.drivers.ended() {
		w.driverEnded(e, kept)
	}
	var all []watch.Decision
	for _, sum := range sums {
		d := w.lookAt(sum, kept[sum.ID], now)
		all = append(all, d)
	}
	return all, nil
}

// lookAt decides about one run and does it. What was decided is kept before it
// is done; what cannot be kept is not done.
func (w *watcher) lookAt(sum journal.Summary, was string, now watch.Clock) watch.Decision {
	var mem watch.Memory
	_ = json.Unmarshal([]byte(was), &mem) // what cannot be read is nothing that is known
	run := w.facts(sum)
	d, next := watch.Decide(run, mem, w.o.rules, now)
	if w.o.dry {
		w.tell(d, sum)
		return d
	}
	is, err := json.Marshal(next)
	kept := string(is) == was
	if err == nil && !kept {
		kept, err = w.ws.state.Ledger().KeepWatched(sum.ID, was, string(is))
	}
	switch {
	case err != nil && d.Start:
		d = watch.Decision{
			Run: d.Run, Event: watch.NeedsYou, Rest: true, Next: "doctor",
			Reason: "nobody drives it, and it is not started: the try cannot be counted: " + err.Error(),
		}
	case !kept && d.Start: // another watch was faster
		return watch.Decision{Run: d.Run, Event: watch.Running, Reason: "another watch looks after it"}
	case d.Start:
		if err := w.drivers.start(w.app, w.ws, sum.ID); err != nil {
			d.Reason += "; the driver could not be started: " + err.Error()
		}
	}
	if !d.Shown || !w.told[sum.ID] { // the first look says how everything stands
		w.tell(d, sum)
		w.told[sum.ID] = true
	}
	w.ring(d, sum, run)
	return d
}

// list are the runs that are watched: those that were named, or all that have
// not ended, and those that ended while this watch looked.
func (w *watcher) list() ([]journal.Summary, error) {
	if len(w.named) > 0 {
		sums, err := w.ws.state.Runs()
		return slices.DeleteFunc(sums, func(s journal.Summary) bool { return !slices.Contains(w.named, s.ID) }), err
	}
	sums, err := w.ws.state.Runs(belay.Running, belay.Held)
	if err != nil {
		return nil, err
	}
	sums = slices.DeleteFunc(sums, func(s journal.Summary) bool { return s.Gone })
	missing := slices.Clone(w.seen)
	for _, s := range sums {
		if i := slices.Index(missing, s.ID); i >= 0 {
			missing = slices.Delete(missing, i, i+1)
		} else {
			w.seen = append(w.seen, s.ID)
		}
	}
	if len(missing) == 0 {
		return sums, nil
	}
	every, err := w.ws.state.Runs()
	for _, s := range every {
		if slices.Contains(missing, s.ID) && !s.Gone {
			sums = append(sums, s)
		}
	}
	return sums, err
}

// facts is what is known of a run. The beat tells of one that is driven; before
// anything is done about one that is not, its journal is read.
func (w *watcher) facts(sum journal.Summary) watch.Run {
	driver := sum.Driver
	if sum.Beat.Pid != 0 {
		driver = sum.Beat.Driver()
	}
	r := watch.Run{
		ID: sum.ID, Status: sum.Status, Code: sum.Code, Reason: sum.Reason, Begun: true,
		Owner: w.owner(driver), Driver: fmt.Sprintf("%d.%d.%s", driver.Pid, driver.Start, driver.Boot),
		Done: sum.Beat.Done, Waits: sum.Beat.Waits(),
	}
	switch starting := w.drivers.starting(sum.ID); {
	case sum.Beginning, starting && r.Owner == watch.OwnerDead && sum.Status == belay.Running:
		r.Owner = watch.OwnerAlive
	case starting && sum.Status == belay.Held: // and it was answered
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
	case (r.Status == belay.Running || r.Status == belay.Held) && r.Owner == watch.OwnerDead:
		return w.readFacts(sum, r)
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
	stamp := w.ws.state.Folder(sum.ID).Changed()
	if last, ok := w.read[sum.ID]; ok && last.stamp.Equal(stamp) && !stamp.IsZero() {
		last.run.Owner, last.run.Driver = r.Owner, r.Driver
		return last.run
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
	r.Status, r.Done = s.Tree.Status(), max(r.Done, s.Tree.Done())
	if s.Rest != nil {
		r.Code, r.Reason = s.Rest.Code, s.Rest.Reason
	}
	questions := waitings(s.Questions(s.steps()), w.app.name())
	switch {
	case r.Status == belay.Held && len(questions) > 0:
		r.Reason = questions[0].Question
	case sum.Status == belay.Held && r.Status == belay.Running: // it was held, and everything is answered
		r.Answered = s.Last
	}
	for _, name := range s.Tree.Started().Given {
		if w.app.env(name) == "" {
			r.Lacks = append(r.Lacks, name)
		}
	}
	w.read[sum.ID] = readRun{stamp, r}
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
	var mem watch.Memory
	_ = json.Unmarshal([]byte(was), &mem) // what cannot be read is nothing that is known
	is, err := json.Marshal(mem.Ended(e.how))
	if err != nil {
		return
	}
	if ok, _ := w.ws.state.Ledger().KeepWatched(e.run, was, string(is)); ok { // if not, the cap of tries still holds
		kept[e.run] = string(is)
	}
}
