//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/failpoint"
)

// part is one part of the suite.
type part struct {
	name string
	run  func(*testing.T, *bench)
}

// TestCrash kills the real binary and resumes. A build with failpoints runs the
// whole suite (make crash); without, a short sample of it.
func TestCrash(t *testing.T) {
	t.Parallel()
	b := newBench(t, failpoint.Armed)
	t.Run("unkilled", func(t *testing.T) { crashNobody(t, b) })
	if t.Failed() {
		return // everything else is held against it
	}
	for _, p := range parts() {
		t.Run(p.name, func(t *testing.T) { p.run(t, b) })
	}
	for _, line := range b.lines {
		t.Log(line)
	}
	t.Logf("seed %d; replay: SEED=%d make crash", b.seed, b.seed)
}

// seedOf is the seed of all delays: given, or drawn and printed.
func seedOf(t *testing.T) uint64 {
	t.Helper()
	text := os.Getenv("SEED")
	if text == "" {
		return uint64(time.Now().UnixNano())
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("SEED: %v", err)
	}
	return n
}

// crashNobody is the run that the others are compared with.
func crashNobody(t *testing.T, b *bench) {
	t.Helper()
	r, err := b.newRig(b.shipped)
	if err != nil {
		t.Fatal(err)
	}
	defer r.wipe()
	began := time.Now()
	if err := r.want(exit.OK, "run", "crash.yaml"); err != nil {
		t.Fatal(err)
	}
	took := time.Since(began)
	recs, err := r.records()
	if err != nil {
		t.Fatal(err)
	}
	ledger, err := r.ledger()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.shows(recs); err != nil {
		t.Fatal(err)
	}
	b.calm = outcomeOf(recs, ledger)
	if err := b.plausible(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.check(r, true); err != nil {
		t.Fatal(err)
	}
	b.say("unkilled: %d steps settled, %d attempts, %d records, %v", len(b.calm.steps), len(ledger), len(recs), took.Round(time.Millisecond))
}

// shows holds what belay show prints against the journal: the suite reads the
// journal itself, users read this.
func (r *rig) shows(recs []event.Record) error {
	e, err := r.belay(nil, "show", string(r.id()), "--records")
	if err != nil || e.code != exit.OK {
		return errors.Join(err, fmt.Errorf("show: %v", e))
	}
	var want strings.Builder
	for _, rec := range recs {
		line, err := json.Marshal(rec)
		if err != nil {
			return err
		}
		want.WriteString(string(line) + "\n")
	}
	if e.out != want.String() {
		return fmt.Errorf("show --records is not the journal:\n%s\nwant:\n%s", tail(e.out, 2000), tail(want.String(), 2000))
	}
	return nil
}

// plausible makes sure that the comparison compares something.
func (b *bench) plausible() error {
	switch o := b.calm; {
	case o.status != belay.Achieved:
		return fmt.Errorf("status %s", o.status)
	case o.steps["run:last"] != `ok "11 deep"`:
		return fmt.Errorf("last step: %q", o.steps["run:last"])
	case o.steps["run:cut"] != "bash_failure deadline" || o.steps["run:never"] != "not taken":
		return fmt.Errorf("steps: %v", o.steps)
	case len(o.steps) < 30 || len(o.ledger) < 30:
		return fmt.Errorf("only %d steps and %d attempts", len(o.steps), len(o.ledger))
	case o.ledger["run:flaky.1"] != entry{begins: 1} || o.ledger["run:flaky.2"] != entry{1, 1}:
		return fmt.Errorf("ledger: %v", o.ledger)
	}
	return nil
}
