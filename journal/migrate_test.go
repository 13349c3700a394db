package journal

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
)

var update = flag.Bool("update", false, "write the golden journal of the newest schema")

// golden are the records of every golden journal.
func golden() []event.Record {
	at := time.Date(2026, 11, 1, 12, 0, 0, 42, time.UTC)
	key := belay.KeyOf("k3f9q", "build", belay.RoleMain, 1)
	events := []event.Event{
		event.RunStarted{Schema: 1, Name: "golden", Recipe: "abc", Dir: "/src", Limits: belay.DefaultLimits(),
			Session: &belay.Session{Tree: "k3f9q", MaxDepth: 3, MaxSessions: 10}, Version: "v0.0.1"},
		event.RunAttached{Epoch: 1, Version: "v0.0.1", Pid: 42, Start: 4242, Boot: "b"},
		event.AttemptStarted{Key: key, Path: "build", Role: belay.RoleMain, Attempt: 1},
		event.AttemptEnded{Key: key, Observation: effect.Observation{Began: true, Exit: 0}},
		event.AttemptJudged{Key: key, Verdict: effect.Verdict{OK: true}},
		event.RunEnded{RunResult: belay.RunResult{Status: belay.Achieved, Reason: "all done"}},
	}
	recs := make([]event.Record, len(events))
	for i, e := range events {
		recs[i] = event.Record{Seq: int64(i + 1), Epoch: 1, At: at.Add(time.Duration(i) * time.Second), Run: "k3f9q", Event: e}
	}
	return recs
}

func goldenPath(schema int) string {
	return filepath.Join("testdata", fmt.Sprintf("journal-v%d.db", schema))
}

// goldenFolder is a folder with the golden journal of a schema in it.
func goldenFolder(t *testing.T, schema int) Folder {
	t.Helper()
	b, err := os.ReadFile(goldenPath(schema))
	must(t, err)
	f := Folder(t.TempDir())
	must(t, os.WriteFile(f.Journal(), b, 0o600))
	return f
}

func TestGoldenJournals(t *testing.T) {
	t.Parallel()
	if *update {
		s := newState(t)
		r, err := s.Create("k3f9q")
		must(t, err)
		must(t, r.SetEpoch(1))
		_, err = r.Append(golden())
		must(t, err)
		must(t, r.Close())
		b, err := os.ReadFile(r.Journal())
		must(t, err)
		must(t, os.WriteFile(goldenPath(len(recordSteps)), b, 0o644))
	}
	for schema := 1; schema <= len(recordSteps); schema++ {
		f := goldenFolder(t, schema)
		recs, err := driverLoad(t, f)
		if err != nil || !reflect.DeepEqual(recs, golden()) {
			t.Errorf("schema %d: %v, %v", schema, recs, err)
		}
		c, err := disk{}.read(f.Journal())
		must(t, err)
		if v, err := askInt(c, "PRAGMA user_version"); v != int64(len(recordSteps)) || err != nil {
			t.Errorf("schema %d is at %d after a load, %v", schema, v, err)
		}
		must(t, c.Close())
	}
}

// All steps are one transaction: what fails leaves the database as it was, and
// the next try begins there.
func TestMigrate(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	works := false
	steps := append(recordSteps[:len(recordSteps):len(recordSteps)],
		sql("CREATE TABLE second (a INTEGER)"),
		func(c *sqlite3.Conn) error {
			if err := c.Exec("CREATE TABLE third (a INTEGER)"); err != nil {
				return err
			}
			if !works {
				return boom
			}
			return nil
		})
	newest := len(steps)
	for name, path := range map[string]string{
		"empty":  filepath.Join(t.TempDir(), "empty.db"),
		"golden": goldenFolder(t, 1).Journal(),
	} {
		c, err := disk{}.write(path)
		must(t, err)
		at, err := version(c, path, newest)
		must(t, err)
		works = false
		if err := migrate(c, at, steps); !errors.Is(err, boom) {
			t.Errorf("%s: %v", name, err)
		}
		if now, err := version(c, path, newest); now != at || err != nil {
			t.Errorf("%s: schema %d after a failed step, not %d, %v", name, now, at, err)
		}
		works = true
		must(t, migrate(c, at, steps))
		must(t, migrate(c, at, steps)) // as a slower process would
		if at, err = version(c, path, newest); at != newest || err != nil {
			t.Errorf("%s: schema %d, %v", name, at, err)
		}
		var newer *TooNew
		if _, err := version(c, path, newest-1); !errors.As(err, &newer) || newer.Have != newest {
			t.Errorf("%s: an older belay says %v", name, err)
		}
		must(t, c.Close())
	}
}

func TestNewerJournal(t *testing.T) {
	t.Parallel()
	f := goldenFolder(t, 1)
	tamper(t, f, "PRAGMA user_version = 99")
	var newer *TooNew
	if err := damageOf(t, f); !errors.As(err, &newer) || exit.Code(err) != exit.Infra {
		t.Errorf("a journal of schema 99: %v", err)
	}
}

// A database that does not take what durability depends on is refused.
func TestPragmasAreReadBack(t *testing.T) {
	t.Parallel()
	c, err := sqlite3.Open(":memory:") // it has no log
	must(t, err)
	defer c.Close()
	var refusal *Refused
	if err := durable(c, ":memory:"); !errors.As(err, &refusal) {
		t.Errorf("a database without a log: %v", err)
	}
	s := newState(t)
	r := newRun(t, s, 1)
	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "2"} {
		if got, err := ask(r.conn, "PRAGMA "+pragma); got != want || err != nil {
			t.Errorf("%s is %q, %v", pragma, got, err)
		}
	}
}
