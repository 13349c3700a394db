package tracker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// errand is one issue on its way to the tracker.
type errand struct {
	desk   *Desk
	forge  Forge
	rec    Record
	filing Filing
	acts   int
	made   Issue // the answer to a create: the list may not have it yet
	waited bool  // for a lost answer
}

// look asks the tracker and decides.
func (e *errand) look(ctx context.Context) (move, *Trouble) {
	found, trouble := e.find(ctx)
	if trouble != nil {
		return move{}, trouble
	}
	if e.made.Number > 0 && !slices.ContainsFunc(found, func(is Issue) bool { return is.Number == e.made.Number }) {
		found = append(found, e.made)
	}
	p := e.desk.Policy
	if e.waited {
		p.Within, p.Settle = 0, 0
	}
	return next(e.rec, found, time.Now(), p), nil
}

// find asks the tracker, more than once when there is no answer: a look-up that
// failed is not "there is none".
func (e *errand) find(ctx context.Context) ([]Issue, *Trouble) {
	pause := e.desk.Policy.Pause
	for try := 1; ; try++ {
		found, err := e.forge.Find(ctx, Query{Mark: e.rec.Fingerprint, Known: e.rec.Number, Whole: e.acts > 0 || e.rec.Intent != nil})
		if err == nil {
			return found, nil
		}
		t := e.trouble("look for issue", err)
		if t.Kind != TroubleLost || try >= e.desk.Policy.Tries || rest(ctx, pause) != nil {
			return nil, t
		}
		pause *= 2
	}
}

// take does what was decided. The intent is on disk before the act.
func (e *errand) take(ctx context.Context, m move) (*Trouble, error) {
	switch m.kind {
	case moveSettle:
		return e.settle(ctx), nil
	case moveCreate:
		return e.create(ctx, m.first)
	case moveReopen:
		return e.act(ctx, Act{Kind: ActReopen, Number: m.issue.Number}, Reopened)
	case moveClose:
		act := Act{Kind: ActClose, Number: m.issue.Number, Text: fmt.Sprintf("Duplicate of #%d", m.first.Number)}
		return e.act(ctx, act, e.filing)
	case moveComment:
		return nil, e.comment(ctx, m.issue)
	case moveDone:
	}
	return nil, nil
}

// settle waits until a lost answer can no longer come true unseen.
func (e *errand) settle(ctx context.Context) *Trouble {
	p := e.desk.Policy
	wait := min(time.Until(e.rec.Intent.settled(p)), p.Within+p.Settle) // a clock may have been set
	e.desk.Tell("an answer of the tracker was lost: looking again in %s", wait.Round(time.Millisecond))
	if err := rest(ctx, max(wait, 0)); err != nil {
		return lostAnswer("file issue", "stopped while it was not known whether the issue was made: %v", err)
	}
	e.waited = true
	return nil
}

func (e *errand) create(ctx context.Context, before Issue) (*Trouble, error) {
	text := e.rec.Body
	if before.Number > 0 {
		text += fmt.Sprintf("\n\nSeen before, and closed: #%d.", before.Number)
	}
	act := Act{Kind: ActCreate, Title: e.rec.Title, Text: marked(text, e.rec.Fingerprint, e.rec.Filing), Labels: e.rec.Labels}
	return e.act(ctx, act, Created)
}

// act writes an intent down, acts, and writes down what is known of it.
func (e *errand) act(ctx context.Context, act Act, filing Filing) (*Trouble, error) {
	e.acts++
	e.waited = false
	e.rec.Intent = &Intent{Act: act.Kind, Number: act.Number, At: time.Now()}
	if act.Kind == ActCreate {
		e.rec.Status = Unsure
	}
	if err := e.rec.save(e.desk.State); err != nil {
		return nil, err
	}
	is, err := e.forge.Do(ctx, act)
	var t *Trouble
	if err != nil {
		t = e.trouble("file issue", err)
	}
	switch {
	case t == nil && act.Kind == ActCreate: // the intent stays until twins were looked for
		e.made, e.rec.Number, e.rec.URL, e.filing = is, is.Number, is.URL, filing
	case t == nil:
		e.rec.Intent, e.filing = nil, filing
	case t.Kind == TroubleLost:
		e.rec.Intent.Lost = time.Now()
		e.filing = filing // if it turns out to be there
	default: // the tracker said no: nothing was done
		e.rec.Intent = nil
	}
	return t, e.rec.save(e.desk.State)
}

// comment says in an issue that it was seen again, once in a day, whoever says
// it. It is tried once: a comment too few is better than one too many.
func (e *errand) comment(ctx context.Context, is Issue) error {
	now := time.Now()
	said, err := e.forge.Said(ctx, e.rec.Fingerprint, is.Number, now.Add(-Day))
	e.rec.Commented = now
	if said || err != nil {
		return nil // nobody knows whether there is one: then there is none from us
	}
	text := seenAgain(times(e.rec.Times, e.rec.Seen)+"\n\n"+e.rec.Title, e.rec.Fingerprint)
	_, err = e.act(ctx, Act{Kind: ActComment, Number: is.Number, Text: text}, Commented)
	e.rec.Intent = nil
	return err
}

// trouble is an error of a forge; one that has no kind tells of no answer. What a
// program says of its own may hold a secret.
func (e *errand) trouble(op string, err error) *Trouble {
	t := lostAnswer(op, "%v", err)
	var told *Trouble
	if errors.As(err, &told) {
		*t = *told
	}
	t.Detail = e.desk.Hide(plain(t.Detail))
	return t
}
