package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// What the section runs: as many steps in one run, and as many in each of many runs.
const (
	temporalAlone = 200
	temporalEach  = 20
	temporalRuns  = 100
)

// paced is what came of one order, as the program pace of the module temporal says it.
type paced struct {
	Runs    int     `json:"runs"`
	Steps   int     `json:"steps"`
	Seconds float64 `json:"seconds"`
	StepMs  float64 `json:"step_ms"`
	Fixed   float64 `json:"fixed"`
	Events  int     `json:"events"`
	Bytes   int     `json:"bytes"`
}

// temporal measures the driver on Temporal beside the local one and beside a bare
// workflow with the same activities, on one server, in turns. Server, worker and pace are
// programs of their own: this module does not have the SDK. BELAY_TEMPORAL_SERVER is a
// server that was built already; the first build of one takes some ten minutes.
func (b *bench) temporal() error {
	t := &temporalPlace{bench: b}
	defer t.end()
	if err := t.up(); err != nil {
		return err
	}
	for _, kind := range []struct{ name, keys string }{
		{"noop", `call: value, with: {value: "1"}`},
		{"bash", `command: "true"`},
	} {
		for _, size := range []struct{ runs, steps int }{{1, temporalAlone}, {temporalRuns, temporalEach}} {
			if err := b.temporalPair(t.order, kind.name, kind.keys, size.runs, size.steps); err != nil {
				return err
			}
		}
	}
	return nil
}

// temporalPair measures one kind of step in one size, in turns.
func (b *bench) temporalPair(pace func(string, ...any) (paced, error), kind, keys string, runs, steps int) error {
	file, err := b.recipe(fmt.Sprintf("temporal-%s-%d", kind, steps), steps, keys)
	if err != nil {
		return err
	}
	var local, ours, bare []paced
	for range b.rounds {
		l, err := b.localPace(file, runs, steps)
		if err != nil {
			return err
		}
		o, err := pace("belay %s %d %d", file, steps, runs)
		if err != nil {
			return err
		}
		f, err := pace("bare %s %d %d", kind, steps, runs)
		if err != nil {
			return err
		}
		local, ours, bare = append(local, l), append(ours, o), append(bare, f)
	}
	fmt.Printf("  %s, %d × %d steps\n", kind, runs, steps)
	tell := func(who string, list []paced, more string) {
		row("  "+who, "%.2f ms a step, %.0f steps/s%s", middle(list, stepMs), middle(list, perSecond), more)
	}
	tell("local, SQLite", local, "")
	tell("a bare workflow", bare, grown(bare))
	tell("belay on Temporal", ours, grown(ours))
	slower, least := middle(ours, stepMs)/middle(bare, stepMs), leastOf(ours, stepMs)/leastOf(bare, stepMs)
	rate := middle(bare, perSecond) / middle(ours, perSecond)
	row("  belay beside the bare workflow", "%.2f / %.2f × ms a step (least / median), %.2f × the time in all", least, slower, rate)
	row("  belay on Temporal beside the local engine", "%.1f × ms a step; a run begins %.0f ms later than a bare one",
		middle(ours, stepMs)/middle(local, stepMs), middle(ours, fixed)-middle(bare, fixed))
	if runs == 1 {
		b.goal(fmt.Sprintf("a %s step on Temporal beside a bare workflow's, least", kind), least, 1.2)
	} else {
		b.goal(fmt.Sprintf("%d runs of %s steps beside as many bare workflows, time", runs, kind), rate, 1.2)
	}
	return nil
}

func stepMs(p paced) float64    { return p.StepMs }
func fixed(p paced) float64     { return p.Fixed }
func perSecond(p paced) float64 { return float64(p.Steps) / p.Seconds }

// grown is what a step leaves in the history, that of the start and the end included.
func grown(list []paced) string {
	p := list[len(list)-1]
	return fmt.Sprintf(", %.2f events and %.0f B of history a step", float64(p.Events)/float64(p.Steps), float64(p.Bytes)/float64(p.Steps))
}

func middle(list []paced, of func(paced) float64) float64 {
	var all []float64
	for _, p := range list {
		all = append(all, of(p))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

func leastOf(list []paced, of func(paced) float64) float64 {
	least := of(list[0])
	for _, p := range list {
		least = min(least, of(p))
	}
	return least
}

// localPace makes the same runs on the local engine, and times them by their records.
func (b *bench) localPace(file string, runs, steps int) (paced, error) {
	state, err := os.MkdirTemp(b.dir, "state-")
	if err != nil {
		return paced{}, err
	}
	type out struct {
		text []byte
		err  error
	}
	ended := make(chan out, runs)
	for range runs {
		go func() {
			text, err := b.cmdIn(state, "run", "--json", file).Output()
			ended <- out{text, err}
		}()
	}
	m := paced{Runs: runs, Steps: runs * steps}
	var began, last time.Time
	var gaps, firsts []time.Duration
	for range runs {
		o := <-ended
		if o.err != nil {
			err = errors.Join(err, o.err)
			continue
		}
		first, ends, end, e := ofRecords(o.text)
		if err = errors.Join(err, e); err != nil {
			continue
		}
		if len(ends) != steps {
			err = fmt.Errorf("a run has %d steps, want %d", len(ends), steps)
			continue
		}
		if began.IsZero() || first.Before(began) {
			began = first
		}
		if end.After(last) {
			last = end
		}
		firsts = append(firsts, ends[0].Sub(first))
		for i := range ends[1:] {
			gaps = append(gaps, ends[i+1].Sub(ends[i]))
		}
	}
	if err != nil {
		return m, err
	}
	m.Seconds, m.StepMs, m.Fixed = last.Sub(began).Seconds(), ms(median(gaps)), ms(median(firsts))
	return m, nil
}

// ofRecords reads the times of a run that was printed: its start, the ends of its steps, its end.
func ofRecords(text []byte) (first time.Time, ends []time.Time, last time.Time, err error) {
	for line := range strings.Lines(string(text)) {
		var r struct {
			At   time.Time `json:"at"`
			Kind string    `json:"kind"`
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			return first, nil, last, fmt.Errorf("a record: %w", err)
		}
		if r.At.IsZero() {
			continue
		}
		if first.IsZero() {
			first = r.At
		}
		last = r.At
		if r.Kind == "attempt.ended" {
			ends = append(ends, r.At)
		}
	}
	return first, ends, last, nil
}
