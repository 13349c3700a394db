package client

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/cli"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/recipe"
)

// Client runs recipes out of one state directory. It is made by [Serve], can be
// copied with [Client.In], and may be used by several goroutines at once.
type Client struct {
	served bool
	state  string // "" = that of the environment
}

// In is the same client over another state directory, which is made when it is
// not there.
func (c *Client) In(state string) *Client {
	in := *c
	in.state = state
	return &in
}

// Result is how a run stands when nobody drives it any more.
type Result struct {
	Run    belay.RunID
	Status belay.Status // ACHIEVED, FAILED, HELD, STOPPED, …
	Code   int          // the exit code that goes with it
	Reason string       // why, in a sentence; "" when it is ACHIEVED

	// Vars are the variables as they stand: those that the run was given, those of
	// its recipe, and the outputs of its steps.
	Vars map[string]json.RawMessage

	Agents int         // how many agents were started
	Usage  belay.Usage // what they say that they used
}

// Text is a variable as text: a string as it is, any other value as JSON, and ""
// when there is none of that name.
func (r Result) Text(name string) string {
	var s string
	if err := json.Unmarshal(r.Vars[name], &s); err == nil {
		return s
	}
	return string(r.Vars[name])
}

// Run runs a recipe, which is a file or the name of a recipe that Belay finds, and
// waits until the run ends, is stopped, or needs a person.
//
// When ctx is cancelled the run is stopped in order: its steps are ended, that is
// written down, and [Client.Resume] goes on from there. The same happens when your
// program dies. The error then wraps the cause of ctx.
func (c *Client) Run(ctx context.Context, recipe string, opts ...Option) (Result, error) {
	o, err := collect(opts)
	if err != nil {
		return Result{}, err
	}
	o.Args = append(append([]string{"run", "--json"}, o.start...), o.Args...)
	return c.drive(ctx, o, "--", recipe)
}

// Resume goes on with a run after a crash, a stop, an answer or a failure, and
// waits as Run does. Steps that are done are not done again. A run that ended
// ACHIEVED is left alone. Of the options only [By], [Records], [Log] and [Flags]
// mean something here; the others are refused.
func (c *Client) Resume(ctx context.Context, id belay.RunID, opts ...Option) (Result, error) {
	o, err := collect(opts)
	if err == nil && (len(o.start) > 0 || len(o.Vars) > 0) {
		err = errors.New("a run that is resumed keeps what it was started with: only By, Records, Log and Flags can be given")
	}
	if err != nil {
		return Result{}, exit.New(exit.Usage, "resume", err, "")
	}
	o.Args = append([]string{"resume", "--json"}, o.Args...)
	return c.drive(ctx, o, "--", string(id))
}

// stateDir is the state directory, by its whole path.
func (c *Client) stateDir() (string, error) {
	if !c.served {
		return "", exit.New(exit.Usage, "", errors.New("this client was not made by client.Serve"), "var belay = client.Serve()")
	}
	dir, err := c.state, error(nil)
	if dir == "" {
		dir, err = cli.StateDir(os.Getenv)
	}
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	return dir, err
}

// fill adds to a result what the records of the run tell.
func (r *Result) fill(state string) (err error) {
	st, err := journal.LookState(state)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	view, err := st.View(r.Run)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, view.Close()) }()
	recs, err := view.Load()
	if err != nil {
		return err
	}
	tree, err := engine.Fold(r.Run, recs, view)
	if err != nil {
		return err
	}
	r.Agents, r.Usage = tree.Spent()
	r.Vars = map[string]json.RawMessage{}
	for name, v := range tree.Run(r.Run).Vars() {
		if v.Inline() {
			r.Vars[name] = v.JSON
			continue
		}
		text, err := view.ReadBlob(v.Sha, max(v.Size, recipe.MaxBytes))
		if err != nil {
			return err
		}
		if r.Vars[name], err = json.Marshal(string(text)); err != nil {
			return err
		}
	}
	return nil
}
