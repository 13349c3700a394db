package belaytest_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/belaytest/scratch"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/cli"
	"github.com/belay-run/belay/internal/library"
	"github.com/belay-run/belay/internal/step"
	"github.com/belay-run/belay/journal"
)

// TestMain is also every other program of a run: the engine starts this one
// again as keeper, attendant and agent, the suite as a driver that can be
// killed, and a step as a run of its own.
func TestMain(m *testing.M) {
	ctx, name := context.Background(), ""
	if len(os.Args) > 1 {
		name = os.Args[1]
	}
	switch name {
	case "keeper", "attend", "mergeback", "check", "nsinit", string(agent.Scripted):
		std := cli.Streams{Out: os.Stdout, Err: os.Stderr}
		os.Exit(exit.Code(cli.Main(ctx, std, os.Args[1:], os.Environ(), cli.Program{Version: "test"})))
	case "drive":
		os.Exit(ending(driveAlone(ctx, place{state: os.Args[2], agents: os.Args[3]}, belay.RunID(os.Args[4]))))
	case "nest":
		p := place{state: os.Getenv("BELAY_STATE"), agents: os.Args[2]}
		os.Exit(ending(nest(ctx, p, os.Args[3], os.Args[4], os.Args[5])))
	}
	flag.Parse()
	if err := scratch.SideBySide(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// ending is the exit code of a program.
func ending(code int, err error) int {
	if err == nil {
		return code
	}
	fmt.Fprintln(os.Stderr, err)
	return exit.Code(err)
}

// place is where the files of an engine lie.
type place struct {
	state  string
	agents string // has the script of each agent, under its name
}

// script is the file that an agent plays.
func (p place) script(name string) string { return filepath.Join(p.agents, name+".yaml") }

// open is an engine in an environment. Whoever opens it closes its state.
func (p place) open(env []string) (*engine.Local, error) {
	state, err := journal.OpenState(p.state)
	if err != nil {
		return nil, err
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, errors.Join(err, state.Close())
	}
	return &engine.Local{
		State: state, Keeper: []string{exe, "keeper"}, Version: "test", Env: env,
		Limits: step.Limits{MaxLog: 1 << 20, MaxOut: 1 << 20, Grace: time.Second},
		Host: step.Host{Self: []string{exe}, Find: func(name string) (agent.Agent, error) {
			return agent.Agent{
				Name: name, Kind: agent.Scripted, Program: []string{exe, string(agent.Scripted)},
				Access: agent.AccessEdit, Script: p.script(name),
			}, nil
		}},
	}, nil
}

// driveAlone drives a run that has begun, in a process that can be killed.
func driveAlone(ctx context.Context, p place, id belay.RunID) (int, error) {
	e, err := p.open(os.Environ())
	if err != nil {
		return 0, err
	}
	open, err := e.Resume(id)
	if err != nil {
		return 0, errors.Join(err, e.State.Close())
	}
	res, err := open.Drive(ctx, nil, nil)
	return res.Code, errors.Join(err, open.Close(), e.State.Close())
}

// nest makes a run inside a step; who is its agent, "" for nobody.
func nest(ctx context.Context, p place, shelf, who, name string) (int, error) {
	dir, err := os.Getwd()
	if err != nil {
		return 0, err
	}
	set, err := load(shelf, name, dir)
	if err != nil {
		return 0, err
	}
	e, err := p.open(os.Environ())
	if err != nil {
		return 0, err
	}
	open, err := e.Create(engine.Spec{
		Set: set, Dir: dir, Vars: map[string]json.RawMessage{}, Agent: who, Agents: who != "",
	})
	if err != nil {
		return 0, errors.Join(err, e.State.Close())
	}
	res, err := open.Drive(ctx, nil, nil)
	return res.Code, errors.Join(err, open.Close(), e.State.Close())
}

// load reads a recipe with all it calls.
func load(shelf, name, dir string) (*library.Set, error) {
	set, err := library.Shelf{Work: dir}.Load(filepath.Join(shelf, name+".yaml"))
	if err == nil && set.Errors() {
		err = errors.New(set.Text())
	}
	return set, err
}
