package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"google.golang.org/protobuf/proto"
)

// Measured is what the histories of some workflows say.
type Measured struct {
	Runs    int     `json:"runs"`
	Steps   int     `json:"steps"`   // in all of them
	Seconds float64 `json:"seconds"` // from the first start to the last end
	StepMs  float64 `json:"step_ms"` // from the end of a step to that of the next one; the median
	Fixed   float64 `json:"fixed"`   // ms from the start of a run to the end of its first step; the median
	Events  int     `json:"events"`
	Bytes   int     `json:"bytes"`
}

// stepActivities are those that are a step: of a bare workflow, and of Belay.
func stepActivities() []string { return []string{noop, bash, "Do"} }

// measure reads the histories. Each run has to have as many steps as was said.
func (p *pace) measure(ctx context.Context, ids []string, steps int) (Measured, error) {
	m := Measured{Runs: len(ids)}
	var gaps, firsts []time.Duration
	var began, ended time.Time
	for _, id := range ids {
		h, err := p.history(ctx, id)
		if err != nil {
			return m, err
		}
		m.Events += len(h)
		for _, e := range h {
			m.Bytes += proto.Size(e)
		}
		start, end := h[0].GetEventTime().AsTime(), h[len(h)-1].GetEventTime().AsTime()
		if began.IsZero() || start.Before(began) {
			began = start
		}
		if end.After(ended) {
			ended = end
		}
		ends := stepEnds(h)
		if len(ends) != steps {
			return m, fmt.Errorf("%s has %d steps, want %d", id, len(ends), steps)
		}
		m.Steps += len(ends)
		firsts = append(firsts, ends[0].Sub(start))
		for i := range ends[1:] {
			gaps = append(gaps, ends[i+1].Sub(ends[i]))
		}
	}
	m.Seconds, m.StepMs, m.Fixed = ended.Sub(began).Seconds(), median(gaps), median(firsts)
	return m, nil
}

// stepEnds are the times at which the steps ended.
func stepEnds(h []*historypb.HistoryEvent) (ends []time.Time) {
	isStep := map[int64]bool{}
	for _, e := range h {
		if s := e.GetActivityTaskScheduledEventAttributes(); s != nil && slices.Contains(stepActivities(), s.GetActivityType().GetName()) {
			isStep[e.GetEventId()] = true
		}
		if c := e.GetActivityTaskCompletedEventAttributes(); c != nil && isStep[c.GetScheduledEventId()] {
			ends = append(ends, e.GetEventTime().AsTime())
		}
	}
	return ends
}

// history is that of a workflow that ended in its first history.
func (p *pace) history(ctx context.Context, id string) (h []*historypb.HistoryEvent, err error) {
	iter := p.client.GetWorkflowHistory(ctx, id, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for iter.HasNext() {
		e, err := iter.Next()
		if err != nil {
			return nil, err
		}
		h = append(h, e)
	}
	if len(h) == 0 || h[0].GetWorkflowExecutionStartedEventAttributes().GetContinuedExecutionRunId() != "" {
		return nil, fmt.Errorf("%s went on in another history: give it fewer steps", id)
	}
	return h, nil
}

func median(list []time.Duration) float64 {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return float64(list[len(list)/2].Microseconds()) / 1000
}
