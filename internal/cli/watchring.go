package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/notify"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/story"
	"github.com/belay-run/belay/watch"
)

// ring tells people what a look came to. What their driver told them already is
// not told again, but for reminders.
func (w *watcher) ring(d watch.Decision, sum journal.Summary, run watch.Run) {
	err := w.rings(d, sum, run)
	var unkept *notKept
	switch {
	case err == nil || w.deaf:
		return
	case errors.As(err, &unkept):
		w.app.say("the notification about run %s cannot be kept, and is sent once: %s", sum.ID, err)
	default:
		w.app.say("people could not be told about run %s: %s", sum.ID, err)
	}
	w.deaf = true // once: the next look tries again
}

func (w *watcher) rings(d watch.Decision, sum journal.Summary, run watch.Run) error {
	if w.o.dry || run.Status == belay.Stopped || run.Status == belay.Paused { // who did that knows it
		return nil
	}
	was := w.rung[sum.ID]
	about := func() (aboutRun, error) { return w.bell.about(sum.ID) }
	switch {
	case !d.Event.Calls() && was == "" && !w.aside(sum.ID):
		return nil
	case !d.Event.Calls() && run.Status != belay.Running && run.Parked.IsZero():
		return w.bell.tell(sum.ID, was, nil, about) // what is over is forgotten after a while
	case !d.Event.Calls(), run.Status == belay.Held || run.Status.Terminal() || !run.Parked.IsZero(): // one that goes on, or is parked, may have asked something
		r, err := about()
		if err != nil {
			return err
		}
		return w.bell.tell(sum.ID, was, r.items, about)
	}
	return w.bell.tell(sum.ID, was, []watch.Item{d.Item(run)}, func() (aboutRun, error) {
		r, err := about()
		if err != nil { // its journal cannot be read: a person has to know all the same
			r = aboutRun{notice: notify.Notice{Run: sum.ID, Recipe: sum.Name, Dir: sum.Dir, Status: string(sum.Status)}}
		}
		r.notice.Code, r.notice.Reason, r.notice.Items = d.Code(), d.Reason, []notify.Item{}
		r.notice.Next = story.Command(strings.Fields(d.Next)).Given(d.Needs...).Text(w.bell.name())
		return r, nil
	})
}

// send delivers what is due, of all runs.
func (w *watcher) send(ctx context.Context) {
	if w.o.dry {
		return
	}
	w.bell.hide("") // before several need it at once
	w.bell.sendUnkept(ctx)
	if err := w.bell.post().Round(ctx); err != nil && !w.deaf {
		w.deaf = true
		w.app.say("people could not be told: %s", err)
	}
}
