// Package audit checks a journal: it reads all records of a root run and its
// child runs and says where they break a rule that every journal must keep,
// whatever the recipe was. It knows nothing of recipes, repairs nothing and
// believes nothing but the records; it shares no code with the brain, so that
// the two cannot be wrong together.
package audit

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
)

// Violation is one place at which a journal breaks a rule.
type Violation struct {
	Seq  int64  // number of the record that shows it
	Rule string // one of Rules
	Msg  string
}

func (v Violation) String() string { return fmt.Sprintf("record %d: %s: %s", v.Seq, v.Rule, v.Msg) }

// Check reads the records of a whole journal, in its order, and gives every
// violation, in the same order. After one it goes on as well as it can, so a
// damaged journal may show one fault at several places.
func Check(recs []event.Record) []Violation {
	if len(recs) == 0 {
		return nil // a run that never began broke nothing
	}
	c := &checker{
		root:     recs[0].Run,
		streams:  map[belay.RunID]*stream{},
		attempts: map[belay.Key]*attempt{},
		open:     map[belay.Key]*attempt{},
		steps:    map[stepID]*step{},
		items:    map[itemID]*item{},
		requests: map[string]bool{},
	}
	for i, r := range recs {
		c.rec = r
		c.header(i)
		if r.Event != nil {
			c.event(i)
		}
		c.prev = r
	}
	c.finish()
	return c.found
}

// checker is what is known of the journal up to one record.
type checker struct {
	root     belay.RunID
	rec      event.Record // the one that is looked at
	prev     event.Record
	epoch    int64 // of the last attach
	attached bool
	created  int64 // epoch of the first record
	limits   *belay.Limits
	streams  map[belay.RunID]*stream
	attempts map[belay.Key]*attempt // the last of each key
	open     map[belay.Key]*attempt
	steps    map[stepID]*step
	items    map[itemID]*item
	requests map[string]bool // id → refused already
	spent    belay.Path      // a step whose agent may not be tried again: a recovery follows
	found    []Violation
}

func (c *checker) say(rule, format string, args ...any) {
	c.found = append(c.found, Violation{Seq: c.rec.Seq, Rule: rule, Msg: fmt.Sprintf(format, args...)})
}

// header checks what every record has.
func (c *checker) header(i int) {
	r := c.rec
	if want := c.prev.Seq + 1; r.Seq != want {
		c.say(RuleSeq, "number %d follows %d", r.Seq, c.prev.Seq)
	}
	if i > 0 && r.At.Before(c.prev.At) {
		c.say(RuleTime, "%s is before %s", stamp(r.At), stamp(c.prev.At))
	}
	if r.Event == nil {
		c.say(RuleFirst, "a record without an event")
		return
	}
	c.epochs(i)
}

// epochs checks that every record is written by a driver that attached. Only
// the record that creates the run may come first: the folder must be there
// before a driver can take it.
func (c *checker) epochs(i int) {
	r := c.rec
	if a, ok := r.Event.(event.RunAttached); ok {
		if a.Epoch != r.Epoch || a.Epoch <= c.epoch {
			c.say(RuleAttach, "a driver attaches as %d in a record of epoch %d, after epoch %d", a.Epoch, r.Epoch, c.epoch)
		}
		if !c.attached && c.created != 0 && c.created != a.Epoch {
			c.say(RuleEpoch, "the run was created in epoch %d, and its first driver has %d", c.created, a.Epoch)
		}
		c.epoch, c.attached = max(c.epoch, a.Epoch), true
		return
	}
	if i == 0 {
		c.created = r.Epoch
		return
	}
	if r.Epoch != c.epoch {
		c.say(RuleEpoch, "a record of epoch %d, while %d is attached", r.Epoch, c.epoch)
	}
}

func (c *checker) event(i int) {
	s := c.stream(i)
	if !c.mayFollow(s) {
		return
	}
	switch e := c.rec.Event.(type) {
	case event.RunAttached:
		c.onAttached()
	case event.RunReopened:
		c.onReopened(s)
	case event.RunEnded:
		c.onEnded(s, e)
	case event.AttemptStarted:
		c.onStarted(e)
	case event.AttemptNoted:
		c.find(e.Key) // it may stand before the attempt is found: what was noted is older
	case event.AttemptFound:
		c.onFound(s, e)
	case event.AttemptStopping:
		c.onStopping(e)
	case event.AttemptEnded:
		c.onAttemptEnded(e)
	case event.AttemptJudged:
		c.onJudged(e)
	case event.StepNotTaken:
		c.onNotTaken(e)
	case event.StepSkipped:
		c.step(e.Path).settle("skipped", false)
	case event.StepRefused:
		c.step(e.Path).settle("refused", false)
	case event.StepReset:
		c.onReset(e)
	case event.RecoveryChosen:
		c.onRecovery(e)
	case event.ItemOpened:
		c.onItem(e)
	case event.ItemAnswered:
		c.onAnswer(e)
	case event.ItemExpired:
		c.onExpired(e)
	case event.RequestReceived:
		c.onRequest(e)
	case event.RequestRefused:
		c.onRefusal(e)
	case event.AnswerGiven:
		c.onAnswerGiven(e)
	case event.RunParked:
		c.onParked()
	case event.RunStarted, event.RunHeld, event.RunStopped, event.RunPaused, event.RunResumed, event.RunCleared:
		// nothing beyond what every record of a stream must keep
	}
}

// finish checks what must not be left over; a turn is on disk whole or not at
// all, so an end in the middle of one is a fault too.
func (c *checker) finish() {
	c.leftOver()
	for _, k := range slices.Sorted(maps.Keys(c.open)) {
		a := c.open[k]
		if a.child == "" {
			continue
		}
		if s := c.streams[a.child]; s == nil || s.ended != nil {
			c.say(RuleChild, "attempt %s is open, but its child run %s is not", k, a.child)
		}
	}
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
