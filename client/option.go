package client

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
)

// Option says something about a run that is started or resumed.
type Option func(*order)

// order is what a driver is asked for. What has a name in JSON goes to it.
type order struct {
	Args []string                   `json:"args"`
	Vars map[string]json.RawMessage `json:"vars,omitempty"`

	start   []string // flags that only a new run can have
	records func(event.Record)
	log     io.Writer
	err     error
}

func collect(opts []Option) (*order, error) {
	o := &order{log: io.Discard, records: func(event.Record) {}}
	for _, opt := range opts {
		opt(o)
	}
	if o.err != nil {
		return nil, exit.New(exit.Usage, "", o.err, "")
	}
	return o, nil
}

// Var gives the run a variable. The value is what encoding/json makes of it: a
// string stays a string, also when it looks like a number.
func Var(name string, value any) Option {
	return func(o *order) {
		b, err := json.Marshal(value)
		if err != nil {
			o.err = fmt.Errorf("variable %s: %w", name, err)
			return
		}
		if o.Vars == nil {
			o.Vars = map[string]json.RawMessage{}
		}
		o.Vars[name] = b
	}
}

// ID names the run: 1 to 40 of a-z, 0-9, - and _, with a letter or digit first.
// Without it the id is a short random one.
func ID(id belay.RunID) Option { return starting("--id", string(id)) }

// Dir is the directory that the steps run in, instead of the one that your program
// runs in.
func Dir(dir string) Option { return starting("--dir", dir) }

// Recipes is a folder in which recipes are looked for before all others.
func Recipes(dir string) Option { return starting("--recipes", dir) }

// Isolate runs the recipe in a new git worktree on a new branch.
func Isolate() Option { return starting("--isolate") }

// By names the agent for steps that name none: one that Belay knows (claude,
// codex, …), one of the settings, or an [Agent] of this program.
func By(agent string) Option {
	return func(o *order) { o.Args = append(o.Args, "--agent", agent) }
}

// Limits is what a run may use, with all runs that its steps start. What is zero
// is as in the settings.
type Limits struct {
	Agents   int           // starts of agents
	Tokens   int64         // tokens that agents say they used
	USD      float64       // dollars that agents say they cost
	Wall     time.Duration // from the start of the run until the last start of an agent
	Parallel int           // processes at the same time
}

// Limit sets limits. An agent that would go beyond them is not started, and the
// run is held.
func Limit(l Limits) Option {
	return func(o *order) {
		flag := func(given bool, name, value string) {
			if given {
				o.start = append(o.start, name, value)
			}
		}
		flag(l.Agents != 0, "--max-agents", strconv.Itoa(l.Agents))
		flag(l.Tokens != 0, "--max-tokens", strconv.FormatInt(l.Tokens, 10))
		flag(l.USD != 0, "--max-usd", strconv.FormatFloat(l.USD, 'f', -1, 64))
		flag(l.Wall != 0, "--max-wall", l.Wall.String())
		flag(l.Parallel != 0, "--max-parallel", strconv.Itoa(l.Parallel))
	}
}

// Records is called with every record that is written while the run is driven, in
// order, once it is on disk. A run that is resumed gives only new ones;
// [Client.Follow] gives all.
func Records(see func(event.Record)) Option {
	return func(o *order) { o.records = see }
}

// Log is where warnings, and what is wrong with a recipe, are written for people.
// Without it they are left out, but for those in an error.
func Log(w io.Writer) Option {
	return func(o *order) { o.log = w }
}

// Flags are further flags of belay run or belay resume, as they are typed:
// Flags("--include-tags", "fast", "--secret", "TOKEN").
func Flags(args ...string) Option {
	return func(o *order) { o.Args = append(o.Args, args...) }
}

func starting(args ...string) Option {
	return func(o *order) { o.start = append(o.start, args...) }
}
