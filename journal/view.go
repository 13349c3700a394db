package journal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/belay-run/belay/event"
)

// View reads a run's journal while another process may write it, or a copy of
// it. It takes no lock and changes no record. It is for one goroutine.
type View struct {
	Folder
	conn *sqlite3.Conn
	room *sideRoom // of a run that was unpacked to be looked at
}

// OpenView opens the folder of a run, or a copy of it.
func OpenView(dir string) (*View, error) { return openView(Folder(dir), disk{}) }

// Records is all that a journal holds.
func Records(dir string) ([]event.Record, error) {
	view, err := OpenView(dir)
	if err != nil {
		return nil, err
	}
	recs, err := view.Load()
	return recs, errors.Join(err, view.Close())
}

func openView(f Folder, d disk) (*View, error) {
	if !exists(f.Journal()) {
		return nil, damaged(f.Journal(), 0, "it is missing", nil)
	}
	conn, err := d.read(f.Journal())
	if err != nil {
		return nil, unreadable(f.Journal(), err)
	}
	return &View{Folder: f, conn: conn}, nil
}

// Load reads and proves all records. A kind that this Belay does not know is
// given as Unread.
func (v *View) Load() ([]event.Record, error) {
	if _, err := soundVersion(v.conn, v.Folder); err != nil {
		return nil, err
	}
	var recs []event.Record
	_, err := v.reader().whole(v.Folder, func(some []event.Record) { recs = append(recs, some...) })
	if err != nil {
		return nil, err
	}
	return recs, nil
}

func (v *View) reader() *reader {
	return &reader{conn: v.conn, path: v.Journal(), lenient: true}
}

// Beat is the driver's last sign.
func (v *View) Beat() Beat { return readBeat(v.Folder) }

// Follow gives the records after number after to see, then every new one, in
// order and each once, until ctx is done or see returns an error, which it
// returns. It looks every so often, and reads only when something was written.
func (v *View) Follow(ctx context.Context, after int64, every time.Duration, see func([]event.Record) error) error {
	end, err := tipAt(v.conn, v.Journal(), after)
	if err != nil {
		return err
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	rd := v.reader()
	for seen := int64(-1); ; {
		now, err := askInt(v.conn, "PRAGMA data_version")
		if err != nil {
			return v.unreadable(err)
		}
		if now != seen {
			var recs []event.Record
			if recs, end, err = rd.after(end); err != nil {
				return err
			}
			if len(recs) > 0 {
				if err := see(recs); err != nil {
					return err
				}
			}
			seen = now
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("follow journal: %w", context.Cause(ctx))
		case <-tick.C:
		}
	}
}

func (v *View) unreadable(err error) error { return unreadable(v.Journal(), err) }

// tipAt is the end of the chain as it was when record seq was the last one.
func tipAt(c *sqlite3.Conn, path string, seq int64) (tip, error) {
	end := tip{seq: seq}
	if seq == 0 {
		return end, nil
	}
	s, _, err := c.Prepare("SELECT epoch, hash FROM records WHERE seq = ?")
	if err != nil {
		return end, unreadable(path, err)
	}
	err = s.BindInt64(1, seq)
	if err == nil && s.Step() {
		end.epoch = s.ColumnInt64(0)
		copy(end.hash[:], s.ColumnRawBlob(1))
	} else if err == nil && s.Err() == nil {
		err = damaged(path, seq, "it is missing", nil)
	}
	if err = first(err, s.Close()); err != nil {
		return end, unreadable(path, err)
	}
	return end, nil
}

// Close ends the view.
func (v *View) Close() error {
	err := v.conn.Close()
	if err != nil {
		err = v.unreadable(err)
	}
	if v.room != nil {
		err = first(err, v.room.remove())
	}
	return err
}
