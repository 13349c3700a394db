package journal

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
)

// recordSteps lead a run's journal from one schema number to the next.
var recordSteps = []step{sql(`
	CREATE TABLE records (
		seq   INTEGER PRIMARY KEY,
		epoch INTEGER NOT NULL,
		at    INTEGER NOT NULL,
		run   TEXT NOT NULL,
		kind  TEXT NOT NULL,
		body  BLOB NOT NULL,
		hash  BLOB NOT NULL
	) STRICT`),
}

// row is a record as the table has it.
type row struct {
	seq, epoch, at int64
	run, kind      string
	body           []byte
	hash           digest
}

type digest [sha256.Size]byte

// link is the hash of a row: of the one before it, of every field with its
// length where that can vary, and of the body.
func (r *row) link(prev digest, buf []byte) (digest, []byte) {
	buf = append(buf[:0], prev[:]...)
	buf = binary.BigEndian.AppendUint64(buf, uint64(r.seq))
	buf = binary.BigEndian.AppendUint64(buf, uint64(r.epoch))
	buf = binary.BigEndian.AppendUint64(buf, uint64(r.at))
	buf = binary.BigEndian.AppendUint32(buf, uint32(len(r.run)))
	buf = append(buf, r.run...)
	buf = binary.BigEndian.AppendUint32(buf, uint32(len(r.kind)))
	buf = append(buf, r.kind...)
	buf = append(buf, r.body...)
	return sha256.Sum256(buf), buf
}

// tip is the end of a chain: what the next row has to follow.
type tip struct {
	seq, epoch int64
	hash       digest
}

// Unread is a fact of a kind that this Belay does not know. Only a View gives
// it, so that screens can show a line for it; a driver refuses the journal.
type Unread struct {
	Name string
	Body json.RawMessage
}

// Kind is the name that the record has.
func (u Unread) Kind() string { return u.Name }

// MarshalJSON gives the body as it was written.
func (u Unread) MarshalJSON() ([]byte, error) { return u.Body, nil }

func (r *row) record(e event.Event) event.Record {
	return event.Record{
		Seq: r.seq, Epoch: r.epoch, At: time.Unix(0, r.at).UTC(), Run: belay.RunID(r.run), Event: e,
	}
}
