package temporal

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
)

// mostGrace is what the attempts of a host that has lost contact get from TERM to KILL.
const mostGrace = 5 * time.Second

// Here says that the host takes what it is given.
func (h *Host) Here(context.Context) error { return nil }

// proving tells the server that an activity is at work, as beating does, and tells what
// it was answered: that is the proof that the host is not lost. An activity that the
// server has closed ends.
func (h *Host) proving(ctx context.Context, proved func(sent time.Time)) (context.Context, func()) {
	every := activity.GetInfo(ctx).HeartbeatTimeout / beats
	if every <= 0 {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		t := time.NewTicker(every)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				sent, err := h.contact(ctx, every)
				switch {
				case err == nil:
					proved(sent)
				case closed(err):
					cancel(err)
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	return ctx, func() { cancel(nil); <-ended }
}

// contact asks the server whether it still has an activity of this host open, and says
// when that was asked.
func (h *Host) contact(ctx context.Context, within time.Duration) (sent time.Time, err error) {
	token := activity.GetInfo(ctx).TaskToken
	sent = time.Now()
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	return sent, h.Client.RecordActivityHeartbeat(ctx, token)
}

// closed tells whether the server wants nothing more of an activity.
func closed(err error) bool {
	var none *serviceerror.NotFound
	var cancelled *temporal.CanceledError
	return errors.As(err, &none) || errors.As(err, &cancelled)
}

// renew gives the keeper of a driver a lease, by a proof of contact.
func (p *place) renew(epoch int64, sent time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	left := p.lease - time.Since(sent)
	k, leased := p.keeper.(interface {
		Lease(most, grace time.Duration) error
	})
	if !leased || p.epoch != epoch || p.lease <= 0 || left <= 0 || !sent.Add(p.lease).After(p.until) {
		return
	}
	_ = k.Lease(left, min(mostGrace, p.lease/4)) // a broken connection shows as Gone
	p.until = sent.Add(p.lease)
}

// prove sees to it that a keeper whose driver has a lease has enough of it to begin
// something.
func (h *Host) prove(ctx context.Context, p *place, epoch int64) error {
	p.mu.Lock()
	enough := p.lease <= 0 || time.Until(p.until) > p.lease/2
	within := p.lease / 2
	p.mu.Unlock()
	if enough {
		return nil
	}
	sent, err := h.contact(ctx, within)
	if err != nil {
		return detached("the server does not answer: " + err.Error())
	}
	p.renew(epoch, sent)
	return nil
}
