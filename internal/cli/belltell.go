package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/notify"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/ledger"
	"github.com/belay-run/belay/story"
	"github.com/belay-run/belay/watch"
)

// maxTold is how often it is looked what others told meanwhile.
const maxTold = 5

// tell keeps what is due of the items of a run, with the notices that say it.
// Whoever was faster has told it.
func (b *bell) tell(id belay.RunID, was string, items []watch.Item, about func() (aboutRun, error)) error {
	_, err := b.tellIf(id, was, items, about)
	return err
}

// notKept says that a notice could not be kept. It is sent all the same, once.
type notKept struct{ err error }

func (e *notKept) Error() string { return e.err.Error() }
func (e *notKept) Unwrap() error { return e.err }

// tellIf is tell; told is false when somebody told something since it was looked.
func (b *bell) tellIf(id belay.RunID, was string, items []watch.Item, about func() (aboutRun, error)) (ok bool, err error) {
	now := time.Now()
	due, nth, next := watch.Due(items, b.told(id, was), b.nudges(), now)
	var list []ledger.Notice
	var n notify.Notice
	if len(due) > 0 {
		r, err := about()
		if err != nil {
			return false, err
		}
		if list = b.wanted(r.wants, due[0].On); len(list) == 0 {
			return true, nil // nobody is told, and nobody counts as told
		}
		n = r.notice
		n.Occasion, n.At, n.Nudge = due[0].On, now.UTC(), nth
		n.ID = noticeID(due, fmt.Sprintf("%s %d", id, now.UnixNano()))
		n.Items = slices.DeleteFunc(slices.Clone(n.Items), func(i notify.Item) bool {
			at := slices.IndexFunc(r.notice.Items, func(o notify.Item) bool { return o.Item == i.Item && o.Step == i.Step })
			return at < len(items) && !slices.Contains(due, items[at])
		})
		if err := b.fill(list, n); err != nil {
			return false, err
		}
	}
	is, err := json.Marshal(next)
	if err != nil {
		return true, err
	}
	if string(is) == was || was == "" && len(next) == 0 {
		b.kept(id)
		return true, nil
	}
	if ok, err = b.state.Ledger().Tell(id, was, string(is), list, now); err == nil {
		b.kept(id)
		return ok, nil
	}
	if len(list) == 0 {
		return true, nil // there was nothing to tell
	}
	if e := b.unkeep(id, n, list, due, string(is)); e != nil { // a full disk is no reason to tell nobody
		return false, e
	}
	return false, &notKept{err}
}

// name is how the program is called in a notice: who reads it types that somewhere else,
// where no variable names the state directory.
func (b *bell) name() string {
	env := func(name string) string {
		if name == "BELAY_STATE" {
			return ""
		}
		return b.app.env(name)
	}
	if dir, err := StateDir(env); err == nil && sameDir(dir, b.state.Dir()) {
		return b.app.called()
	}
	return b.app.called() + " --state " + story.Quote(b.state.Dir())
}

// sameDir tells whether two names are those of one directory.
func sameDir(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

func (b *bell) nudges() watch.Nudges {
	return watch.Nudges{Every: b.cfg.Nudge.Value, Most: b.cfg.MaxNudges.Value}
}

// told is what people were told of a run: as it was kept, by this process, and by others
// that could not keep it.
func (b *bell) told(id belay.RunID, was string) map[string]watch.Told {
	all := map[string]watch.Told{}
	for _, text := range append(b.aside.Recall(id), was, b.lately[id]) {
		one := map[string]watch.Told{}
		_ = json.Unmarshal([]byte(text), &one) // what cannot be read is nothing that was said
		for key, t := range one {
			if !t.At.Before(all[key].At) {
				all[key] = t
			}
		}
	}
	return all
}

// kept forgets what was kept aside: the state directory has it now.
func (b *bell) kept(id belay.RunID) {
	delete(b.lately, id)
	b.aside.Forget(id)
}

// unkeep has notices sent that cannot be kept, and remembers that they were. Where nothing
// at all can be written, who gets one at each look can tell by its id that it is the same.
func (b *bell) unkeep(id belay.RunID, n notify.Notice, list []ledger.Notice, due []watch.Item, is string) error {
	host, _ := os.Hostname() // "" will do
	n.ID = noticeID(due, fmt.Sprintf("%q %q %s %d %s", host, b.state.Dir(), id, n.Nudge, n.At.UTC().Format(time.DateOnly)))
	if err := b.fill(list, n); err != nil {
		return err
	}
	for i := range list {
		list[i].Run = id
	}
	b.unkept = append(b.unkept, list...)
	b.lately[id] = is
	_ = b.aside.Keep(id, is) // see above
	return nil
}

// fill puts the text of a notice into those that are sent.
func (b *bell) fill(list []ledger.Notice, n notify.Notice) error {
	body, err := b.body(n)
	for i := range list {
		list[i].ID, list[i].Body = n.ID, body
	}
	return err
}

// died tells that a run cannot go on, and that this could not be written down: it is kept
// nowhere but aside, and sent once, however often the same run dies of it.
func (b *bell) died(o *engine.Open, reason, next string) {
	root := o.Tree.Run(o.ID)
	list := b.wanted(root.Recipe().Notify, watch.OnStalled)
	e, _ := root.Started()
	now := time.Now()
	item := watch.Item{Key: fmt.Sprintf("unwritten %s@%d", next, o.Tree.Done()), On: watch.OnStalled, Since: now}
	due, nth, after := watch.Due([]watch.Item{item}, b.told(o.ID, ""), b.nudges(), now)
	is, err := json.Marshal(after)
	if err != nil || len(due) == 0 || len(list) == 0 {
		return // a map of times has no such error
	}
	_ = b.unkeep(o.ID, notify.Notice{ // a notice has no value that cannot be encoded
		Occasion: watch.OnStalled, At: now.UTC(), Run: o.ID, Recipe: e.Name, Dir: e.Dir, Nudge: nth,
		Status: string(o.Tree.Status()), Code: exit.Infra, Reason: reason, Next: next,
	}, list, due, string(is))
}

// noticeID is the same for the same items of the same occasion.
func noticeID(due []watch.Item, of string) string {
	sum := sha256.New()
	fmt.Fprint(sum, of)
	for _, i := range due {
		fmt.Fprintf(sum, "\n%s", i.Key)
	}
	return "msg_" + hex.EncodeToString(sum.Sum(nil)[:16])
}

// aside is where it is kept what people were told while a disk is full: what a login or a
// machine has in memory, or the directory for temporary files, if that is on another disk.
func (a *app) aside(st *journal.State) notify.Aside {
	at := notify.Aside{State: st.Dir()}
	for _, dir := range []string{a.env("XDG_RUNTIME_DIR"), "/dev/shm", os.TempDir()} {
		if filepath.IsAbs(dir) && !slices.Contains(at.Places, dir) {
			at.Places = append(at.Places, dir)
		}
	}
	return at
}

// sendUnkept sends what could not be kept, once.
func (b *bell) sendUnkept(ctx context.Context) {
	for _, n := range b.sendOnce(ctx) {
		b.app.say("%s could not be told: %s", n.Target, n.Trouble)
	}
}

// sendOnce is sendUnkept, without a word. A run of which nobody took a notice is told again
// by who comes next.
func (b *bell) sendOnce(ctx context.Context) (missed []ledger.Notice) {
	list := b.unkept
	b.unkept = nil
	if len(list) == 0 {
		return nil
	}
	missed = b.post().Once(ctx, list)
	taken := map[belay.RunID]bool{}
	for _, n := range list {
		taken[n.Run] = taken[n.Run] || !slices.ContainsFunc(missed, same(n))
	}
	for run, ok := range taken {
		if !ok {
			b.aside.Forget(run)
		}
	}
	return missed
}

// same tells whether a notice is that one, for the same target.
func same(n ledger.Notice) func(ledger.Notice) bool {
	return func(o ledger.Notice) bool { return o.ID == n.ID && o.Target == n.Target }
}
