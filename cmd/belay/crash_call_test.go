//go:build linux && failpoints

package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/fault"
)

const callRecipe = `name: calls
context: {words: [One, Two]}
steps:
  - {id: a, command: "echo Fix It", output: x}
  - {id: b, call: branch-name, with: {text: "{{x}}", issue: 3}, output: y}
  - {id: each, foreach: words, call: branch-name, with: {text: "{{item}}"}, output: z}
  - {id: best, call: best-round, with: {rounds: [{status: PARTIAL, met: 1, total: 2}, "{{y}}"]}, output: w}
  - {id: end, command: "echo {{y.branch}} {{z[0].slug}} {{z[1].slug}} {{w.round}} {{w.status}} >> end"}
`

// TestCrashCalls kills the driver at every moment of a run with calls, once with
// its keeper and once without. A call that was cut off is made again under its own
// number; one whose result is on record is not; none is ever lost.
//
// promise: K1, K4
func TestCrashCalls(t *testing.T) {
	t.Parallel()
	b := newBench(t, true)
	places := []string{"engine.before_spawn", "engine.after_spawn", "journal.before_append", "journal.after_append"}
	alone := b.sweep(t, places, 5, func(arms []point) (point, tally, error) { return b.callsDieAt(arms, false) })
	// With the keeper: a place before another one leaves behind the same as it, or less.
	all := b.sweep(t, []string{"engine.after_spawn", "journal.after_append"}, 5, func(arms []point) (point, tally, error) { return b.callsDieAt(arms, true) })
	if alone.unborn == 0 || all.unborn == 0 {
		t.Errorf("no call was cut off: %s; %s", &alone, &all)
	}
	t.Logf("driver: %s", &alone)
	t.Logf("driver and keeper: %s", &all)
}

// callsDieAt kills a run at a point and resumes it; it tells how many calls were
// cut off by it.
func (b *bench) callsDieAt(arms []point, all bool) (p point, seen tally, err error) {
	r, err := b.newRig(b.armed)
	if err != nil {
		return p, seen, err
	}
	defer r.wipe()
	if err := r.put("calls.yaml", callRecipe); err != nil {
		return p, seen, err
	}
	if p, err = r.killed(arms, "run", "calls.yaml"); err != nil {
		return p, seen, err
	}
	seen.points++
	if all {
		r.killAll()
	}
	if !r.began() {
		return p, seen, r.nothingBegan()
	}
	if e, err := r.belay(nil, "resume", string(r.id())); err != nil || e.code != exit.OK {
		return p, seen, errors.Join(err, fmt.Errorf("want exit 0: %v", e))
	}
	if got := strings.Fields(text(r.inWork("end"))); len(got)%5 != 0 || strings.Join(got[:5], " ") != "feat/issue-3-fix-it one two 1 PARTIAL" {
		return p, seen, fmt.Errorf("the results are %v", got)
	}
	recs, err := r.records()
	if err != nil {
		return p, seen, err
	}
	seen.unborn, err = callsOnce(recs)
	return p, seen, errors.Join(err, r.sane())
}

// callsOnce checks that every call ended once, in its first attempt, and was not lost.
func callsOnce(recs []event.Record) (unborn int, err error) {
	ends := map[belay.Path]int{}
	isCall := func(k belay.Key) (belay.Path, bool) {
		p, _ := belay.ParseKey(k)
		return p.Path, p.Path == "b" || p.Path == "best" || strings.HasPrefix(string(p.Path), "item-")
	}
	for _, r := range recs {
		switch e := r.Event.(type) {
		case event.AttemptEnded:
			if path, ok := isCall(e.Key); ok {
				if ends[path]++; !strings.HasSuffix(string(e.Key), ".1") || ends[path] > 1 {
					err = errors.Join(err, fmt.Errorf("%s ended %d times", e.Key, ends[path]))
				}
			}
		case event.AttemptFound:
			if _, ok := isCall(e.Key); ok {
				if unborn++; e.How != fault.Unborn {
					err = errors.Join(err, fmt.Errorf("%s was found %s", e.Key, e.How))
				}
			}
		}
	}
	if len(ends) != 4 {
		err = errors.Join(err, fmt.Errorf("calls that ended: %v", ends))
	}
	return unborn, err
}
