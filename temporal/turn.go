package temporal

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/flow"
)

// decide makes one turn. What it decides is kept in the history, so that a replay
// follows it and never decides again: a better brain may take over at any time.
func (w *drive) decide(ctx workflow.Context, facts []flow.Fact, idle bool) (flow.Turn, error) {
	now := workflow.Now(ctx)
	var live *flow.Turn
	var failed error
	w.sizes = nil
	v := workflow.SideEffect(ctx, func(workflow.Context) any {
		turn, err := w.think(now, facts, idle)
		if err != nil {
			failed = err
			return marker{Error: err.Error()}
		}
		if w.sizes, err = w.codec.sizes(turn.Effects); err != nil {
			failed = err
			return marker{Error: err.Error()}
		}
		live = &turn
		m := mark(turn, len(facts))
		m.Sizes = w.sizes
		return m
	})
	switch {
	case failed != nil:
		return flow.Turn{}, failed
	case live != nil:
		return *live, nil
	}
	var m marker
	if err := v.Get(&m); err != nil {
		return flow.Turn{}, fmt.Errorf("read a turn of the history: %w", err)
	}
	if m.Error != "" {
		return flow.Turn{}, errors.New(m.Error)
	}
	w.sizes, m.Sizes = m.Sizes, nil
	if w.strict {
		return w.compare(now, facts, idle, m)
	}
	return w.follow(now, facts, m)
}

func (w *drive) think(now time.Time, facts []flow.Fact, idle bool) (flow.Turn, error) {
	if idle {
		return w.tree.Settle(now, facts...)
	}
	return w.tree.Turn(now, facts...)
}

// compare makes a turn of the history again and says where it is another one now.
func (w *drive) compare(now time.Time, facts []flow.Fact, idle bool, m marker) (flow.Turn, error) {
	turn, err := w.think(now, facts, idle)
	if err != nil {
		return turn, err
	}
	then, err := json.Marshal(m)
	if err != nil {
		return turn, err
	}
	today, err := json.Marshal(mark(turn, len(facts)))
	if err != nil {
		return turn, err
	}
	if string(then) != string(today) {
		panic(fmt.Sprintf("turn %d: the history has\n%s\nand it is now\n%s", w.turns, then, today)) //nolint:forbidigo // so the replay ends here, and says it
	}
	return turn, nil
}

// follow does on replay what the turn did.
func (w *drive) follow(now time.Time, facts []flow.Fact, m marker) (flow.Turn, error) {
	if n := len(w.recs); n > 0 && now.Before(w.recs[n-1].At) {
		now = w.recs[n-1].At // as the turn itself did
	}
	turn := flow.Turn{Status: m.Status, Idle: m.Idle, More: m.More}
	if m.Until != 0 {
		turn.Until = time.Unix(0, m.Until).UTC()
	}
	for _, f := range facts {
		turn.Records = append(turn.Records, event.Record{At: now, Run: f.Run, Event: f.Event})
	}
	turn.Records = append(turn.Records, m.Records...)
	if err := w.tree.Follow(turn.Records); err != nil {
		return turn, fmt.Errorf("follow turn %d: %w", w.turns, err)
	}
	// The inputs of activities are in the history; here their order counts.
	for _, d := range m.Effects {
		switch {
		case d.Do != "":
			j, _ := w.tree.Job(d.Do)
			j.Key = d.Do
			turn.Effects = append(turn.Effects, effect.Do{Job: j})
		case d.Kill != "":
			turn.Effects = append(turn.Effects, effect.Kill{Key: d.Kill, Why: d.Why})
		case d.Ask != "":
			turn.Effects = append(turn.Effects, effect.Ask{Key: d.Ask})
		}
	}
	return turn, nil
}

// mark is a turn for the history.
func mark(t flow.Turn, facts int) marker {
	m := marker{Records: t.Records[facts:], Status: t.Status, Idle: t.Idle, More: t.More}
	if !t.Until.IsZero() {
		m.Until = t.Until.UnixNano()
	}
	for _, c := range t.Effects {
		switch c := c.(type) {
		case effect.Do:
			m.Effects = append(m.Effects, did{Do: c.Job.Key})
		case effect.Kill:
			m.Effects = append(m.Effects, did{Kill: c.Key, Why: c.Why})
		case effect.Ask:
			m.Effects = append(m.Effects, did{Ask: c.Key})
		}
	}
	return m
}
