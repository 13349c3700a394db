//go:build linux && failpoints

package main

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
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
	unborn, points := 0, 0
	for _, name := range []string{"engine.before_spawn", "engine.after_spawn", "journal.before_append", "journal.after_append"} {
		for _, all := range []bool{false, true} {
			if all && strings.Contains(name, "before") {
				continue // the same is left behind as by the point after it, or less
			}
			for n := 1; ; n++ {
				reached, found, err := b.callsDieAt(point{name, n}, all)
				if err != nil {
					t.Errorf("%s=%d, all of it: %v: %v", name, n, all, err)
				}
				if !reached || err != nil {
					break
				}
				points++
				unborn += found
			}
		}
	}
	if points < 25 || unborn < 8 {
		t.Errorf("%d moments, %d calls that were cut off: it shows too little", points, unborn)
	}
	t.Logf("%d moments, %d calls that were cut off", points, unborn)
}

// callsDieAt kills a run at a point and resumes it; it tells whether the point was
// reached, and how many calls were cut off by it.
func (b *bench) callsDieAt(p point, all bool) (reached bool, unborn int, err error) {
	r, err := b.newRig(b.armed)
	if err != nil {
		return false, 0, err
	}
	defer r.wipe()
	if err := r.put("calls.yaml", callRecipe); err != nil {
		return false, 0, err
	}
	e, err := r.belay([]string{fmt.Sprintf("BELAY_FP=%s:kill", p)}, "run", "calls.yaml")
	if err != nil {
		return false, 0, err
	}
	reached = e.signal == syscall.SIGKILL
	if all {
		r.killAll()
	}
	switch {
	case reached && r.began():
		e, err = r.belay(nil, "resume", string(r.id()))
	case reached:
		return true, 0, r.nothingBegan()
	}
	if err != nil || e.code != exit.OK {
		return reached, 0, errors.Join(err, fmt.Errorf("want exit 0: %v", e))
	}
	if got := strings.Fields(text(r.inWork("end"))); len(got)%5 != 0 || strings.Join(got[:5], " ") != "feat/issue-3-fix-it one two 1 PARTIAL" {
		return reached, 0, fmt.Errorf("the results are %v", got)
	}
	recs, err := r.records()
	if err != nil {
		return reached, 0, err
	}
	unborn, err = callsOnce(recs)
	return reached, unborn, errors.Join(err, r.sane())
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
