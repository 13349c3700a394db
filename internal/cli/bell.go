package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/hand"
	"github.com/belay-run/belay/internal/notify"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/ledger"
	"github.com/belay-run/belay/recipe"
	"github.com/belay-run/belay/redact"
	"github.com/belay-run/belay/watch"
)

// webhookSecret is the variable with what webhooks are signed with. It is no
// setting: it does not belong into the file.
const webhookSecret = "BELAY_WEBHOOK_SECRET"

// bell is how this process tells people about runs: it keeps what they are told,
// and sends what is kept.
type bell struct {
	app   *app
	state *journal.State
	cfg   config.Notify
	words []string         // names of secrets
	door  *redact.Redactor // made when it is needed
	known map[belay.RunID]aboutRun

	errand *notify.Errand         // sends while the run goes on; nil until there is something
	unkept []ledger.Notice        // that could not be kept: they are sent all the same, once
	lately map[belay.RunID]string // what people were told by those, as it would be kept
	aside  notify.Aside           // the same, for the processes that come after this one
}

// aboutRun is what there is to tell of a run, by its journal.
type aboutRun struct {
	stamp  time.Time // of the journal, when it was read
	items  []watch.Item
	notice notify.Notice // its items are those of the list, in the same order
	wants  *recipe.Notify
}

func (a *app) bell(ws *workshop) *bell {
	return &bell{
		app: a, state: ws.state, cfg: ws.cfg.Notify, words: ws.local.Secrets,
		known: map[belay.RunID]aboutRun{}, lately: map[belay.RunID]string{}, aside: a.aside(ws.state),
	}
}

// secret is what webhooks are signed with, "" for nothing.
func (b *bell) secret() string {
	if s := b.app.env(webhookSecret); s != "" {
		return strings.TrimSpace(s)
	}
	text, err := os.ReadFile(b.cfg.SecretFile.Value)
	if err != nil {
		return "" // the try says that there is none
	}
	return strings.TrimSpace(string(text))
}

// clean takes secrets out of a text: values of the environment, addresses that
// are secrets in themselves, and what looks like a token.
func (b *bell) clean(text []byte) (out []byte, hid bool) {
	if b.door == nil {
		values := redact.FromEnv(b.app.environ, b.words)
		values = append(values, b.secret(), b.cfg.Slack.Value, b.cfg.Webhook.Value, b.cfg.Ntfy.Value)
		b.door = redact.New(slices.DeleteFunc(values, func(v string) bool { return v == "" }))
	}
	return b.door.Hide(text)
}

// learn takes in the names of a run's secrets.
func (b *bell) learn(names []string) {
	for _, n := range names {
		if !slices.Contains(b.words, n) {
			b.words, b.door = append(slices.Clip(b.words), n), nil
		}
	}
}

func (b *bell) hide(text string) string {
	out, _ := b.clean([]byte(text))
	return string(out)
}

// wanted are those who are told of an occasion, each with the address that is not
// in the settings.
func (b *bell) wanted(r *recipe.Notify, on watch.Occasion) []ledger.Notice {
	when, own := b.cfg.On.Value, []string(nil)
	if r != nil {
		own = r.Command
		if r.On != nil {
			when = r.On
		}
	}
	if on != notify.OnTest && !slices.Contains(when, string(on)) {
		return nil
	}
	var list []ledger.Notice
	for _, k := range notify.Kinds() {
		n := ledger.Notice{Target: string(k)}
		switch {
		case k == notify.Command && len(own) > 0:
			text, err := json.Marshal(own)
			if err != nil {
				continue // a list of texts has no such error
			}
			n.Address = string(text)
		case r != nil && r.To != nil && !slices.Contains(r.To, string(k)), !b.has(k):
			continue
		}
		list = append(list, n)
	}
	return list
}

// has tells whether the settings have a target.
func (b *bell) has(k notify.Kind) bool {
	switch k {
	case notify.Command:
		return len(b.cfg.Command.Value) > 0
	case notify.Desktop:
		return b.cfg.Desktop.Value && notify.DesktopCommand(b.app.environ, "", "") != nil
	case notify.Webhook:
		return b.cfg.Webhook.Value != ""
	case notify.Slack:
		return b.cfg.Slack.Value != ""
	case notify.Ntfy:
		return b.cfg.Ntfy.Value != ""
	}
	return false
}

// find is the target that a notice goes to.
func (b *bell) find(k notify.Kind, address string) (notify.Target, *notify.Trouble) {
	t := notify.Target{Kind: k, Environ: b.app.environ, Version: b.app.program.Version, Secret: b.secret, Argv: b.cfg.Command.Value}
	switch k {
	case notify.Command:
		if address != "" {
			t.Argv = nil
			_ = json.Unmarshal([]byte(address), &t.Argv) // none is refused when it is sent
		}
	case notify.Desktop:
	case notify.Webhook:
		t.URL = b.cfg.Webhook.Value
	case notify.Slack:
		t.URL = b.cfg.Slack.Value
	case notify.Ntfy:
		t.URL = b.cfg.Ntfy.Value
	}
	if address == "" && !b.has(k) {
		return t, &notify.Trouble{Text: "the settings do not have it any more: notify." + string(k)}
	}
	return t, nil
}

// post is what sends.
func (b *bell) post() *notify.Post {
	return &notify.Post{
		Books: b.state.Ledger(), Find: b.find, Hide: b.hide, Within: b.cfg.Timeout.Value, Now: time.Now,
		Patience: watch.Patience{First: b.cfg.Retry.Value, Most: b.cfg.MaxTries.Value},
	}
}

// about is what a journal tells of a run. One that has not changed is not read again.
func (b *bell) about(id belay.RunID) (aboutRun, error) {
	stamp := b.state.Folder(id).Changed()
	if got, ok := b.known[id]; ok && got.stamp.Equal(stamp) && !stamp.IsZero() {
		return got, nil
	}
	s, err := tell(b.state, string(id))
	if err != nil {
		return aboutRun{}, err
	}
	defer func() { _ = s.close() }() // read only: nothing to lose
	return b.heard(s, stamp), nil
}

// heard takes in what a run that was read tells.
func (b *bell) heard(s *runView, stamp time.Time) aboutRun {
	root, name := s.Tree.Run(s.id), b.name()
	status := s.Tree.Status()
	e, _ := root.Started()
	b.learn(slices.Concat(hand.Hidden(s.Tree.Library()), s.Tree.Started().Secrets))
	title, _ := titleOf(b.state.Folder(s.id), e.Name)
	r := aboutRun{stamp: stamp, wants: root.Recipe().Notify, notice: notify.Notice{
		Run: s.id, Recipe: e.Name, Task: title, Dir: e.Dir, Status: string(status), Next: name + " why " + string(s.id),
	}}
	if s.Rest != nil {
		r.notice.Code, r.notice.Reason = s.Rest.Code, belay.Plain(s.Rest.Reason)
	}
	switch status {
	case belay.Held, belay.Parked, belay.Running: // one that runs may have asked something beside its work
		r.notice.Next = name + " inbox"
		if status == belay.Running {
			r.notice.Code, r.notice.Reason = exit.Held, "a person is asked something; what does not need the answer goes on"
		}
		if status == belay.Parked {
			r.notice.Reason = "a person is asked something; the run is parked, and the answer wakes it"
		}
		for _, w := range waitings(s.Questions(s.steps(), time.Now()), name) {
			r.items = append(r.items, watch.Item{Key: fmt.Sprintf("held %s:%s@%d", w.Run, w.Item, w.Since.UnixNano()), On: watch.OnHeld, Since: w.Since})
			r.notice.Items = append(r.notice.Items, notify.Item{Item: w.Item, Step: w.Name, Question: w.Question, Choices: w.Choices, Next: w.Command})
		}
	case belay.Achieved, belay.Failed, belay.Partial, belay.NotAchieved, belay.Hollow, belay.Stalemate:
		at := s.Run(s.id).Ended
		r.items = []watch.Item{{Key: fmt.Sprintf("ended@%d", at.UnixNano()), On: watch.OnEnded, Since: at}}
	case belay.Stopped, belay.Paused, belay.Aborted: // nobody waits, or somebody did it on purpose
	}
	b.known[s.id] = r
	return r
}

// rest tells how a run that this process drove came to rest. What is told is
// kept when it returns, and sent later.
func (b *bell) rest(id belay.RunID) error {
	r, err := b.about(id)
	if err != nil || len(r.items) == 0 {
		return err
	}
	inside, _, err := b.app.inside(b.state)
	if err != nil || inside != "" && r.items[0].On == watch.OnEnded { // who started it hears of it
		return err
	}
	for range maxTold {
		was, err := b.state.Ledger().ToldOf(id)
		if err != nil {
			return err
		}
		if told, err := b.tellIf(id, was, r.items, func() (aboutRun, error) { return r, nil }); told || err != nil {
			return err
		}
	}
	return nil // others are at it: they look again
}

// askedFor is how long a run waits with the notice of a question: what it asks at about the
// same time, or how it comes to rest then, is told together.
const askedFor = time.Second

// asked tells, beside the work of the run, what the run asks while it goes on. What cannot
// be told is told when the run comes to rest, with the reason why it could not be.
func (b *bell) asked(ctx context.Context, id belay.RunID) {
	if b.errand == nil {
		own := *b // it works beside this one
		own.words, own.door = slices.Clone(b.words), nil
		own.known, own.lately = map[belay.RunID]aboutRun{}, map[belay.RunID]string{}
		b.errand = notify.Begin(context.WithoutCancel(ctx), askedFor, func(ctx context.Context) {
			_ = own.rest(id)                         // see above
			own.hide("")                             // before several need it at once
			_ = own.sendOnce(ctx)                    // what cannot be sent is told at rest
			_, _ = own.post().Stay(ctx, id, ringFor) // what is left is kept
		})
	}
	b.errand.Wake()
}

// body is a notice as it is kept, with nothing secret in it.
func (b *bell) body(n notify.Notice) (string, error) {
	n.Host, _ = os.Hostname() // a notice without it will do
	n = n.Trimmed()
	text, err := json.Marshal(n)
	if err != nil {
		return "", err
	}
	if clean, hid := b.clean(text); hid && json.Valid(clean) {
		return string(clean), nil
	} else if !hid {
		return string(text), nil
	}
	n.Reason, n.Task, n.Items = "", "", []notify.Item{} // a secret that broke its form
	text, err = json.Marshal(n)
	return b.hide(string(text)), err
}

// ringFor is how long a driver that is done waits for those whom it tells, in all.
const ringFor = 15 * time.Second

// ring sends what is to be sent, and leaves the rest to others. It changes
// nothing about how the process ends.
func (b *bell) ring(ctx context.Context, id belay.RunID) {
	b.hide("") // before several need it at once
	ctx, at := attend(context.WithoutCancel(ctx), nil)
	ctx, cancel := context.WithTimeout(ctx, ringFor)
	defer cancel()
	if b.errand != nil {
		b.errand.End(ctx)
	}
	b.sendUnkept(ctx)
	left, err := b.post().Stay(ctx, id, ringFor)
	_ = at.stop() // how the process ends is known already
	if err != nil {
		b.app.say("people could not be told: %s", err)
	}
	for _, n := range left {
		if n.State != ledger.NoticeOpen {
			continue // somebody else tries it
		}
		b.app.say("%s could not be told: %s; %s watch tries again, and %s notify send", n.Target, n.Trouble, b.app.name(), b.app.name())
	}
}
