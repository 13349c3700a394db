package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/proc"
	"github.com/belay-run/belay/story"
)

const (
	attachWithin = time.Minute // many may be started at once
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
	driver, words, err := a.startDriver(ws, open.ID)
	if err == nil {
		defer func() { _ = words.Close() }() // only read
		err = awaitAttach(ctx, ws.state, open.ID, driver)
	}
	if errors.Is(err, errDriverEnded) {
		err = fmt.Errorf("%w: %s", err, lastWords(words))
	}
	switch {
	case err == nil:
	case driver.Alive(), ctx.Err() != nil:
		return exit.New(exit.Infra, "start driver", err, "see whether it took it with "+a.name()+" runs; end it with "+a.name()+" cancel "+string(open.ID))
	default:
		return a.retract(ctx, ws, open.ID, err)
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

// retract takes back a run whose driver could not be started: somebody else would go on
// with it later, when whoever asked for it has long asked again.
func (a *app) retract(ctx context.Context, ws *workshop, id belay.RunID, why error) error {
	hint := fmt.Sprintf("nothing was started, and no run %s is left; fix that, then start it again", id)
	open, err := takeRun(ctx, ws, id)
	if err == nil {
		err = open.Retract()
	}
	if err != nil {
		a.complain(fmt.Errorf("take back run %s: %w", id, err))
		hint = "nothing was started; end the run with " + a.name() + " cancel " + string(id)
	}
	return exit.New(exit.Infra, "start driver", why, hint)
}

// startDriver starts belay resume in a session of its own, and gives the file with
// what it says. It is not waited for: it outlives this process.
func (a *app) startDriver(ws *workshop, id belay.RunID) (proc.Identity, *os.File, error) {
	cmd, out, err := a.driverCommand(ws, id)
	if err != nil {
		return proc.Identity{}, nil, err
	}
	driver := proc.Identity{}
	if err = cmd.Start(); err == nil {
		driver, err = proc.Identify(cmd.Process.Pid)
		err = errors.Join(err, cmd.Process.Release())
	}
	if err != nil {
		return driver, nil, errors.Join(err, out.Close())
	}
	return driver, out, nil
}

// driverLog is the file, in the folder of a run, with what the last driver said that
// ran in the background.
const driverLog = "driver.log"

// driverCommand is belay resume in a session of its own, with no input; what it says
// goes to a file. It has no context: its life does not depend on this process.
func (a *app) driverCommand(ws *workshop, id belay.RunID, flags ...string) (*exec.Cmd, *os.File, error) {
	path := filepath.Join(string(ws.state.Folder(id)), driverLog)
	out, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, nil, err
	}
	args := append([]string{"--state", ws.state.Dir(), "resume", string(id), "--detached"}, flags...)
	if a.talks {
		args = append(args, "--log-level", string(a.logLevel))
	}
	for _, n := range ws.local.Secrets {
		args = append(args, "--secret", n)
	}
	cmd := exec.Command(ws.local.Keeper[0], args...) //nolint:noctx // it outlives this process on purpose
	cmd.Env = a.environ
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd, out, nil
}

var errDriverEnded = errors.New("it ended before it took the run")

// waitsElsewhere tells whether the engine that has the run says that it waits.
func waitsElsewhere(st *journal.State, id belay.RunID) bool {
	view, err := st.View(id)
	if err != nil {
		return false
	}
	defer func() { _ = view.Close() }() // read only: nothing to lose
	return engine.IsElsewhere(view.Folder) && view.Beat().Waiting() != ""
}

// awaitAttach waits until the driver has taken the run.
func awaitAttach(ctx context.Context, st *journal.State, id belay.RunID, driver proc.Identity) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for end := time.Now().Add(attachWithin); ; {
		alive := driver.Alive() // before the look: what it wrote before its death is there
		s, err := glance(st, id)
		if err != nil || len(s.Drivers) > 0 || waitsElsewhere(st, id) {
			return err
		}
		if !alive {
			return errDriverEnded
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

// unequipped is that a run is not gone on with, because its steps would fail for want of
// variables that they were given. c is what was typed.
func (a *app) unequipped(act string, id belay.RunID, names []string, c story.Command) error {
	return exit.New(exit.Invalid, act,
		fmt.Errorf("nothing was started: the steps of run %s were given variables that are not set here: %s", id, strings.Join(names, ", ")),
		"set them: "+c.Given(names...).Text(a.name()))
}
