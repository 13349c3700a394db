package temporal

import (
	"context"
	"errors"
	"fmt"

	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
)

// A query can be answered by a worker whose workflow task the server refuses after that:
// because something came in as the workflow was to end, or because it was late. What was
// decided in that task never was; it is decided again, at another time, and with other
// records. So who has a copy takes records that the server had stored when they were
// given, and others when it sees them twice: after the first answer the fate of the task
// is sealed, and a refused one leaves no worker that knows its records. A copy that took
// others all the same, of an older Belay, shows that by its last record.

// mirror is a copy of the records of a tree.
type mirror interface {
	Seq() int64
	Last() event.Record // of those that it has
	Records() ([]event.Record, error)
	Take(recs []event.Record) error
	Cut(after int64) error // the first one stays
}

const (
	maxLooks = 100 // for the records of one page that go on being others
	maxCuts  = 10  // of a copy that goes on being another one
)

// errUnsteady says that no two answers were alike.
var errUnsteady = exit.New(exit.Infra, "look at the run", errors.New("its records were others each time"),
	"its workflow tasks fail: see the workflow of the run in Temporal")

// bring brings what a copy lacks of the records that there are now, and gives the last
// page. There may be later ones by then.
func bring(c mirror, ask func(after int64) (Page, error)) (Page, error) {
	var before []event.Record // that the last page had, and that may not have been stored
	var upTo int64
	for cuts, looks := 0, 0; ; {
		page, err := ask(c.Seq())
		if err != nil {
			return page, err
		}
		if page.Prev != "" && page.Prev != stamp(c.Last()) {
			if cuts++; cuts > maxCuts {
				return page, errUnsteady
			}
			if err := heal(c, ask); err != nil {
				return page, err
			}
			before, upTo = nil, 0
			continue
		}
		n, same := page.known(c.Seq(), before)
		if upTo == 0 || same < len(before) { // then it was not as it had seemed
			upTo = page.Seq
		}
		if looks++; n > 0 {
			looks = 0
		}
		if before = page.Records[n:]; n > 0 {
			if err := c.Take(page.Records[:n]); err != nil {
				return page, err
			}
		}
		switch {
		case len(page.Records) == 0 || c.Seq() >= upTo:
			return page, nil
		case looks > maxLooks:
			return page, errUnsteady
		}
	}
}

// known is how many records of a page are surely on record: those that were stored, and
// those that were the same the last time; and how many of these there are.
func (p Page) known(after int64, before []event.Record) (n, same int) {
	n = int(min(max(p.Stored-after, 0), int64(len(p.Records))))
	for same < min(len(before), len(p.Records)) && stamp(before[same]) == stamp(p.Records[same]) {
		same++
	}
	return max(n, same), same
}

// heal cuts a copy after the last record that the run has, too.
func heal(c mirror, ask func(after int64) (Page, error)) error {
	own, err := c.Records()
	if err != nil {
		return err
	}
	for back := int64(1); ; back *= 2 {
		at := max(c.Seq()-back, 1)
		page, err := ask(at)
		if err != nil {
			return err
		}
		if at > 1 && page.Prev != stamp(own[at-1]) {
			continue
		}
		for _, r := range page.Records {
			if at >= int64(len(own)) || stamp(r) != stamp(own[at]) {
				break
			}
			at++
		}
		return c.Cut(at)
	}
}

// stamp tells a record from all others that could have its number. What is decided again
// has another time, that of its task. The paths in a record are not part of it: on a host
// they are others.
func stamp(r event.Record) string {
	if r.Event == nil {
		return noRecord
	}
	return fmt.Sprintf("%d %d %d %s %s", r.Seq, r.Epoch, r.At.UnixNano(), r.Run, r.Event.Kind())
}

// noRecord is the stamp of a record that there is not.
const noRecord = "none"

// prev is the stamp of the record after which a page begins. The first one is always the
// same but for its time.
func prev(recs []event.Record, after int64) string {
	switch {
	case after <= 1:
		return ""
	case after > int64(len(recs)):
		return noRecord
	}
	return stamp(recs[after-1])
}

// list is a copy in memory.
type list []event.Record

func (l *list) Seq() int64                       { return int64(len(*l)) }
func (l *list) Records() ([]event.Record, error) { return *l, nil }
func (l *list) Cut(after int64) error            { *l = (*l)[:after]; return nil }

func (l *list) Last() (r event.Record) {
	if n := len(*l); n > 0 {
		r = (*l)[n-1]
	}
	return r
}

func (l *list) Take(recs []event.Record) error { *l = append(*l, recs...); return nil }

// atHome is the copy of a host, in which paths are those of the host.
type atHome struct {
	engine.Copy
	homes homes
}

func (h atHome) Take(recs []event.Record) error {
	recs, err := rehomed(h.homes, recs)
	if err != nil {
		return err
	}
	return h.Copy.Take(recs)
}

// asker gives pages of a tree to who has no other way than a plain query.
func (p *place) asker(ctx context.Context) func(int64) (Page, error) {
	return func(after int64) (page Page, err error) {
		err = p.query(ctx, &page, queryPage, after)
		return page, err
	}
}
