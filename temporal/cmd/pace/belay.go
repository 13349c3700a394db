package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/internal/library"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/temporal"
)

// belay makes runs of a recipe at once.
func (p *pace) belay(ctx context.Context, recipe string, runs int) (ids []string, err error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	set, err := library.Shelf{Work: dir}.Load(recipe)
	if err == nil && set.Errors() {
		err = errors.New(set.Text())
	}
	if err != nil {
		return nil, err
	}
	state, err := journal.OpenState(p.state)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, state.Close()) }()
	e := &engine.Local{
		State: state, Env: os.Environ(), Version: "pace",
		Elsewhere: &temporal.Engine{Client: p.client, Queue: p.queue, Host: p.host},
	}
	ended := make(chan error, runs)
	for i := range runs {
		open, err := e.Create(engine.Spec{Set: set, Dir: dir, ID: belay.RunID(p.fresh("run", i)), Vars: map[string]json.RawMessage{}})
		if err != nil {
			return nil, err
		}
		ids = append(ids, "belay-"+string(open.ID))
		go func() {
			res, err := open.Drive(ctx, nil, nil)
			if err == nil && res.Status != belay.Achieved {
				err = fmt.Errorf("run %s is %s", open.ID, res.Status)
			}
			ended <- errors.Join(err, open.Close())
		}()
	}
	for range runs {
		err = errors.Join(err, <-ended)
	}
	return ids, err
}
