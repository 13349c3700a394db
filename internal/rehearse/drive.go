package rehearse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/story"
)

const (
	lookEvery  = 20 * time.Millisecond
	maxKills   = 50               // drivers that one rehearsal kills
	stopWithin = 15 * time.Second // for a driver to end its run
	takeWithin = 30 * time.Second // for a new driver to take the run
)

// Show is one rehearsal to be played: a driver of its own, killed and started
// again where a fault asks for that.
type Show struct {
	Argv   []string // starts the driver of a new run
	Again  []string // starts one that resumes it
	Folder string   // of the rehearsal
	Run    string   // the folder of the run
	Out    io.Writer
	Err    io.Writer
	Env    []string
	Limit  time.Duration // on the clock of the machine
}

// Ended is how a show ended.
type Ended struct {
	Code    int
	Signal  string // what ended the driver, if it did not leave by itself
	Kills   int    // how often it was killed by the rehearsal
	Endless bool   // it did not end in its time
}

// player is a show that goes on.
type player struct {
	Show
	cmd   *exec.Cmd
	gone  chan error
	ended Ended
}

// Play plays a show to its end. Cancelling ctx stops the run in order.
func (s Show) Play(ctx context.Context) (Ended, error) {
	p := &player{Show: s}
	if err := p.start(s.Argv); err != nil {
		return p.ended, err
	}
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	limit := time.NewTimer(s.Limit)
	defer limit.Stop()
	for {
		select {
		case err := <-p.gone:
			return p.over(err)
		case <-look.C:
			if err := p.kill(); err != nil {
				return p.ended, errors.Join(err, p.stop())
			}
		case <-limit.C:
			p.ended.Endless = true
			return p.ended, p.stop()
		case <-ctx.Done():
			err := p.stop()
			p.ended.Code = 128 + int(syscall.SIGTERM)
			return p.ended, err
		}
	}
}

// start starts a driver.
func (p *player) start(argv []string) error {
	cmd := exec.Command(argv[0], argv[1:]...) //nolint:noctx // it is ended by a signal that lets it end its steps
	cmd.Stdout, cmd.Stderr, cmd.Env = p.Out, p.Err, p.Env
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the driver: %w", err)
	}
	p.cmd, p.gone = cmd, make(chan error, 1)
	go func(gone chan<- error) { gone <- cmd.Wait() }(p.gone)
	return nil
}

// over takes in how the driver left.
func (p *player) over(err error) (Ended, error) {
	var code *exec.ExitError
	switch {
	case err == nil:
	case errors.As(err, &code) && code.ExitCode() >= 0:
		p.ended.Code = code.ExitCode()
	case errors.As(err, &code):
		p.ended.Code, p.ended.Signal = exit.Failed, code.String()
	default:
		return p.ended, fmt.Errorf("wait for the driver: %w", err)
	}
	return p.ended, nil
}

// stop ends a driver that must not go on: gently, then at once.
func (p *player) stop() error {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGKILL} {
		_ = p.cmd.Process.Signal(sig) // it may be gone
		wait := time.NewTimer(stopWithin)
		select {
		case err := <-p.gone:
			wait.Stop()
			_, err = p.over(err)
			return err
		case <-wait.C:
		}
	}
	return errors.New("stop the driver: it does not end")
}

// kill looks for a step that waits for the driver to be killed, and does that:
// the run is resumed, and the step goes on once it is driven again.
func (p *player) kill() error {
	asked, err := filepath.Glob(filepath.Join(p.Folder, "kills", "*"))
	if err != nil || len(asked) == 0 {
		return err
	}
	if p.ended.Kills >= maxKills {
		return remove(asked)
	}
	before := epoch(p.Run)
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill the driver: %w", err)
	}
	<-p.gone
	p.ended.Kills++
	if err := p.start(p.Again); err != nil {
		return err
	}
	for until := time.Now().Add(takeWithin); epoch(p.Run) <= before && time.Now().Before(until); {
		select {
		case err := <-p.gone: // it could not take the run; how it left is how the show ends
			p.gone <- err
			return remove(asked)
		case <-time.After(lookEvery):
		}
	}
	return remove(asked)
}

func remove(files []string) error {
	var err error
	for _, f := range files {
		if e := os.Remove(f); e != nil && !errors.Is(e, os.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}

// epoch is how many drivers have taken a run so far.
func epoch(run string) int64 {
	st, err := Read(run)
	if err != nil {
		return 0
	}
	return st.Driver().Epoch
}

// Read is the story of the run in a folder.
func Read(run string) (*story.Story, error) {
	recs, err := journal.Records(run)
	return story.Tell(nil, recs), err
}
