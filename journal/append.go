package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/internal/failpoint"
)

// maxRows is how many rows one statement inserts; more take several of them in
// one transaction.
const maxRows = 16

// call is one caller of Append: its rows, and then its answer.
type call struct {
	recs []event.Record
	rows []row
	done bool
	err  error
}

// Append writes the records in one transaction and returns them with their
// numbers. They are durable when it returns without an error. A record without
// a time gets the time of now; an epoch other than the run's own is refused.
//
// After an error nobody knows how much of the transaction will be there after a
// restart, and the caller's memory may be ahead of the disk: every later Append
// fails too. The journal must be closed, opened and loaded again.
//
// Callers that come while another one writes are written together, in the order
// in which they came; a single caller does everything itself.
func (r *Run) Append(recs []event.Record) ([]event.Record, error) {
	if len(recs) == 0 {
		return nil, nil
	}
	c := &call{recs: make([]event.Record, len(recs)), rows: make([]row, len(recs))}
	c.err = c.encode(recs)
	r.queue.Lock()
	r.queue.calls = append(r.queue.calls, c)
	r.queue.Unlock()

	r.write.Lock()
	defer r.write.Unlock()
	if !c.done {
		r.queue.Lock()
		group := r.queue.calls
		r.queue.calls = nil
		r.queue.Unlock()
		r.commit(group)
	}
	if c.err != nil {
		return nil, c.err
	}
	return c.recs, nil
}

// encode makes the bodies, outside of any lock.
func (c *call) encode(recs []event.Record) error {
	for i, rec := range recs {
		if rec.Event == nil {
			return errors.New("append to journal: a record without an event")
		}
		body, err := json.Marshal(rec.Event)
		if err != nil {
			return fmt.Errorf("append to journal: encode %s: %w", rec.Event.Kind(), err)
		}
		if rec.At.IsZero() {
			rec.At = time.Now()
		}
		rec.At = time.Unix(0, rec.At.UnixNano()).UTC() // as it will be read
		c.recs[i] = rec
		c.rows[i] = row{at: rec.At.UnixNano(), run: string(rec.Run), kind: rec.Event.Kind(), body: body}
	}
	return nil
}

// commit answers every call of the group.
func (r *Run) commit(group []*call) {
	rows, err := r.number(group)
	if err == nil {
		failpoint.Hit("journal.before_append")
		if err = r.inPlace(); err == nil {
			err = r.store(rows)
		}
		if err != nil {
			err = r.disk.unwritten("append to journal", r.Journal(), err)
		}
	}
	if err == nil {
		end := rows[len(rows)-1]
		r.end = tip{seq: end.seq, epoch: end.epoch, hash: end.hash}
		failpoint.Hit("journal.after_append")
	} else if r.broken == nil {
		r.broken = err
	}
	for _, c := range group {
		c.done, c.err = true, first(c.err, err)
	}
}

// number gives the rows of a group their place in the chain.
func (r *Run) number(group []*call) ([]row, error) {
	if r.broken != nil {
		return nil, fmt.Errorf("append to journal: an earlier append did not succeed: %w", r.broken)
	}
	if r.conn == nil || !r.loaded {
		return nil, errors.New("append to journal: it is closed or was not loaded")
	}
	end := r.end
	var rows []row
	for _, c := range group {
		if c.err != nil {
			return nil, c.err
		}
		for i := range c.rows {
			if e := c.recs[i].Epoch; e != 0 && e != r.epoch {
				return nil, fmt.Errorf("append to journal: %w", &Stale{Have: e, Want: r.epoch})
			}
			w := &c.rows[i]
			w.seq, w.epoch = end.seq+1, r.epoch
			w.hash, r.buf = w.link(end.hash, r.buf)
			end = tip{seq: w.seq, epoch: w.epoch, hash: w.hash}
			c.recs[i].Seq, c.recs[i].Epoch = w.seq, w.epoch
		}
		rows = append(rows, c.rows...)
	}
	return rows, nil
}

// store inserts the rows in one transaction. Up to maxRows of them are one
// statement, which is a transaction by itself. The first ones bring their table
// along: a journal is blank or has a record, and a start waits for one sync less.
func (r *Run) store(rows []row) error {
	switch {
	case !r.blank && len(rows) <= maxRows:
		return r.insertRows(rows)
	case !r.blank:
		return transact(r.conn, func() error { return r.insertAll(rows) })
	}
	err := startLog(r.conn, func() error {
		return transact(r.conn, func() error {
			if err := upgrade(r.conn, 0, recordSteps); err != nil {
				return err
			}
			return r.insertAll(rows)
		})
	})
	if err == nil {
		err = r.disk.syncFile(r.Journal() + "-wal")
	}
	r.blank = err != nil
	return err
}

func (r *Run) insertAll(rows []row) error {
	for some := range slices.Chunk(rows, maxRows) {
		if err := r.insertRows(some); err != nil {
			return err
		}
	}
	return nil
}

func (r *Run) insertRows(rows []row) error {
	s := r.insert[len(rows)]
	if s == nil {
		var err error
		s, _, err = r.conn.PrepareFlags("INSERT INTO records VALUES (?,?,?,?,?,?,?)"+
			strings.Repeat(",(?,?,?,?,?,?,?)", len(rows)-1), sqlite3.PREPARE_PERSISTENT)
		if err != nil {
			return err
		}
		r.insert[len(rows)] = s
	}
	for i := range rows {
		if err := bind(s, i*7, &rows[i]); err != nil {
			return err
		}
	}
	return s.Exec()
}

func bind(s *sqlite3.Stmt, at int, w *row) error {
	return errors.Join(
		s.BindInt64(at+1, w.seq), s.BindInt64(at+2, w.epoch), s.BindInt64(at+3, w.at),
		s.BindText(at+4, w.run), s.BindText(at+5, w.kind),
		s.BindBlob(at+6, w.body), s.BindBlob(at+7, w.hash[:]),
	)
}
