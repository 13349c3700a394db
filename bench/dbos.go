package main

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
	_ "github.com/dbos-inc/dbos-transact-golang/dbos/driver/sqlite" // its SQLite dialect
)

const dbosSteps = 1000

// shellSteps is a workflow of as many steps as the recipe has. Each runs the
// same command and keeps what it printed, as a step of a recipe does.
func shellSteps(ctx dbos.Context, n int) (int, error) {
	for range n {
		_, err := dbos.RunAsStep(ctx, func(ctx context.Context) (string, error) {
			out, err := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", "true").CombinedOutput()
			return string(out), err
		})
		if err != nil {
			return 0, err
		}
	}
	return n, nil
}

// dbos runs the same steps on another durable engine, with its journal really
// synced, as a bar to be ahead of.
func (b *bench) dbos() error {
	file, err := b.recipe("dbos", dbosSteps, `command: "true"`)
	if err != nil {
		return err
	}
	d, err := interleaved(b.rounds, b.dbosRun, b.belayRun(file))
	if err != nil {
		return err
	}
	ratio := float64(d[1]) / float64(d[0])
	row("DBOS Go on SQLite, FULL, 1,000 steps", "%.2f s (no keeper: a killed step runs again)", d[0].Seconds())
	row("belay, 1,000 steps", "%.2f s   %.2f × DBOS", d[1].Seconds(), ratio)
	b.goal("1,000 steps against DBOS Go on SQLite with FULL", ratio, 1)
	return nil
}

func (b *bench) dbosRun() error {
	dir, err := os.MkdirTemp(b.dir, "dbos-")
	if err != nil {
		return err
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "dbos.db")+
		"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=busy_timeout(10000)&_txlock=immediate")
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }() // a benchmark's database, thrown away
	ctx, err := dbos.NewContext(context.Background(), dbos.Config{
		AppName: "bench", SQLiteSystemDB: db, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return err
	}
	dbos.RegisterWorkflow(ctx, shellSteps)
	if err := dbos.Launch(ctx); err != nil {
		return err
	}
	defer dbos.Shutdown(ctx, 5*time.Second)
	h, err := dbos.RunWorkflow(ctx, shellSteps, dbosSteps)
	if err != nil {
		return err
	}
	n, err := h.GetResult()
	if err != nil {
		return err
	}
	if n != dbosSteps {
		return fmt.Errorf("%d steps, want %d", n, dbosSteps)
	}
	var mode int
	if err := db.QueryRow("PRAGMA synchronous").Scan(&mode); err != nil {
		return err
	}
	if mode != 2 {
		return fmt.Errorf("synchronous is %d, not FULL", mode)
	}
	return nil
}
