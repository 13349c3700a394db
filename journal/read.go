package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/ncruces/go-sqlite3"

	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
)

const selectRows = "SELECT seq, epoch, at, run, kind, body, hash FROM records WHERE seq > ? ORDER BY seq"

// reader reads rows in order and believes none that does not follow from the
// one before it.
type reader struct {
	conn    *sqlite3.Conn
	path    string
	lenient bool // unknown kinds become Unread instead of an error
	buf     []byte
	words   map[string]string // runs and kinds that were met: each is kept once
}

// batch is how many records are told of at once while a journal is read.
const batch = 1024

// after gives the records that follow from, and the new end of the chain.
func (r *reader) after(from tip) (recs []event.Record, end tip, err error) {
	end, err = r.each(from, func(some []event.Record) { recs = append(recs, some...) })
	if err != nil {
		return nil, end, err
	}
	return recs, end, nil
}

// each tells of the records that follow from, some at a time and the first one by
// itself, and gives the new end of the chain. What was told is good only when there
// is no error.
func (r *reader) each(from tip, tell func([]event.Record)) (tip, error) {
	s, _, err := r.conn.Prepare(selectRows)
	if err != nil {
		return from, r.broken(err)
	}
	end, err := r.rows(s, from, tell)
	return end, first(err, s.Close())
}

func (r *reader) rows(s *sqlite3.Stmt, end tip, tell func([]event.Record)) (tip, error) {
	above := end.seq
	if above == 0 {
		above = math.MinInt64 // a row below the first is one too many
	}
	if err := s.BindInt64(1, above); err != nil {
		return end, r.broken(err)
	}
	var recs []event.Record
	for s.Step() {
		w, hashLen := r.scan(s)
		if s.Err() != nil {
			break
		}
		if err := r.check(&w, hashLen, end); err != nil {
			return end, err
		}
		e, err := r.event(&w)
		if err != nil {
			return end, err
		}
		end = tip{seq: w.seq, epoch: w.epoch, hash: w.hash}
		if recs = append(recs, w.record(e)); w.seq == 1 || len(recs) == batch {
			tell(recs)
			recs = make([]event.Record, 0, batch)
		}
	}
	if err := s.Err(); err != nil {
		return end, r.broken(err)
	}
	if len(recs) > 0 {
		tell(recs)
	}
	return end, nil
}

// scan is the row at hand. Its body is good until the next one is asked for.
func (r *reader) scan(s *sqlite3.Stmt) (row, int) {
	w := row{
		seq: s.ColumnInt64(0), epoch: s.ColumnInt64(1), at: s.ColumnInt64(2),
		run: r.word(s.ColumnRawText(3)), kind: r.word(s.ColumnRawText(4)), body: s.ColumnRawBlob(5),
	}
	hash := s.ColumnRawBlob(6)
	copy(w.hash[:], hash)
	return w, len(hash)
}

func (r *reader) word(b []byte) string {
	word, met := r.words[string(b)]
	if !met {
		if r.words == nil {
			r.words = map[string]string{}
		}
		word = string(b)
		r.words[word] = word
	}
	return word
}

// check says whether w is the row that was written after end.
func (r *reader) check(w *row, hashLen int, end tip) error {
	if w.seq <= end.seq {
		return damaged(r.path, w.seq, "it was never written: the first one is 1", nil)
	}
	if w.seq != end.seq+1 {
		return damaged(r.path, end.seq+1, fmt.Sprintf("it is missing, the next one is %d", w.seq), nil)
	}
	var sum digest
	sum, r.buf = w.link(end.hash, r.buf)
	if hashLen != len(sum) || sum != w.hash {
		return damaged(r.path, w.seq, "it is not what was written: the hash does not fit", nil)
	}
	if w.epoch < end.epoch {
		return damaged(r.path, w.seq, fmt.Sprintf("its epoch %d is below %d", w.epoch, end.epoch), nil)
	}
	return nil
}

func (r *reader) event(w *row) (event.Event, error) {
	e, err := event.Decode(w.kind, w.body)
	var unknown *event.UnknownKind
	switch {
	case err == nil:
		return e, nil
	case !errors.As(err, &unknown):
		return nil, damaged(r.path, w.seq, "its body cannot be read", err)
	case !json.Valid(w.body):
		return nil, damaged(r.path, w.seq, "its body is not JSON", nil)
	case r.lenient:
		return Unread{Name: w.kind, Body: bytes.Clone(w.body)}, nil
	}
	return nil, exit.New(exit.Infra, fmt.Sprintf("read journal %s: record %d", r.path, w.seq), err,
		"use the belay that wrote it, or a newer one")
}

// broken types an error of the database by what it speaks about.
func (r *reader) broken(err error) error { return unreadable(r.path, err) }

func unreadable(path string, err error) error {
	var typed *exit.Error
	switch {
	case errors.As(err, &typed):
		return err
	case isCorrupt(err):
		return damaged(path, 0, "it cannot be read as a journal", err)
	}
	return exit.New(exit.Infra, "read journal", fmt.Errorf("%s: %w", path, err),
		"check the disk and the permissions of "+path)
}

// whole tells of everything, and holds the end against what the beat remembers:
// a chain that was cut at its end is a sound, shorter chain.
func (r *reader) whole(f Folder, tell func([]event.Record)) (tip, error) {
	least := readBeat(f).Seq // before the rows: it is never ahead of them
	end, err := r.each(tip{}, tell)
	if err != nil {
		return tip{}, err
	}
	if end.seq < least {
		return tip{}, damaged(r.path, end.seq+1,
			fmt.Sprintf("records are missing at the end: there were at least %d", least), nil)
	}
	return end, nil
}
