package hand

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/expr"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/internal/step"
	"github.com/belay-run/belay/task"
)

// Call does a job that is the call of a function: at once, and without a process.
// One that was cut off has done nothing and can be made again.
func (h *Hand) Call(j effect.Job) effect.Observation {
	v, err := h.call(j)
	if err != nil {
		o := effect.Observation{Fault: fault.Input, Detail: err.Error(), Exit: -1}
		var f *step.Fault
		if errors.As(err, &f) {
			o.Fault = f.Kind
		}
		return o
	}
	return effect.Observation{Began: true, Output: &v}
}

func (h *Hand) call(j effect.Job) (belay.Value, error) {
	vals, err := h.values(j.Vars)
	if err != nil {
		return belay.Value{}, err
	}
	look := func(name string) (any, bool) { v, ok := vals[name]; return v, ok || j.Call.Lenient }
	with := make(map[string]json.RawMessage, len(j.Call.With))
	for _, name := range slices.Sorted(maps.Keys(j.Call.With)) {
		var template any
		if err := exact(j.Call.With[name], &template); err != nil {
			return belay.Value{}, fmt.Errorf("with %s: %w", name, err)
		}
		v, err := expr.Fill(template, look, j.Call.Lenient)
		if err != nil {
			why, _ := problem(err)
			return belay.Value{}, fmt.Errorf("with %s: %s", name, why)
		}
		if with[name], err = json.Marshal(v); err != nil {
			return belay.Value{}, fmt.Errorf("with %s: %w", name, err)
		}
	}
	raw, err := task.Call(j.Call.Name, with)
	if err != nil {
		return belay.Value{}, err
	}
	if most := h.mostOut(); int64(len(raw)) > most {
		return belay.Value{}, &step.Fault{Kind: fault.Output, Err: fmt.Errorf("what %s gives has %d bytes; at most %d are taken", j.Call.Name, len(raw), most)}
	}
	if len(raw) <= belay.MaxInline {
		return belay.Value{JSON: raw}, nil
	}
	v, err := h.Store.PutBlob(raw)
	if err != nil {
		return v, &step.Fault{Kind: fault.Disk, Err: fmt.Errorf("keep what %s gives: %w", j.Call.Name, err)}
	}
	return v, nil
}
