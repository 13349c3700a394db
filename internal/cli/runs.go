package cli

import (
	"context"
	"errors"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/story"
)

func (a *app) runsCommand() *cobra.Command {
	var asJSON, archived, costs bool
	var f runFilter
	cmd := command("runs", "list runs, the newest first", 0, 0,
		func(_ context.Context, cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return usage(cmd, err)
			}
			switch {
			case archived && (costs || f.narrows()):
				return usage(cmd, errors.New("--archived takes none of the other flags but --json"))
			case archived:
				return a.archived(asJSON)
			case costs:
				return a.costs(f, asJSON)
			}
			return a.runs(f, asJSON)
		})
	cmd.Flags().StringSliceVar(&f.status, "status", nil, "only runs with this status, such as running, held or failed (can be repeated)")
	cmd.Flags().StringVar(&f.recipe, "recipe", "", "only runs of the recipe with this name")
	cmd.Flags().StringVar(&f.dir, "dir", "", "only runs that were started in this directory (. is this one)")
	cmd.Flags().BoolVar(&costs, "cost", false, "print what agents cost, by day and agent, instead of the runs")
	cmd.Flags().BoolVar(&archived, "archived", false, "list those that prune archived, and those that were imported")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per run; with --cost, per day and agent")
	return cmd
}

// runLine is a run as the list has it.
type runLine struct {
	ID      belay.RunID  `json:"run"`
	Status  belay.Status `json:"status"`
	Crashed bool         `json:"crashed,omitempty"` // nobody drives it, and nobody said so
	Code    int          `json:"exit_code"`
	Recipe  string       `json:"recipe"`
	Task    string       `json:"task,omitempty"`    // its first line, of belay do
	Planned bool         `json:"planned,omitempty"` // only a plan was asked for
	Dir     string       `json:"dir"`
	Started time.Time    `json:"started,omitzero"`
	Ended   time.Time    `json:"ended,omitzero"`
	Done    int64        `json:"done"`
	Micros  int64        `json:"micro_usd,omitempty"`    // what its agents cost, as far as they tell
	Untold  bool         `json:"cost_unknown,omitempty"` // it started agents, and none told what it cost
	Pid     int          `json:"pid,omitempty"`          // of its driver
	Waits   string       `json:"waits,omitempty"`        // what it waits for that another run has

	State  story.RunState `json:"state"`               // in one word, with its driver looked at
	For    string         `json:"for,omitempty"`       // of one that waits or is held: what or whom it waits for
	Until  time.Time      `json:"until,omitzero"`      // of one that waits or is parked
	Nobody bool           `json:"unwatched,omitempty"` // of one that is parked: no watch wakes it
	Reason string         `json:"reason,omitempty"`
	Cure   string         `json:"cure,omitempty"` // of one that cannot be read

	pausing bool // nothing new starts in it, and something still runs
	away    bool // another engine drives it, and no process here
	unbegun bool // there is a folder, and no record was ever written
}

func (a *app) runs(f runFilter, asJSON bool) (err error) {
	if err := a.refresh(a.ctx, ""); err != nil {
		return err
	}
	st, err := a.openState()
	if err != nil {
		return err
	}
	defer closing(&err, "close state", st.Close)
	sums, err := a.listed(st)
	if err != nil {
		return err
	}
	rows := [][]string{{"RUN", "STATUS", "RECIPE", "STARTED", "TOOK", "STEPS DONE", "COST", "TASK"}}
	for sum, l := range a.lines(st, sums, f) {
		if asJSON {
			a.object(l)
			continue
		}
		rows = append(rows, l.row(sum, time.Now(), a.name()))
	}
	switch {
	case asJSON:
	case len(rows) > 1:
		a.table(rows, len(rows[0])-1)
	case f.narrows():
		a.say("no such runs (%s) in %s", f, st.Dir())
	default:
		a.say("no runs in %s", st.Dir())
	}
	return nil
}

// lines are those of the runs that are there and that a filter lets through.
func (a *app) lines(st *journal.State, sums []journal.Summary, f runFilter) iter.Seq2[journal.Summary, runLine] {
	leads := st.WatchLeads()
	return func(yield func(journal.Summary, runLine) bool) {
		for _, sum := range sums {
			if sum.Gone || !f.fits(sum) {
				continue
			}
			l := lineOf(sum)
			if l.Crashed && engine.IsElsewhere(st.Folder(sum.ID)) { // what drives it is on another machine
				l.Status, l.Crashed, l.away, l.Waits = belay.Running, false, true, sum.Beat.Waits()
			}
			l.Task, l.Planned = titleOf(st.Folder(sum.ID), sum.Name)
			if parked, _ := sum.Beat.Parked(); l.Crashed || l.Status == belay.Parked && !parked {
				l = l.mended(st, sum.Beat)
			}
			l.standing(sum, time.Now())
			l.Nobody = l.State == story.StateParked && !leads
			l.unbegun = l.Status == journal.Unreadable && !st.Begun(sum.ID)
			if f.stands(l) && !yield(sum, l) {
				return
			}
		}
	}
}

func lineOf(sum journal.Summary) runLine {
	driver := sum.Driver
	if sum.Beat.Pid != 0 {
		driver = sum.Beat.Driver()
	}
	l := runLine{
		ID: sum.ID, Status: sum.Status, Code: sum.Code, Recipe: sum.Name, Dir: sum.Dir,
		Started: sum.Started, Ended: sum.Ended, Done: sum.Beat.Steps(), Micros: sum.Beat.Micros, Untold: sum.Beat.Untold, Reason: sum.Reason, Cure: sum.Cure,
	}
	if sum.Status == belay.Running {
		if sum.Beginning || driver.Alive() {
			l.Pid, l.Waits = driver.Pid, sum.Beat.Waits()
		} else {
			l.Status, l.Crashed = belay.Stopped, true
		}
	}
	if parked, until := sum.Beat.Parked(); parked && sum.Status == belay.Parked {
		l.Until = until
	}
	return l
}

// mended is the line of a run whose driver died after the run had come to rest
// and before it could say so in the index. The beat tells that it is such a run,
// so that the journals of all others stay closed.
func (l runLine) mended(st *journal.State, beat journal.Beat) runLine {
	phase := belay.Status(beat.Phase)
	if l.Crashed && (phase == "" || phase == belay.Running || beat.Waiting() != "") {
		return l
	}
	s, err := tell(st, string(l.ID))
	if err != nil {
		return l // it cannot be read: that nobody drives it is still true
	}
	defer func() { _ = s.close() }() // read only: nothing to lose
	res := engine.ResultOf(s.Tree)
	if res.Status == belay.Running {
		return l
	}
	l.Status, l.Crashed, l.Code, l.Reason = res.Status, false, res.Code, res.Reason
	if p, parked := s.Tree.Parked(); parked {
		l.Until = p.Until
	}
	if res.Status.Terminal() {
		l.Ended = s.Run(s.Root).Ended
	}
	return l
}

// standing says in one word how a run stands, and for what or whom it waits.
func (l *runLine) standing(sum journal.Summary, now time.Time) {
	known := story.Listed{
		Status: l.Status, Owned: l.Pid != 0 || l.away || sum.Beginning, Busy: sum.Beat.Allowed != 0, Waits: sum.Beat.Waiting(),
	}
	if l.Crashed {
		known.Status = belay.Running
	}
	if sum.Beat.Until != 0 {
		known.Until = time.Unix(sum.Beat.Until, 0)
	}
	if l.Status == belay.Parked {
		known.Parked = l.Until
	}
	l.State, l.Until = known.State(now), known.Till(now).UTC()
	switch l.State {
	case story.StateWaiting:
		l.For = strings.TrimPrefix(known.Waits, "waiting for ")
	case story.StateHeld:
		l.For = "a person"
		if l.Reason == story.DecidedReason {
			l.For = "a resume, with all answered"
		}
	case story.StateParked:
		l.For = l.Reason
	case story.StateRunning, story.StatePaused, story.StateStopped, story.StateLost, story.StateEnded:
	}
	l.pausing = sum.Beat.Phase == journal.Pausing
	if l.Status == journal.Unreadable {
		l.State = ""
	}
}

// status is how a run stands, for the list.
func (l runLine) status(now time.Time) string {
	text := story.StatusWord(l.Status, l.Planned)
	switch l.State {
	case story.StateWaiting:
		text = "waiting"
		if l.For != "" {
			text += " for " + l.For
		}
	case story.StateParked:
		return string(belay.Parked) + parkedText(readable.Clean(l.For), l.Until, now, !l.Nobody)
	case story.StateHeld:
		text += " for " + l.For
	case story.StateLost:
		text = lostText
	case story.StateRunning:
		if l.pausing {
			text += ", to be paused"
		}
	case story.StatePaused, story.StateStopped, story.StateEnded:
	}
	if !l.Until.IsZero() {
		text += ", until " + untilText(l.Until, now)
	}
	return text
}

// parkedText says for what and until when a run is parked. A moment that has passed
// is never named as one to come: it is said who wakes the run, or that nobody does.
func parkedText(what string, until, now time.Time, watched bool) (text string) {
	if what != "" {
		text = " for " + what
	}
	switch {
	case until.IsZero():
	case until.After(now):
		text += ", until " + untilText(until, now)
	case watched:
		return text + ", due now"
	case now.Sub(until) < time.Minute:
		text += ", was due just now"
	default:
		text += ", was due " + ago(now.Sub(until))
	}
	if !watched {
		text += "; no watch runs"
	}
	return text
}

// untilText is a moment that is still to come; today's needs no date.
func untilText(t, now time.Time) string {
	t, form := t.Local(), time.DateTime
	if t.Format(time.DateOnly) == now.Local().Format(time.DateOnly) {
		form = time.TimeOnly
	}
	return t.Format(form)
}

func (l runLine) row(sum journal.Summary, now time.Time, name string) []string {
	status, started, took := l.status(now), "-", "-"
	switch {
	case l.unbegun:
		status = "(never began)"
	case l.Status == journal.Unreadable:
		status = "(unreadable)"
	case l.Nobody && !l.Until.After(now):
		status += ": " + story.Command{"resume", string(l.ID)}.Text(name)
	}
	if !l.Started.IsZero() {
		started = shortMoment(l.Started, now)
		end := l.Ended
		switch {
		case !end.IsZero():
		case l.Pid != 0 || l.away:
			end = now
		case l.Status == belay.Held || l.Status == belay.Parked:
			end = sum.Updated // when it came to rest
		default:
			end = sum.Beat.At
		}
		took = readable.Took(end.Sub(l.Started))
	}
	cost := "-" // no agent
	switch {
	case l.Micros > 0:
		cost = readable.Dollars(l.Micros)
	case l.Untold:
		cost = unknownCost
	}
	return []string{string(l.ID), status, readable.Clean(l.Recipe), started, took, strconv.FormatInt(l.Done, 10), cost, l.Task}
}

// shortMoment is a moment in a list: the day and the minute, or for one of long ago, or to
// come, the date.
func shortMoment(t, now time.Time) string {
	if age := now.Sub(t); age < 0 || age > 180*day {
		return t.Local().Format(time.DateOnly)
	}
	return t.Local().Format("01-02 15:04")
}
