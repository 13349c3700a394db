package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/notify"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/ledger"
)

func (a *app) notifyCommand() *cobra.Command {
	cmd := command("notify COMMAND", "test, list and send notifications about runs", 1, 1,
		func(_ context.Context, cmd *cobra.Command, args []string) error {
			return usage(cmd, fmt.Errorf("notify has no command %q: test, list or send", args[0]))
		})
	cmd.Long = `Belay sends notifications when a run is held, ends or stalls: with your own command, on
the desktop, with a signed webhook, with Slack or with ntfy. The settings under notify
and the key notify of a recipe say which.`
	cmd.AddCommand(a.notifyTestCommand(), a.notifyListCommand(), a.notifySendCommand())
	cmd.ValidArgs = []string{"test", "list", "send"}
	return cmd
}

func (a *app) notifyTestCommand() *cobra.Command {
	var asJSON bool
	cmd := command("test [TARGET...]", "send a test notification to all receivers: exit 0 all delivered, 8 one not delivered", 0, -1,
		func(ctx context.Context, cmd *cobra.Command, args []string) error {
			return a.notifyTest(ctx, cmd, args, asJSON)
		})
	cmd.Long = `Send a test notification once, to all receivers in the settings, or only to the given
TARGETs: command, desktop, webhook, slack, ntfy. The exit code is 0 if all were
delivered, 8 if one was not, and 65 if the settings name no receiver.`
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object for each target")
	for _, k := range notify.Kinds() {
		cmd.ValidArgs = append(cmd.ValidArgs, string(k))
	}
	return cmd
}

func (a *app) notifyListCommand() *cobra.Command {
	var asJSON bool
	cmd := command("list", "list the notifications of the last 60 days, and whether they were delivered", 0, 0,
		func(context.Context, *cobra.Command, []string) error { return a.notifyList(asJSON) })
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object for each notification and target")
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	return cmd
}

func (a *app) notifySendCommand() *cobra.Command {
	var asJSON bool
	cmd := command("send", "send again what could not be delivered, and print what became of each: exit 0 all delivered, 8 one not delivered", 0, 0,
		func(ctx context.Context, _ *cobra.Command, _ []string) error { return a.notifySend(ctx, asJSON) })
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object for each notification that was to be sent")
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	return cmd
}

// notifyTried is one target of a test, as a program reads it.
type notifyTried struct {
	Target    notify.Kind `json:"target"`
	Delivered bool        `json:"delivered"`
	Trouble   string      `json:"trouble,omitempty"`
}

func (a *app) notifyTest(ctx context.Context, cmd *cobra.Command, args []string, asJSON bool) (err error) {
	for _, arg := range args {
		if !slices.Contains(notify.Kinds(), notify.Kind(arg)) {
			return usage(cmd, fmt.Errorf("%q is none of command, desktop, webhook, slack and ntfy", arg))
		}
	}
	ws, err := a.open()
	if err != nil {
		return err
	}
	defer closing(&err, "close state", ws.close)
	b := a.bell(ws)
	kinds := slices.DeleteFunc(notify.Kinds(), func(k notify.Kind) bool {
		return len(args) > 0 && !slices.Contains(args, string(k)) || len(args) == 0 && !b.has(k)
	})
	if len(kinds) == 0 {
		return exit.New(exit.Invalid, "notify", errors.New("the settings name no receiver that works here"),
			"set notify.command, notify.desktop, notify.webhook, notify.slack or notify.ntfy")
	}
	missed := 0
	for _, k := range kinds {
		r := notifyTried{Target: k}
		if t := b.try(ctx, k); t != nil {
			missed++
			r.Trouble = readable.Clean(b.hide(t.Text))
		} else {
			r.Delivered = true
		}
		switch {
		case asJSON:
			a.object(r)
		case r.Delivered:
			a.out.line("%s: delivered", k)
		default:
			a.out.line("%s: not delivered: %s", k, r.Trouble)
		}
	}
	if missed > 0 {
		return quietly(exit.Infra)
	}
	return nil
}

// try sends a test to one target.
func (b *bell) try(ctx context.Context, k notify.Kind) *notify.Trouble {
	t, trouble := b.find(k, "")
	if trouble != nil {
		return &notify.Trouble{Text: "it is not set: notify." + string(k)}
	}
	ctx, cancel := context.WithTimeout(ctx, b.cfg.Timeout.Value)
	defer cancel()
	now := time.Now()
	return t.Send(ctx, notify.Notice{
		ID: noticeID(nil, fmt.Sprintf(" %d", now.UnixNano())), Occasion: notify.OnTest, At: now.UTC(), Items: []notify.Item{},
		Reason: "this is a test: nothing happened", Next: b.app.name() + " inbox",
	}, now)
}

// noticeLine is a notice as a program reads it.
type noticeLine struct {
	ID      string             `json:"id"`
	Run     belay.RunID        `json:"run"`
	Target  string             `json:"target"`
	State   ledger.NoticeState `json:"state"`
	Tries   int                `json:"tries"`
	Made    time.Time          `json:"made"`
	Due     *time.Time         `json:"due,omitempty"` // of an open one: when it is tried next
	Trouble string             `json:"trouble,omitempty"`
	Notice  any                `json:"notice"`
}

func (a *app) notifyList(asJSON bool) (err error) {
	st, err := a.openState()
	if err != nil {
		return err
	}
	defer closing(&err, "close state", st.Close)
	list, err := st.Ledger().Notices()
	if err != nil {
		return err
	}
	if len(list) == 0 && !asJSON {
		a.say("there are no notifications")
	}
	a.notices(list, asJSON)
	return nil
}

func (a *app) notices(list []ledger.Notice, asJSON bool) {
	for _, n := range list {
		notice, err := notify.Read(n.Body)
		if err != nil {
			notice = notify.Notice{ID: n.ID, Run: n.Run}
		}
		if asJSON {
			l := noticeLine{ID: n.ID, Run: n.Run, Target: n.Target, State: n.State, Tries: n.Tries, Made: n.Made, Trouble: n.Trouble, Notice: notice}
			if n.State == ledger.NoticeOpen || n.State == ledger.NoticeSending {
				l.Due = &n.Due
			}
			a.object(l)
			continue
		}
		text := fmt.Sprintf("%s %s %s after %s: %s", n.Made.Local().Format(time.DateTime), n.Target, noticeWord(n.State), tries(n.Tries), notice.Title())
		if n.Trouble != "" {
			text += " (" + n.Trouble + ")"
		}
		a.out.line("%s", readable.Clean(text))
	}
}

func noticeWord(s ledger.NoticeState) string {
	switch s {
	case ledger.NoticeOpen:
		return "not delivered yet"
	case ledger.NoticeSending:
		return "being sent"
	case ledger.NoticeDelivered:
		return "delivered"
	case ledger.NoticeGivenUp:
		return "given up"
	}
	return string(s)
}

func tries(n int) string {
	if n == 1 {
		return "1 try"
	}
	return fmt.Sprintf("%d tries", n)
}

func (a *app) notifySend(ctx context.Context, asJSON bool) (err error) {
	ws, err := a.open()
	if err != nil {
		return err
	}
	defer closing(&err, "close state", ws.close)
	b := a.bell(ws)
	b.hide("") // before several need it at once
	p, led := b.post(), ws.state.Ledger()
	if err := led.HurryNotices(time.Now()); err != nil {
		return err
	}
	open, err := led.OpenNotices()
	if err != nil {
		return err
	}
	ctx, at := attend(ctx, nil)
	err = p.Round(ctx)
	if sig := at.stop(); sig != nil {
		return quietly(sig.ExitCode())
	}
	if err != nil {
		return err
	}
	all, err := led.Notices()
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(n ledger.Notice) bool { return !slices.ContainsFunc(open, same(n)) })
	if len(all) == 0 && !asJSON {
		a.say("there was nothing to send")
	}
	a.notices(all, asJSON)
	if slices.ContainsFunc(all, func(n ledger.Notice) bool { return n.State != ledger.NoticeDelivered }) {
		return quietly(exit.Infra)
	}
	return nil
}
