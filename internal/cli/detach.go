package cli

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/proc"
)

const (
	attachWithin = 10 * time.Second
	lookEvery    = 20 * time.Millisecond
)

// detach leaves a run that was just made to a process of its own.
func (a *app) detach(ctx context.Context, ws *workshop, open *engine.Open, asJSON bool) error {
	_, err := open.Write()
	if e := open.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	driver, err := a.startDriver(ws, open.ID)
	if err != nil {
		return exit.New(exit.Infra, "start driver", err, "start it with "+a.name()+" resume "+string(open.ID))
	}
	if err := awaitAttach(ctx, ws.state, open.ID, driver); err != nil {
		return exit.New(exit.Infra, "start driver", err, "see why with "+a.name()+" resume "+string(open.ID))
	}
	if asJSON {
		a.object(struct {
			Run      belay.RunID `json:"run"`
			Detached bool        `json:"detached"`
		}{open.ID, true})
		return nil
	}
	a.out.line("%s", open.ID)
	return nil
}

// startDriver starts belay resume in a session of its own. It is not waited
// for: it outlives this process.
func (a *app) startDriver(ws *workshop, id belay.RunID) (proc.Identity, error) {
	cmd := a.driverCommand(ws, id)
	if err := cmd.Start(); err != nil {
		return proc.Identity{}, err
	}
	driver, err := proc.Identify(cmd.Process.Pid)
	return driver, errors.Join(err, cmd.Process.Release())
}

// driverCommand is belay resume in a session of its own, with no input and no
// output. It has no context: its life does not depend on this process.
func (a *app) driverCommand(ws *workshop, id belay.RunID, flags ...string) *exec.Cmd {
	args := append([]string{"--state", ws.state.Dir(), "resume", string(id), "--detached"}, flags...)
	if a.talks {
		args = append(args, "--log-level", string(a.logLevel))
	}
	for _, n := range ws.local.Secrets {
		args = append(args, "--secret", n)
	}
	cmd := exec.Command(ws.local.Keeper[0], args...) //nolint:noctx // it outlives this process on purpose
	cmd.Env = a.environ
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}

// awaitAttach waits until the driver has taken the run.
func awaitAttach(ctx context.Context, st *journal.State, id belay.RunID, driver proc.Identity) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for end := time.Now().Add(attachWithin); ; {
		alive := driver.Alive() // before the look: what it wrote before its death is there
		s, err := glance(st, id)
		if err != nil || len(s.Drivers) > 0 {
			return err
		}
		if !alive {
			return errors.New("it ended before it took the run")
		}
		if time.Now().After(end) {
			return fmt.Errorf("it did not take the run within %s", attachWithin)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// lacks are those of the variables that a run was given which are not set here.
func (a *app) lacks(given []string) (names []string) {
	for _, name := range given {
		if a.env(name) == "" {
			names = append(names, name)
		}
	}
	return names
}
