package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/story"
	"github.com/belay-run/belay/watch"
)

type watchOptions struct {
	all, once, dry, json bool
	install, uninstall   bool
	window               time.Duration
	rules                watch.Rules
}

func (a *app) watchCommand() *cobra.Command {
	var o watchOptions
	cmd := command("watch [RUN...]", "watch runs: resume those whose driver died, report those that need a person", 0, -1,
		func(ctx context.Context, cmd *cobra.Command, args []string) error {
			if o.install || o.uninstall {
				return a.watchAsService(cmd, args, o)
			}
			return a.watch(ctx, cmd, args, o)
		})
	cmd.Long = `Check runs at regular intervals. A run whose driver (its belay process) died is
resumed, up to --max-resume times in a row without a finished step. A run that is held,
paused, stopped, in a stalemate, failed or finishes nothing is reported and not resumed.
A run that has ended is never started again.

Without RUN, watch every run that has not ended, and those that start meanwhile. Runs that
ended before without reaching their goal are reported once, and count for the exit code
while belay inbox lists them. Only one watch of a state directory acts; others wait and
take over when it ends.

The watch ends when no run is left that can continue without a person, also when there was
none from the beginning, or when its window is over. Without RUN and with --window 0 it
never ends: it waits for runs that start later. Its last line says which runs it did not resume,
and why. Exit codes: 0 every run reached its goal or there was none, 11 a person must act,
12 runs are still running, 20 a run failed, 30 the watch itself failed. If several apply,
the first of 30, 11, 20, 12 counts.

With --once it checks once: what it knows of a run is kept, so that a timer or cron can
start it. A run without a driver is resumed once that was so for three times --poll.`
	f := cmd.Flags()
	f.BoolVar(&o.all, "all", false, "watch every run that has not ended (the default without RUN)")
	f.BoolVar(&o.once, "once", false, "check once, then end")
	f.DurationVar(&o.window, "window", watch.DefaultWindow, "end after this time; 0 = never")
	f.DurationVar(&o.rules.Poll, "poll", watch.DefaultPoll, "the time between two checks")
	f.DurationVar(&o.rules.Stall, "stall", watch.DefaultStall, "report a run when nothing was finished for this long (setting watch.stall)")
	f.IntVar(&o.rules.Resumes, "max-resume", watch.DefaultResumes, "how often to resume a run in a row without a finished step; 0 = never (setting watch.max_resume)")
	f.IntVar(&o.rules.Total, "max-resume-total", watch.DefaultTotal, "how often to resume a run in total")
	f.BoolVar(&o.dry, "dry-run", false, "say what would be done, and do nothing")
	f.BoolVar(&o.install, "install", false, "write a file by which the system starts belay watch, and say what to type")
	f.BoolVar(&o.uninstall, "uninstall", false, "remove that file")
	f.BoolVar(&o.json, "json", false, "print one JSON object per event")
	cmd.ValidArgsFunction = a.completeRun
	return cmd
}

// watchSettings takes what no flag said from the settings.
func (a *app) watchSettings(cmd *cobra.Command, cfg *config.Config, o *watchOptions) (err error) {
	unset := func(flag string) bool { return !cmd.Flags().Changed(flag) }
	if unset("poll") {
		o.rules.Poll = cfg.Watch.Poll.Value
	}
	if unset("stall") {
		o.rules.Stall = cfg.Watch.StallAfter()
	}
	if unset("max-resume") {
		o.rules.Resumes = cfg.Watch.MaxResume.Value
		if older := a.env(olderMaxResume); cfg.Watch.MaxResume.Origin == config.OriginDefault && older != "" {
			if o.rules.Resumes, err = strconv.Atoi(older); err != nil || o.rules.Resumes < 0 {
				return exit.New(exit.Invalid, "read settings", fmt.Errorf("%s=%q is not a number from 0 up", olderMaxResume, older),
					"set BELAY_WATCH_MAX_RESUME instead")
			}
		}
	}
	switch r := o.rules; {
	case r.Poll < time.Millisecond || r.Stall <= 0 || o.window < 0:
		return usage(cmd, errors.New("--poll and --stall must be above 0, and --window not below it"))
	case r.Resumes < 0 || r.Total < 0:
		return usage(cmd, errors.New("--max-resume and --max-resume-total must not be below 0"))
	}
	return nil
}

// olderMaxResume is what older watches read.
const olderMaxResume = "GSTACK_MONITOR_MAX_AUTO_RESUME"

// watch looks until nothing is left to look after, or the window ends.
func (a *app) watch(ctx context.Context, cmd *cobra.Command, args []string, o watchOptions) (err error) {
	if o.all && len(args) > 0 {
		return exit.New(exit.Usage, "", errors.New("--all and RUN exclude each other"), "leave one out")
	}
	cfg, err := config.Load(a.environ)
	if err == nil {
		err = a.watchSettings(cmd, cfg, &o)
	}
	if err != nil {
		return err
	}
	ws, err := a.openWith(cfg)
	if err != nil {
		return watchFailed(err)
	}
	defer closing(&err, "close state", ws.close)
	w := &watcher{
		app: a, ws: ws, o: o, drivers: drivers{}, read: map[belay.RunID]readRun{}, told: map[belay.RunID]watch.Event{},
		seen: map[belay.RunID]bool{}, over: map[belay.RunID]watch.Decision{}, bell: a.bell(ws),
	}
	for _, arg := range args {
		id, err := runID(ws.state, arg)
		if err == nil {
			err = hasPart(ws.state, id)
		}
		if err != nil {
			return err
		}
		w.named = append(w.named, id.Root())
	}
	ctx, at := attend(ctx, nil)
	err = w.loop(ctx)
	if sig := at.stop(); sig != nil {
		return quietly(sig.ExitCode())
	}
	return err
}

// watchFailed is an error of the watch itself.
func watchFailed(err error) error {
	return exit.New(exit.Watch, "watch", err, hint(err))
}

// loop is the watch: lead, look, sleep.
func (w *watcher) loop(ctx context.Context) error {
	end := time.Now().Add(w.o.window)
	timer := time.NewTimer(0)
	defer timer.Stop()
	defer func() {
		if w.lead != nil {
			w.lead.Release()
		}
	}()
	for {
		leads, err := w.leads()
		if err != nil {
			return w.broken(err)
		}
		var all []watch.Decision
		if leads {
			if all, err = w.look(); err != nil {
				return w.broken(err)
			}
			w.send(ctx)
		} else {
			w.standBy()
		}
		over := leads && watch.Over(all, len(w.named) == 0 && w.o.window == 0)
		if over || w.o.once || w.o.window != 0 && !time.Now().Before(end) {
			return w.end(all, over)
		}
		timer.Reset(watch.Pause(all, w.o.rules, time.Now()))
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-timer.C:
		}
	}
}

// leads tells whether this watch is the one that acts. One that looks at some
// runs, or looks once, stands back while another looks at all; one that only
// says what it would do is in nobody's way.
func (w *watcher) leads() (_ bool, err error) {
	all := len(w.named) == 0 && !w.o.once
	if w.o.dry {
		return true, nil
	}
	if w.lead != nil && !w.lead.Holds() {
		w.lead.Release()
		w.lead = nil
		w.app.say("another watch took over while this one was stopped by a signal")
	}
	if w.lead == nil {
		w.lead, err = w.ws.state.LeadWatch(all)
	}
	if w.lead == nil && err == nil {
		err = w.relieve(all)
	}
	return w.lead != nil && (all || !w.ws.state.WatchLeads()), err
}

// relieve takes over from a watch that is stopped by a signal, and stays so.
func (w *watcher) relieve(all bool) (err error) {
	is, frozen := w.ws.state.WatchFrozen(all)
	if !frozen || is != w.stopped {
		w.stopped, w.stops = is, 0
	}
	if w.stops++; !frozen || !watch.Relieves(w.stops) {
		return nil
	}
	if w.lead, err = w.ws.state.RelieveWatch(all); w.lead != nil {
		w.app.say("the active watch, process %d, is stopped by a signal; this one took over", is.Pid)
	}
	return err
}

// end says with what the watch ends.
func (w *watcher) end(all []watch.Decision, over bool) error {
	worst, some := watch.Worst(all)
	last := watch.Decision{Event: watch.Reenter, Reason: "the window of the watch ended"}
	switch {
	case !some && w.stoodBy:
		last.Reason = "another watch leads"
	case !some:
		last = watch.Decision{Event: watch.AllDone, Reason: "no run is left to watch"}
		if over && len(w.named) == 0 && !w.o.once {
			w.app.say("with --window 0 it waits for runs that start later")
		}
	case worst.Code() == exit.OK:
		last = watch.Decision{Event: watch.AllDone, Reason: "every run reached its goal"}
	case over:
		last = watch.Decision{Event: watch.NeedsYou, Reason: "no run goes on without a person"}
		if worst.Code() == exit.Watched {
			last.Event = watch.Failed
		}
	}
	if left := watch.Left(all); left != "" {
		last.Reason += "; " + left
	}
	w.tell(last, journal.Summary{})
	code := last.Code()
	if some {
		code = worst.Code()
	}
	if code == exit.OK {
		return nil
	}
	return quietly(code)
}

// broken says that the watch itself failed.
func (w *watcher) broken(err error) error {
	w.tell(watch.Decision{Event: watch.Broken, Reason: err.Error()}, journal.Summary{})
	return watchFailed(err)
}

// standBy says once that another watch leads.
func (w *watcher) standBy() {
	if !w.stoodBy {
		w.app.say("another watch is active; this one takes over when that one ends")
	}
	w.stoodBy = true
}

// watchLine is an event as a program reads it.
type watchLine struct {
	Event     watch.Event  `json:"event"`
	At        time.Time    `json:"timestamp"`
	Run       belay.RunID  `json:"runId,omitempty"` //nolint:tagliatelle // as older watches have it
	Recipe    string       `json:"recipe,omitempty"`
	Status    belay.Status `json:"status,omitempty"`
	Message   string       `json:"message"`
	Reason    string       `json:"reason,omitempty"`          // of USER_ACTION_REQUIRED
	Stalemate string       `json:"stalemateStatus,omitempty"` //nolint:tagliatelle // of RUN_HALTED_STALEMATE; as older watches have it
	Attempted bool         `json:"resumeAttempted,omitempty"` //nolint:tagliatelle // of RUN_RESUMED; as older watches have it
	Resumes   *int         `json:"resumeCount,omitempty"`     //nolint:tagliatelle // of RUN_RESUMED and RUN_HALTED_RESTART_CAP; as older watches have it
	Most      *int         `json:"maxResumes,omitempty"`      //nolint:tagliatelle // as older watches have it
	Next      string       `json:"next,omitempty"`
}

// tell prints an event, once for each change of it.
func (w *watcher) tell(d watch.Decision, sum journal.Summary) {
	l := watchLine{Event: d.Event, At: time.Now().UTC(), Run: d.Run, Recipe: sum.Name, Status: sum.Status, Message: d.Reason}
	if d.Next != "" {
		l.Next = story.Command(strings.Fields(d.Next)).Given(d.Needs...).Text(w.app.name())
	}
	switch d.Event {
	case watch.NeedsYou:
		l.Reason = d.Reason
	case watch.Stalemate:
		l.Stalemate = d.Reason
	case watch.Resumed, watch.RestartCap:
		l.Attempted, l.Resumes, l.Most = d.Start && !w.o.dry, &d.Count, &d.Most
	case watch.Running, watch.Stale, watch.Failed, watch.Complete, watch.AllDone, watch.Broken, watch.Reenter:
	}
	if w.o.json {
		w.app.object(l)
		return
	}
	parts := []string{l.At.Local().Format(time.TimeOnly), string(l.Event)}
	if d.Run != "" {
		parts = append(parts, string(d.Run))
	}
	text := strings.Join(parts, " ") + ": " + d.Reason
	if d.Event == watch.Resumed && d.Most > 0 && !d.Wake {
		text += fmt.Sprintf("; resume %d of %d", d.Count, d.Most)
	}
	if l.Next != "" {
		text += " (" + l.Next + ")"
	}
	w.app.out.line("%s", text)
}
