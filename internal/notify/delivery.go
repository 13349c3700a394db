package notify

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/ledger"
	"github.com/belay-run/belay/watch"
)

// Books are where notices are kept until they were taken.
type Books interface {
	TakeNotice(target string, now time.Time, hold time.Duration) (ledger.Notice, bool, error)
	SettleNotice(n ledger.Notice) error
	OpenNotices() ([]ledger.Notice, error)
}

// Post sends notices.
type Post struct {
	Books    Books
	Find     func(k Kind, address string) (Target, *Trouble) // who is meant
	Hide     func(string) string                             // takes secrets out of what receivers say
	Within   time.Duration                                   // for one try
	Patience watch.Patience
	Now      func() time.Time
}

// hold is how long nobody else takes a notice that somebody tries: the time of the
// try, and as much for what comes before and after it.
func (p *Post) hold() time.Duration { return 2 * p.Within }

// maxRound is how many notices one round sends to one target.
const maxRound = 20

// Round sends what is due, to each target by itself: one that hangs keeps no
// other waiting, and is asked once only.
func (p *Post) Round(ctx context.Context) error {
	open, err := p.Books.OpenNotices()
	if err != nil {
		return err
	}
	now := p.Now()
	kinds := slices.DeleteFunc(Kinds(), func(k Kind) bool {
		return !slices.ContainsFunc(open, func(n ledger.Notice) bool { return n.Target == string(k) && !n.Due.After(now) })
	})
	errs := make([]error, len(kinds))
	var all sync.WaitGroup
	for i, k := range kinds {
		all.Go(func() { errs[i] = p.serve(ctx, k) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// serve sends to one target until nothing is due or something went wrong.
func (p *Post) serve(ctx context.Context, k Kind) error {
	for range maxRound {
		if ctx.Err() != nil {
			return nil // what is due stays so
		}
		n, ok, err := p.Books.TakeNotice(string(k), p.Now(), p.hold())
		if err != nil || !ok {
			return err
		}
		t := p.try(ctx, k, n)
		if err := p.Books.SettleNotice(p.settled(n, t)); err != nil || t != nil {
			return err
		}
	}
	return nil
}

func (p *Post) try(ctx context.Context, k Kind, n ledger.Notice) *Trouble {
	notice, err := Read(n.Body)
	if err != nil {
		return &Trouble{Text: "it cannot be read: " + err.Error(), Final: true}
	}
	target, t := p.Find(k, n.Address)
	if t != nil {
		return t
	}
	ctx, cancel := context.WithTimeout(ctx, p.Within)
	defer cancel()
	return target.Send(ctx, notice, p.Now())
}

// settled is what a try makes of a notice.
func (p *Post) settled(n ledger.Notice, t *Trouble) ledger.Notice {
	if t == nil {
		n.State, n.Trouble = ledger.NoticeDelivered, ""
		return n
	}
	n.Trouble = p.Hide(t.Text)
	wait, more := p.Patience.Again(n.Tries)
	if t.Final || !more {
		n.State = ledger.NoticeGivenUp
		return n
	}
	n.State = ledger.NoticeOpen
	n.Due = p.Now().Add(max(wait, t.After))
	return n
}

// Stay sends until nothing of a run is left to send, and no longer than the
// time: what is left then is for the next who comes by.
// A try that is under way then ends with it.
func (p *Post) Stay(ctx context.Context, run belay.RunID, most time.Duration) (left []ledger.Notice, err error) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	end := p.Now().Add(most)
	for {
		if err := p.Round(ctx); err != nil {
			return nil, err
		}
		if left, err = p.open(run); err != nil || len(left) == 0 {
			return left, err
		}
		next := left[0].Due
		for _, n := range left {
			if n.Due.Before(next) {
				next = n.Due
			}
		}
		if next.After(end) || ctx.Err() != nil {
			return left, nil
		}
		wait := time.NewTimer(next.Sub(p.Now()))
		select {
		case <-ctx.Done():
		case <-wait.C:
		}
		wait.Stop()
	}
}

// Once sends notices that could not be kept, one time each, and gives those that
// were not taken.
func (p *Post) Once(ctx context.Context, list []ledger.Notice) (missed []ledger.Notice) {
	all := make([]ledger.Notice, len(list))
	var tries sync.WaitGroup
	for i, n := range list {
		tries.Go(func() { all[i] = p.settled(n, p.try(ctx, Kind(n.Target), n)) })
	}
	tries.Wait()
	return slices.DeleteFunc(all, func(n ledger.Notice) bool { return n.State == ledger.NoticeDelivered })
}

// Errand does something, whenever it is woken, while its owner does other things.
type Errand struct {
	wake, quit, done chan struct{}
	cancel           context.CancelFunc
}

// Begin begins an errand, which its owner has to end. It waits a little after it was
// woken: what comes at about the same time is done at once.
func Begin(ctx context.Context, after time.Duration, do func(context.Context)) *Errand {
	ctx, cancel := context.WithCancel(ctx)
	e := &Errand{wake: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{}), cancel: cancel}
	go func() {
		defer close(e.done)
		for {
			select {
			case <-e.quit:
				return
			case <-e.wake:
			}
			select {
			case <-e.quit:
				return
			case <-time.After(after):
				do(ctx)
			}
		}
	}()
	return e
}

// Wake says that there is something to do.
func (e *Errand) Wake() {
	select {
	case e.wake <- struct{}{}:
	default: // it looks anyway
	}
}

// End ends the errand. What is under way has the time of the context.
func (e *Errand) End(ctx context.Context) {
	close(e.quit)
	select {
	case <-e.done:
	case <-ctx.Done():
	}
	e.cancel()
	<-e.done
}

// open are the notices of a run that are to be tried again.
func (p *Post) open(run belay.RunID) (list []ledger.Notice, err error) {
	all, err := p.Books.OpenNotices()
	return slices.DeleteFunc(all, func(n ledger.Notice) bool { return n.Run != run }), err
}
