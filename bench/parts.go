package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/proc"
)

// parts says where the time of a step goes: keeper, commit, log.
func (b *bench) parts() error {
	const n = 500
	script := []string{"bash", "-euo", "pipefail", "-c", "true"}
	fork, err := timed(func() error { return forkLoop(n, script...) })
	if err != nil {
		return err
	}
	silent, err := b.kept(n, script)
	if err != nil {
		return err
	}
	loud, err := b.kept(n, []string{"bash", "-euo", "pipefail", "-c", "echo line"})
	if err != nil {
		return err
	}
	commit, err := b.commits(n)
	if err != nil {
		return err
	}
	fsync, err := b.fsyncs(n)
	if err != nil {
		return err
	}
	row("fork and exec bash -c true", "%.3f ms", ms(fork)/n)
	row("the keeper adds", "%.3f ms", (ms(silent)-ms(fork))/n)
	row("a log of one line adds", "%.3f ms", (ms(loud)-ms(silent))/n)
	row("the commit of a turn (three records) adds", "%.3f ms   %.2f × fdatasync", ms(commit)/n, float64(commit)/float64(fsync))
	return nil
}

// kept runs n processes one after the other through a keeper, with no journal.
func (b *bench) kept(n int, argv []string) (time.Duration, error) {
	dir, err := os.MkdirTemp(b.dir, "kept-")
	if err != nil {
		return 0, err
	}
	sock := filepath.Join(dir, "sock")
	k, _, err := proc.Attach(context.Background(), proc.Options{
		Dir: dir, Socket: sock, Exe: []string{b.belay, "keeper", dir, sock}, Run: "bench", Epoch: 1, Env: os.Environ(),
	}, nil)
	if err != nil {
		return 0, err
	}
	d, err := timed(func() error {
		for i := range n {
			key := belay.Key(fmt.Sprintf("bench:s.%d", i))
			if err := k.Spawn(proc.Spawn{Key: key, Argv: argv, Dir: dir, Log: filepath.Join(dir, fmt.Sprint(i))}); err != nil {
				return err
			}
			if e := <-k.Events(); e.Exit == nil || e.Exit.Code != 0 {
				return fmt.Errorf("event %+v", e)
			}
		}
		return nil
	})
	return d, errors.Join(err, k.Close(context.Background()))
}

func turn(i int) []event.Record {
	key := belay.Key(fmt.Sprintf("bench:step.%d", i))
	now := time.Now()
	return []event.Record{
		{At: now, Run: "bench", Event: event.AttemptEnded{Key: key, Observation: effect.Observation{Began: true, Started: now, Ended: now, CPU: 1000, RSS: 3000}}},
		{At: now, Run: "bench", Event: event.AttemptJudged{Key: key, Verdict: effect.Verdict{OK: true, For: []string{"exit 0"}}}},
		{At: now, Run: "bench", Event: event.AttemptStarted{Key: key, Path: "step", Role: belay.RoleMain, Attempt: 1}},
	}
}

// journalOf makes an empty journal.
func (b *bench) journalOf() (*journal.Run, func() error, error) {
	dir, err := os.MkdirTemp(b.dir, "journal-")
	if err != nil {
		return nil, nil, err
	}
	st, err := journal.OpenState(dir)
	if err != nil {
		return nil, nil, err
	}
	r, err := st.Create("bench")
	if err != nil {
		return nil, nil, err
	}
	return r, func() error { return errors.Join(r.Close(), st.Close()) }, nil
}

func (b *bench) commits(n int) (time.Duration, error) {
	r, end, err := b.journalOf()
	if err != nil {
		return 0, err
	}
	d, err := timed(func() error {
		for i := range n {
			if _, err := r.Append(turn(i)); err != nil {
				return err
			}
		}
		return nil
	})
	return d, errors.Join(err, end())
}

// appends is records a second, one record a commit, with one writer and with
// 64, beside the driver alone with the same table and the same way of grouping.
func (b *bench) appends() error {
	const n = 6400
	for _, writers := range []int{1, 64} {
		d, err := interleaved(b.rounds,
			func() error { return b.driverAlone(n, writers) },
			func() error { return b.writers(n, writers) })
		if err != nil {
			return err
		}
		ratio := float64(d[1]) / float64(d[0])
		row(fmt.Sprintf("driver alone, %d writers", writers), "%.0f a second", n/d[0].Seconds())
		row(fmt.Sprintf("journal, %d writers", writers), "%.0f a second   %.2f × the driver's time", n/d[1].Seconds(), ratio)
		b.goal(fmt.Sprintf("appends with %d writers against the driver alone", writers), ratio, 1.3)
	}
	return nil
}

func (b *bench) writers(n, writers int) error {
	r, end, err := b.journalOf()
	if err != nil {
		return err
	}
	errs := make([]error, writers)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := w; i < n && errs[w] == nil; i += writers {
				_, errs[w] = r.Append(turn(i)[1:2])
			}
		})
	}
	wg.Wait()
	return errors.Join(errors.Join(errs...), end())
}

// driverAlone is the same number of rows from the same number of writers with
// nothing but the SQLite driver: no encoding, no chain, no records. Writers
// that come while another one writes are committed together, as ours are.
func (b *bench) driverAlone(n, writers int) error {
	dir, err := os.MkdirTemp(b.dir, "driver-")
	if err != nil {
		return err
	}
	c, err := sqlite3.Open("file:" + filepath.Join(dir, "x.db"))
	if err != nil {
		return err
	}
	err = c.Exec(`PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;
		CREATE TABLE records(seq INTEGER PRIMARY KEY, epoch, at, run, kind, body BLOB, hash BLOB)`)
	if err != nil {
		return err
	}
	s, _, err := c.Prepare("INSERT INTO records(epoch,at,run,kind,body,hash) VALUES (1,?,'bench','attempt.judged',?,?)")
	if err != nil {
		return err
	}
	var queue, write sync.Mutex
	var waiting []*rawRow
	errs := make([]error, writers)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := w; i < n && errs[w] == nil; i += writers {
				r := &rawRow{at: time.Now().UnixNano(), body: make([]byte, 80), hash: make([]byte, 32)}
				queue.Lock()
				waiting = append(waiting, r)
				queue.Unlock()
				write.Lock()
				if !r.done {
					queue.Lock()
					group := waiting
					waiting = nil
					queue.Unlock()
					errs[w] = rawCommit(c, s, group)
				}
				write.Unlock()
			}
		})
	}
	wg.Wait()
	return errors.Join(errors.Join(errs...), s.Close(), c.Close())
}

type rawRow struct {
	at         int64
	body, hash []byte
	done       bool
}

func rawCommit(c *sqlite3.Conn, s *sqlite3.Stmt, group []*rawRow) error {
	var err error
	if len(group) > 1 {
		err = c.Exec("BEGIN IMMEDIATE")
	}
	for _, r := range group {
		err = errors.Join(err, s.BindInt64(1, r.at), s.BindBlob(2, r.body), s.BindBlob(3, r.hash), s.Exec())
		r.done = true
	}
	if len(group) > 1 && err == nil {
		err = c.Exec("COMMIT")
	}
	return err
}
