package engine

import (
	"fmt"
	"sync"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/story"
)

const (
	maxAhead  = 128 // batches of records that may be read and not yet folded
	maxRecent = 256 // news of the records that were there that are kept for the log
)

// load reads the records of the run and folds them while they are read: one
// goroutine reads, proves and decodes, another parses the frozen recipes, folds and
// tells. No record is kept. What was folded is believed when all records are proven.
func (o *Open) load() error {
	batches := make(chan []event.Record, maxAhead)
	var folding sync.WaitGroup
	var fault error
	folding.Go(func() {
		fault = o.take(batches)
		for range batches { // the reader must not wait for who has given up
		}
	})
	err := o.run.LoadEach(func(recs []event.Record) { batches <- recs })
	close(batches)
	folding.Wait()
	if err != nil {
		return err
	}
	return fault
}

// unfit is the error of records that are sound and do not fit together.
type unfit struct{ error }

func (u unfit) Unwrap() error { return u.error }

// take folds records as they come, and tells the story of them.
func (o *Open) take(batches <-chan []event.Record) error {
	recs, more := <-batches
	if !more {
		return journal.NeverBegan(o.ID)
	}
	tree, err := begin(o.ID, recs[0], o.run)
	if err != nil {
		return err
	}
	o.Tree, o.live = tree, story.Live(tree)
	for ; more; recs, more = <-batches {
		if err := follow(tree, recs); err != nil {
			return err
		}
		for _, r := range recs {
			if e, ok := r.Event.(event.RunCleared); ok && e.What == event.CountBudget {
				o.anew = r.At
			}
		}
		o.tell(recs)
		o.tail = recs[len(recs)-1]
		o.epoch, o.last = o.tail.Epoch, o.tail.At
	}
	if s := tree.Started().Session; s != nil {
		o.session = *s
	}
	return nil
}

// tell adds records that are folded to the story, and keeps the last news of it.
func (o *Open) tell(recs []event.Record) {
	news := o.live.Add(recs...)
	o.recent = append(o.recent, news[max(0, len(news)-maxRecent):]...)
	o.recent = o.recent[max(0, len(o.recent)-maxRecent):]
}

// Watch is the story of the run so far, for who goes on with it as it is driven, and
// the last news of it. They are given once.
func (o *Open) Watch() (*story.Story, []story.News) {
	live, recent := o.live, o.recent
	o.live, o.recent = nil, nil
	if live == nil {
		live = story.Live(o.Tree)
	}
	live.Rest = nil
	return live, recent
}

// Blobs reads what was kept beside the records.
type Blobs interface {
	ReadBlob(sha string, most int64) ([]byte, error)
}

// Fold builds the tree of a run from its records and its frozen recipes.
func Fold(id belay.RunID, recs []event.Record, blobs Blobs) (*flow.Tree, error) {
	if len(recs) == 0 {
		return nil, journal.NeverBegan(id)
	}
	tree, err := begin(id, recs[0], blobs)
	if err == nil {
		err = follow(tree, recs)
	}
	if err != nil {
		return nil, err
	}
	return tree, nil
}

// begin is the tree of a run before its first record, which names its recipes.
func begin(id belay.RunID, first event.Record, blobs Blobs) (*flow.Tree, error) {
	if first.Run != id {
		return nil, exit.New(exit.Invalid, "read journal", fmt.Errorf("the folder of run %s holds run %s", id, first.Run),
			"a copy of a run can be looked at, but its folder must keep the run's id as its name")
	}
	lib, err := loadFrozen(first, blobs)
	if err != nil {
		return nil, err
	}
	return flow.NewTree(id, lib), nil
}

func follow(tree *flow.Tree, recs []event.Record) error {
	for _, r := range recs {
		if err := tree.Apply(r); err != nil {
			return unfit{exit.New(exit.Damaged, "fold journal", fmt.Errorf("record %d: %w", r.Seq, err),
				"the records do not fit together; nothing was overwritten")}
		}
	}
	return nil
}
