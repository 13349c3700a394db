package ledger

import (
	"time"

	"github.com/belay-run/belay"
)

// NoticeSchema makes the tables of what people were told of each run, and of the
// notices that go to them, one row for each of those who are told.
const NoticeSchema = `
	CREATE TABLE notified (run TEXT PRIMARY KEY, memory TEXT NOT NULL, at INTEGER NOT NULL) STRICT;
	CREATE TABLE notices (
		id TEXT NOT NULL, target TEXT NOT NULL, run TEXT NOT NULL, address TEXT NOT NULL, body TEXT NOT NULL,
		made INTEGER NOT NULL, tries INTEGER NOT NULL, due INTEGER NOT NULL,
		state TEXT NOT NULL, at INTEGER NOT NULL, trouble TEXT NOT NULL,
		PRIMARY KEY (id, target)
	) STRICT`

// keepNotices is how long notices are kept, and what people were told of a run
// that is not looked after any more.
const keepNotices = 60 * 24 * time.Hour

// NoticeState is what became of a notice.
type NoticeState string

// The states of a notice.
const (
	NoticeOpen      NoticeState = "open"      // it is to be tried, for the first time or again
	NoticeSending   NoticeState = "sending"   // somebody tries just now, or died while he did
	NoticeDelivered NoticeState = "delivered" // it was taken
	NoticeGivenUp   NoticeState = "given_up"  // it was tried as often as it may be
)

// Notice is one notice for one of those who are told.
type Notice struct {
	ID      string // the same at each try, so that who gets it twice can tell
	Target  string
	Run     belay.RunID
	Address string // where it goes, "" for what the settings have
	Body    string // JSON; nothing secret is in it
	Made    time.Time
	Tries   int
	Due     time.Time // of the next try
	State   NoticeState
	At      time.Time // of the last try
	Trouble string    // why that failed
}

// Told is what people were told of runs.
func (led *Ledger) Told(ids ...belay.RunID) (map[belay.RunID]string, error) {
	return led.memories("read what people were told", "notified", ids)
}

// ToldOf is what people were told of one run.
func (led *Ledger) ToldOf(id belay.RunID) (memory string, err error) {
	err = led.Store.Read("read what people were told", func(c Tx) error {
		return c.Each("SELECT memory FROM notified WHERE run = ?", []any{id}, func(q Row) { memory = q.ColumnText(0) })
	})
	return memory, err
}

// Tell keeps what people are told of a run, and the notices that say it, if
// nobody has told anything since it was read. Both are on disk when it returns:
// from then on a notice goes out, whoever dies, and nobody makes it a second time.
func (led *Ledger) Tell(id belay.RunID, was, is string, notices []Notice, now time.Time) (told bool, err error) {
	err = led.Store.Change("keep what people are told", func(c Tx) error {
		known := ""
		if err := c.Each("SELECT memory FROM notified WHERE run = ?", []any{id}, func(q Row) { known = q.ColumnText(0) }); err != nil {
			return err
		}
		if told = known == was; !told {
			return nil
		}
		old := now.Add(-keepNotices)
		if err := c.Run("DELETE FROM notices WHERE made < ?", old); err != nil {
			return err
		}
		if err := c.Run("DELETE FROM notified WHERE at < ?", old); err != nil {
			return err
		}
		for _, n := range notices {
			if err := c.Run("INSERT INTO notices VALUES (?,?,?,?,?,?,0,?,?,0,'')",
				n.ID, n.Target, id, n.Address, n.Body, now, now, string(NoticeOpen)); err != nil {
				return err
			}
		}
		return c.Run("INSERT INTO notified VALUES (?,?,?) ON CONFLICT (run) DO UPDATE SET memory = excluded.memory, at = excluded.at", id, is, now)
	})
	return told && err == nil, err
}

// TakeNotice takes the next notice for a target that is due, and counts the try. Until
// the hold is over nobody else takes it: one who dies meanwhile loses nothing.
func (led *Ledger) TakeNotice(target string, now time.Time, hold time.Duration) (n Notice, ok bool, err error) {
	err = led.Store.Change("take a notice", func(c Tx) error {
		ok = false
		err := c.Each(selectNotices+" WHERE state IN (?, ?) AND target = ? AND due <= ? ORDER BY due, made LIMIT 1",
			[]any{string(NoticeOpen), string(NoticeSending), target, now}, func(q Row) { n, ok = noticeAt(q), true })
		if err != nil || !ok {
			return err
		}
		n.Tries++
		return c.Run("UPDATE notices SET state = ?, tries = ?, at = ?, due = ? WHERE id = ? AND target = ?",
			string(NoticeSending), n.Tries, now, now.Add(hold), n.ID, n.Target)
	})
	return n, ok && err == nil, err
}

// SettleNotice keeps what came of a try, unless another has begun meanwhile.
func (led *Ledger) SettleNotice(n Notice) error {
	return led.Store.Change("keep what became of a notice", func(c Tx) error {
		return c.Run("UPDATE notices SET state = ?, due = ?, trouble = ? WHERE id = ? AND target = ? AND tries = ?",
			string(n.State), n.Due, n.Trouble, n.ID, n.Target, n.Tries)
	})
}

// HurryNotices makes every open notice due now, unless somebody sends it just now.
func (led *Ledger) HurryNotices(now time.Time) error {
	return led.Store.Change("hurry notices", func(c Tx) error {
		return c.Run("UPDATE notices SET due = ? WHERE state = ? AND due > ?", now, string(NoticeOpen), now)
	})
}

// OpenNotices are those that are to be tried, the oldest first.
func (led *Ledger) OpenNotices() (list []Notice, err error) {
	err = led.Store.Read("list notices", func(c Tx) error {
		return c.Each(selectNotices+" WHERE state IN (?, ?) ORDER BY made, id, target", []any{string(NoticeOpen), string(NoticeSending)}, func(q Row) { list = append(list, noticeAt(q)) })
	})
	return list, err
}

// Notices are all notices, the oldest first.
func (led *Ledger) Notices() (list []Notice, err error) {
	err = led.Store.Read("list notices", func(c Tx) error {
		return c.Each(selectNotices+" ORDER BY made, id, target", nil, func(q Row) { list = append(list, noticeAt(q)) })
	})
	return list, err
}

const selectNotices = "SELECT id, target, run, address, body, made, tries, due, state, at, trouble FROM notices"

func noticeAt(q Row) Notice {
	return Notice{
		ID: q.ColumnText(0), Target: q.ColumnText(1), Run: belay.RunID(q.ColumnText(2)), Address: q.ColumnText(3), Body: q.ColumnText(4),
		Made: timeAt(q, 5), Tries: int(q.ColumnInt64(6)), Due: timeAt(q, 7), State: NoticeState(q.ColumnText(8)), At: timeAt(q, 9), Trouble: q.ColumnText(10),
	}
}
