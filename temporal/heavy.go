package temporal

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/internal/readable"
)

const (
	// maxWire is how many bytes are sent as one input or answer: the server ends a
	// workflow for one above 2 MiB, or its worker tries for ever to send it.
	maxWire = 2<<20 - 64<<10
	// maxAtOnce is how many bytes of inputs are sent with one turn of the server, which
	// takes messages of 4 MiB.
	maxAtOnce = 2 << 20
	// weighed is the size from which an input is worth its number in a history.
	weighed = 4 << 10

	// changeHandover is the name of a change in histories: what does not fit into the start
	// of the next one stays in this one.
	changeHandover = "stays when it is too big for the next history"

	mostEvents = 40_000           // of a history that cannot be followed by another; the server ends a workflow at 51,200
	mostBytes  = 40 << 20         // and at 50 MiB
	againAfter = 2_000            // events it is tried again whether it can
	mostEvery  = 4                // of tests: so many times Start.Every ends of attempts instead
	breath     = time.Millisecond // ends a turn of the server
)

// TooBig says that something does not go to the server in one piece. Beside the history, in
// a directory, it would.
type TooBig struct {
	Size int
}

func (e *TooBig) Error() string {
	return fmt.Sprintf("%s, packed, are more than the server takes in one piece (2 MiB)", readable.Size(int64(e.Size)))
}

// errHeavy is what is known of it where it was not sent.
var errHeavy = errors.New("packed, that is more than the server takes in one piece (2 MiB)")

// tooBigType is the type of that error when it comes from a host.
const tooBigType = "TooBig"

// unsent is the error of a client for what is too big for the server.
func unsent(op string, err error) error {
	return exit.New(exit.Invalid, op, err, "name a directory that all workers and clients see with --blobs, for all of them, and say it again")
}

// sizes are how many bytes the inputs of a turn have on the wire, where that is worth telling.
// With a directory for big ones all are small.
func (c Codec) sizes(effects []effect.Effect) (sizes map[belay.Key]int, err error) {
	if c.Dir != "" {
		return nil, nil
	}
	for _, e := range effects {
		var in any
		var key belay.Key
		switch e := e.(type) {
		case effect.Do:
			in, key = e.Job, e.Job.Key
		case effect.Ask:
			in, key = e, e.Key
		case effect.Kill:
			continue
		}
		n, err := c.size(in)
		if err != nil {
			return nil, err
		}
		if n < weighed {
			continue
		}
		if sizes == nil {
			sizes = map[belay.Key]int{}
		}
		sizes[key] = n
	}
	return sizes, nil
}

// size is how many bytes a value has on the wire.
func (c Codec) size(v any) (int, error) {
	b, err := json.Marshal(v)
	if err != nil || len(b) < Big {
		return len(b), err
	}
	p, err := converter.GetDefaultDataConverter().ToPayload(json.RawMessage(b))
	if err != nil {
		return 0, err
	}
	b, err = pressed(p)
	return len(b), err
}

// tooBig is why an effect of a turn cannot go to the host; nil = it can.
func (w *drive) tooBig(k belay.Key) *TooBig {
	if n := w.sizes[k]; n > maxWire {
		return &TooBig{n}
	}
	return nil
}

// breathe sees to it that the inputs of many effects are not sent in one message.
func (w *drive) breathe(ctx workflow.Context, k belay.Key) error {
	if now := workflow.GetInfo(ctx).GetCurrentHistoryLength(); now != w.sentAt {
		w.sent, w.sentAt = 0, now
	}
	n := w.sizes[k]
	if w.sent > 0 && w.sent+n > maxAtOnce {
		if err := workflow.Sleep(ctx, breath); err != nil {
			return err
		}
		w.sent, w.sentAt = 0, workflow.GetInfo(ctx).GetCurrentHistoryLength()
	}
	w.sent += n
	return nil
}

// burdened lets the run rest because something is too big for the server: only who runs the
// workers can change that. What is at work goes on, and its end is put on record.
func (w *drive) burdened(ctx workflow.Context, what string, err error) error {
	w.laden = true
	why := fmt.Sprintf("%s: %v. Name a directory that all workers and clients see with --blobs, for all of them, and start the workers again. Then: %s resume %s",
		what, err, Program, w.in.Run)
	return w.take(ctx, []flow.Fact{{Run: w.in.Run, Event: event.RunHeld{Why: why}}}, true)
}

// heavy tells whether a host could not send its answer because it is too big.
func heavy(err error) bool {
	var app *temporal.ApplicationError
	return errors.As(err, new(*TooBig)) || errors.As(err, &app) && app.Type() == tooBigType
}

// next is how the next history begins.
func (w *drive) next() Start {
	next := w.in
	next.Goes, next.Records = true, w.recs
	return next
}

// handsOver tells whether what is on record fits into the start of another history. That is
// itself on record: another worker may have a directory for what is big.
func (w *drive) handsOver(ctx workflow.Context) (fits bool, err error) {
	if workflow.GetVersion(ctx, changeHandover, workflow.DefaultVersion, 1) == workflow.DefaultVersion {
		return true, nil
	}
	next := w.next()
	err = workflow.SideEffect(ctx, func(workflow.Context) any {
		_, err := w.codec.Converter().ToPayloads(w.parcel, next)
		return err == nil
	}).Get(&fits)
	return fits, err
}

// stays goes on in this history, as there can be no other one, until it is nearly as long as
// the server takes.
func (w *drive) stays(ctx workflow.Context) error {
	info := workflow.GetInfo(ctx)
	length := info.GetCurrentHistoryLength()
	after, over := againAfter, length >= mostEvents || info.GetCurrentHistorySize() >= mostBytes
	if w.in.Every > 0 {
		after, over = w.in.Every, over || w.ends >= mostEvery*w.in.Every
	}
	if !over {
		w.later = length + after
		return nil
	}
	w.later = 0
	return w.burdened(ctx, fmt.Sprintf("the history of the run has %d events, and its %d records cannot go over to another one", length, len(w.recs)),
		errHeavy)
}
