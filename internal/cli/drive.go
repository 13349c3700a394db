package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/internal/failpoint"
	"github.com/belay-run/belay/internal/hand"
	"github.com/belay-run/belay/internal/notify"
	"github.com/belay-run/belay/internal/tui"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/story"
)

// drive drives a run that is open, shows it, closes it, and says how the
// process ends.
func (a *app) drive(ctx context.Context, ws *workshop, o *engine.Open, asJSON bool, facts ...flow.Fact) error {
	live, before := o.Watch()
	log := a.talk(o, live)
	defer log.close()
	log.catchUp(before)
	view := a.printer(o, live)
	if !asJSON {
		var err error
		if view, err = a.screen(ws, o, live, log); err != nil {
			return errors.Join(err, o.Close())
		}
	}
	runtime.GOMAXPROCS(1) // one loop drives it; more threads only wake each other
	ctx, at := attend(ctx, view.tick)
	lastIs := story.What("")
	rings := a.bell(ws)
	res, err := o.Drive(ctx, at.hard, func(recs []event.Record) {
		news := view.seen(recs)
		log.seen(news)
		if live.Rest == nil && asks(news) && a.tells(ws, o) && !o.Attended() {
			rings.asked(ctx, o.ID)
		}
		lastIs = news[len(news)-1].What
	}, facts...)
	sig := at.settle()
	defer at.release()
	if live.Rest != nil {
		a.rested = live.Rest
		failpoint.Hit("drive.rested")
	}
	err = a.tellRest(ws, o, live.Rest, rings, err)
	view.done()
	var kept []hand.Kept
	if live.Rest != nil && live.Rest.Status.Terminal() {
		if kept = o.Tidy(ctx); !doesTask(o) {
			a.tellKept(kept)
			a.tellHoused(live, o.ID)
		}
	}
	told := story.New(o.Tree) // with no word of how it came to this, when it does not rest
	if live.Rest != nil {
		told = a.keepReceipt(ctx, ws.state, o)
	}
	acc := a.account(ws.state, o, told)
	a.keepOutputs(o)
	beside := story.UserCheckoutOf(o.Tree, taskIn(o))
	e := ending{committed: live.Rest, result: res, err: err, cleanup: o.Close(), signal: sig}
	res, err, aside := e.settle(o.ID)
	if aside != nil {
		a.complain(aside)
	}
	if below := a.endLike(ctx, ws, o.ID, live.Rest); below != nil {
		a.complain(below)
	}
	if !asJSON {
		a.unreviewed(acc, ws.state.Folder(o.ID))
		a.stuck(o.Tree, res.Status)
		a.summary(ctx, o, acc, res, kept, view.screen)
	} else if end := live.Rest; lastIs == story.RunEnded && end != nil && end.Status == res.Status && end.Code == res.Code {
		a.told = &res.Code
	} else {
		a.ended(o.ID, res)
	}
	a.tellBeside(beside)
	a.workWarning(o)
	if a.tells(ws, o) {
		rings.ring(ctx, o.ID)
	}
	return a.printWanted(res.Status, err)
}

// viewer is who looks on while a run is driven.
type viewer struct {
	screen *tui.Screen // nil: the records are printed as they are
	seen   func([]event.Record) []story.News
	tick   func(time.Time) // nil: nothing on it moves by itself
	done   func()
}

// printer prints the records of a run as they are.
func (a *app) printer(o *engine.Open, live *story.Story) viewer {
	return viewer{done: func() {}, seen: func(recs []event.Record) []story.News {
		news := live.Add(recs...)
		if last := news[len(news)-1]; last.What == story.RunEnded && last.Run == o.ID {
			a.stuck(o.Tree, live.Rest.Status) // before the last line
			a.answerLine(o)
		}
		a.records(recs)
		return news
	}}
}

// screen shows people how a run goes on, and asks who sits there what it asks.
func (a *app) screen(ws *workshop, o *engine.Open, live *story.Story, log *talk) (viewer, error) {
	style := a.style()
	style.Brief = func() bool { return doesTask(o) } // what it is the first record tells
	screen := tui.NewScreen(a.std.Err, tui.NewBoard(live), style, tailOf(ws.state.Folder(o.ID)))
	log.say = screen.Say
	points := pointers{read: o.Source, width: a.errWidth(), shown: map[story.Place]bool{}}
	atOnce := !a.quiet && !style.Live // else what is below a step is said when the step is
	v := viewer{screen: screen, seen: func(recs []event.Record) []story.News {
		news := screen.Seen(recs)
		if atOnce && !doesTask(o) {
			screen.Say(points.of(live, news)...)
		}
		if !a.quiet && doesTask(o) {
			for i := range news {
				log.say(taskLines(o.Tree, blobs(o.Blob), &news[i])...)
			}
		}
		return news
	}, done: func() {
		screen.Close()
		if !doesTask(o) { // who wrote no recipe is helped by no place in one
			for _, line := range points.rest(o.Tree) {
				fmt.Fprintln(a.std.Err, line)
			}
		}
	}}
	if style.Live {
		v.tick = screen.Tick
	}
	return v, a.askHere(ws, o, screen)
}

// asks tells whether something is news that waits for a person.
func asks(news []story.News) bool {
	return slices.ContainsFunc(news, func(n story.News) bool {
		return n.What == story.ItemOpened || n.Decision != nil && n.Decision.Plan != nil && n.Decision.Plan.Act == belay.ActHold
	})
}

// tells tells whether anybody is told about a run.
func (a *app) tells(ws *workshop, o *engine.Open) bool {
	root := o.Tree.Run(o.ID)
	return !ws.rehearses && root != nil && len(a.bell(ws).wanted(root.Recipe().Notify, notify.OnTest)) > 0
}

// endLike ends what the steps of a run started, when the run itself was stopped or
// cancelled; when it came to its end, those are stopped that lost their processes with it.
func (a *app) endLike(ctx context.Context, ws *workshop, id belay.RunID, rest *belay.RunResult) error {
	ctx = context.WithoutCancel(ctx)
	why := fmt.Sprintf("run %s, in a step of which it was started, ", id)
	switch {
	case rest != nil && rest.Status == belay.Stopped:
		return a.endBelow(ctx, ws, id, event.RequestStop, why+"was stopped", each)
	case rest != nil && rest.Status == belay.Aborted:
		return a.endBelow(ctx, ws, id, event.RequestCancel, why+"was cancelled", each)
	case rest != nil && rest.Status.Terminal():
		return a.endBelow(ctx, ws, id, event.RequestStop, why+"has ended", lost)
	}
	return nil
}

// tellRest keeps what people are told about a run that came to rest, or that cannot go
// on because a disk is full; that gets a hint which helps.
func (a *app) tellRest(ws *workshop, o *engine.Open, rest *belay.RunResult, b *bell, err error) error {
	var full *journal.Full
	if !o.Begun() {
		return err // who typed it reads it, and starts the run again
	}
	if errors.As(err, &full) {
		dir := filepath.Dir(full.Path)
		cure := func(name string) string { return fmt.Sprintf("free space on %s, then %s resume %s", dir, name, o.ID) }
		err = exit.New(exit.Code(err), "", err, cure(a.name()))
		if rest == nil && a.tells(ws, o) {
			b.died(o, fmt.Sprintf("the disk of %s is full: %s", dir, cure(b.name())), b.name()+" resume "+string(o.ID))
		}
	}
	if rest == nil || !a.tells(ws, o) {
		return err
	}
	if e := b.rest(o.ID); e != nil {
		a.say("what people are told could not be kept: %s", e)
	}
	return err
}

// ending is all that is known when a drive is over.
type ending struct {
	committed *belay.RunResult // by the records on disk; nil: none says that the run rests
	result    belay.RunResult
	err       error // of the drive
	cleanup   error // of what came after it
	signal    *Signalled
}

// settle decides how the process ends: the result to be shown, the error to be
// returned, and an error that is only worth mentioning. The code of a run's
// failure wins over what went wrong after it; after a success that is what
// counts.
func (e ending) settle(id belay.RunID) (res belay.RunResult, err, aside error) {
	if e.committed == nil {
		return e.unsettled(id)
	}
	res = *e.committed
	if res.Status == belay.Stopped && e.signal != nil {
		res.Code = e.signal.ExitCode()
	}
	after := e.err
	if after == nil {
		after = e.cleanup
	}
	var hurry *engine.Interrupted
	if errors.As(after, &hurry) {
		after = e.cleanup
	}
	if res.Code != exit.OK {
		return res, &belay.RunError{Run: id, Result: res}, after
	}
	if after != nil {
		res.Code = exit.Infra
		cure := hint(after)
		if full := (*journal.Full)(nil); errors.As(after, &full) {
			cure = "free space on " + filepath.Dir(full.Path) + ", then resume the run"
		}
		return res, exit.New(exit.Infra, "clean up after the run", after, cure), nil
	}
	return res, nil, nil
}

// unsettled is a drive that ended before the run came to rest.
func (e ending) unsettled(id belay.RunID) (res belay.RunResult, err, aside error) {
	res = belay.RunResult{Status: belay.Stopped, Code: exit.Failed}
	var hurry *engine.Interrupted
	stopped := e.signal != nil && (e.err == nil || errors.As(e.err, &hurry) ||
		errors.Is(e.err, context.Canceled) || errors.Is(e.err, e.signal))
	switch {
	case stopped:
		res.Code, res.Reason = e.signal.ExitCode(), "ended at once by "+e.signal.Error()
		return res, &belay.RunError{Run: id, Result: res}, e.cleanup
	case e.err == nil:
		e.err = fmt.Errorf("the run stands at %s", e.result.Status)
	}
	res.Code, res.Reason = exit.Code(e.err), e.err.Error()
	return res, e.err, nil
}

// object prints one JSON value on a line of the answer.
func (a *app) object(v any) {
	b, err := json.Marshal(v)
	if err != nil {
		a.complain(fmt.Errorf("encode answer: %w", err))
		return
	}
	a.out.raw(string(b))
}

// endLine is the last line of a command that waited for a run, when the journal
// has no such record: for a hold, a stop, an end that was read, or a run that
// was never started.
type endLine struct {
	Kind string      `json:"kind"`
	At   time.Time   `json:"at"`
	Run  belay.RunID `json:"run"`
	belay.RunResult
}

func (a *app) ended(id belay.RunID, res belay.RunResult) {
	a.told = &res.Code
	a.object(endLine{Kind: event.RunEnded{}.Kind(), At: time.Now().UTC(), Run: id, RunResult: res})
}

// account is what there is to say about a run that nobody drives any more; nil for one
// that never began.
func (a *app) account(st *journal.State, o *engine.Open, told *story.Story) *story.Account {
	if !o.Begun() {
		return nil // the error says why
	}
	f := story.Facts{Now: time.Now(), Here: here(), Text: blobs(o.Blob), Lacks: a.lacks(o.Tree.Started().Given), Watched: true, There: there}
	f.WantsDisk, f.DiskFree = diskOf(o.Tree, st)
	f.Full, f.Plan = fullDir(st), planIn(st.Folder(o.ID))
	return told.Account(o.ID, f)
}

// summary prints how a run stands and what to type next.
func (a *app) summary(ctx context.Context, o *engine.Open, acc *story.Account, res belay.RunResult, kept []hand.Kept, screen *tui.Screen) {
	if acc == nil {
		return
	}
	defer a.besideOutput()()
	if acc.Task != nil {
		a.taskEnd(ctx, o, acc, res, kept)
		return
	}
	if a.quiet && res.Code == exit.OK {
		return
	}
	a.lastLines(a.oursIn(tui.Summary(acc, o.Tree, res, a.name(), a.saidOf(screen))), a.gave, o.ID, res.Status)
}

// lastLines prints the summary of a run with what it gave and its receipt: how it stands is
// the last line.
func (a *app) lastLines(lines []string, g *given, id belay.RunID, status belay.Status) {
	lines = withReceipt(lines, a.name(), id)
	last := len(lines) - 2 // the receipt, and the verdict
	a.out.lines(lines[:last])
	if g != nil && tellsOutputs(status) {
		a.out.lines(g.lines(a.name()))
	}
	a.out.lines(lines[last:])
}
