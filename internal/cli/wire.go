package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/term"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/pattern"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/internal/step"
	"github.com/belay-run/belay/internal/tui"
	"github.com/belay-run/belay/journal"
)

// Settle makes a relative path of the settings mean the same in every process:
// keepers, attendants and steps work in other directories.
func Settle() {
	if file := os.Getenv("BELAY_CONFIG"); file != "" && !filepath.IsAbs(file) {
		if abs, err := filepath.Abs(file); err == nil { // else whoever reads the file says what is wrong
			_ = os.Setenv("BELAY_CONFIG", abs) // the name is fine and so is the value
		}
	}
}

// env is a variable of the environment that the program was given.
func (a *app) env(name string) string {
	for i := len(a.environ) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(a.environ[i], name+"="); ok {
			return v
		}
	}
	return ""
}

// stateDir is the state directory that is meant.
func (a *app) stateDir() (string, error) {
	if a.state != "" {
		return a.state, nil
	}
	return StateDir(a.env)
}

// StateDir is the state directory of an environment.
func StateDir(env func(string) string) (string, error) {
	switch {
	case env("BELAY_STATE") != "":
		return env("BELAY_STATE"), nil
	case env("XDG_STATE_HOME") != "":
		return filepath.Join(env("XDG_STATE_HOME"), "belay"), nil
	case env("HOME") != "":
		return filepath.Join(env("HOME"), ".local", "state", "belay"), nil
	}
	return "", exit.New(exit.Invalid, "find state directory", errors.New("there is no home directory"),
		"name one with --state or BELAY_STATE")
}

// openState opens the state directory for a command that only looks, or that
// says of each thing whether it could be changed.
func (a *app) openState() (*journal.State, error) {
	dir, err := a.stateDir()
	if err != nil {
		return nil, err
	}
	st, err := journal.LookState(dir)
	if err == nil && st.Still() != nil {
		a.say("nothing can be written in %s: it is only looked at", dir)
	}
	return st, err
}

// listed are the runs that have one of these statuses, or all; of those that
// cannot be read it says why, and what to do.
func (a *app) listed(st *journal.State, of ...belay.Status) ([]journal.Summary, error) {
	sums, err := st.Runs(of...)
	for _, sum := range sums {
		if sum.Status == journal.Unreadable && !sum.Gone {
			a.say("run %s cannot be read: %s", sum.ID, readable.Clean(sum.Reason))
			if sum.Cure != "" {
				a.say("hint: %s", readable.Clean(sum.Cure))
			}
		}
	}
	return sums, err
}

// engineOn is the local engine over a state directory.
func (a *app) engineOn(st *journal.State, cfg *config.Config) (*engine.Local, error) {
	exe, err := a.self()
	if err != nil {
		return nil, err
	}
	agents, err := a.rosterOf(cfg, exe)
	if err != nil {
		return nil, err
	}
	a.agents = agents
	far, err := a.elsewhere(a.ctx, cfg)
	if err != nil {
		return nil, err
	}
	return &engine.Local{
		Elsewhere: far,
		Host:      hostOf(cfg, agents, exe), Service: agents.Service,
		State: st, Keeper: []string{exe, "keeper"}, Version: a.program.Version, Env: a.environ,
		Secrets: cfg.Secrets.Value, Include: cfg.Include.Value, Alone: true,
		Limits: step.Limits{
			MaxLog: cfg.LogBytes.Value, MaxOut: cfg.OutputBytes.Value, Grace: cfg.KillGrace.Value,
		},
	}, nil
}

// workshop is a state directory with an engine on it.
type workshop struct {
	state *journal.State
	local *engine.Local
	cfg   *config.Config

	rehearses bool // nobody is told of its runs
}

func (a *app) open() (*workshop, error) {
	cfg, err := config.Load(a.environ)
	if err != nil {
		return nil, err
	}
	return a.openWith(cfg)
}

// openWith is open with settings that were read already.
func (a *app) openWith(cfg *config.Config) (*workshop, error) {
	dir, err := a.stateDir()
	if err != nil {
		return nil, err
	}
	st, err := journal.OpenState(dir)
	if err != nil {
		return nil, err
	}
	local, err := a.engineOn(st, cfg)
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	return &workshop{state: st, local: local, cfg: cfg}, nil
}

func (w *workshop) close() error { return w.state.Close() }

// style is how stderr is written to.
func (a *app) style() tui.Style {
	fd, isTerm := terminal(a.std.Err)
	return tui.Style{
		Quiet: a.quiet, Verbose: a.verbose, Colour: a.colours(a.std.Err),
		Live: isTerm && !a.dumb(),
		Size: func() (width, height int) {
			width, height, err := term.GetSize(fd)
			if err != nil || width <= 0 {
				width = 80
			}
			if err != nil || height <= 0 {
				height = 24
			}
			return width, height
		},
	}
}

// dumb tells whether the terminal knows no escape sequences: no colours, and no moves.
func (a *app) dumb() bool { return a.env("TERM") == "dumb" }

// colours tells whether what is written to w is in colour.
func (a *app) colours(w any) bool {
	_, isTerm := terminal(w)
	return a.color == "always" || a.color == "auto" && isTerm && a.env("NO_COLOR") == "" && !a.dumb()
}

// terminal tells whether w is one, and its descriptor.
func terminal(w any) (int, bool) {
	f, ok := w.(interface{ Fd() uintptr })
	if !ok {
		return 0, false
	}
	return int(f.Fd()), term.IsTerminal(int(f.Fd()))
}

// behindDoors puts a door before each stream that is a terminal.
func behindDoors(std Streams) Streams {
	if _, ok := terminal(std.Out); ok {
		std.Out = readable.NewDoor(std.Out)
	}
	if _, ok := terminal(std.Err); ok {
		std.Err = readable.NewDoor(std.Err)
	}
	return std
}

// runID is the run that an argument means.
func runID(st *journal.State, arg string) (belay.RunID, error) {
	if arg == "" {
		return "", exit.New(exit.Invalid, "find run", errors.New("the id is empty"), "list the runs with belay runs")
	}
	id, err := st.Resolve(arg)
	if m := lastWord().FindStringSubmatch(arg); m != nil && string(id) != arg { // one that is called so is meant
		return lastRun(st, m[1], m[2])
	}
	var unknown *journal.Unknown
	if errors.As(err, &unknown) {
		if lies, e := st.FindArchived(arg); e == nil {
			return "", exit.New(exit.Invalid, "find run", &journal.ReadOnly{Run: lies.Run, Imported: lies.Imported},
				fmt.Sprintf("look at it with belay why, show, logs, history or receipt %s; it cannot go on or be changed", lies.Run))
		}
	}
	return id, err
}

// lastWord is how the newest runs of this directory are named: last, last~1, and a
// child run of theirs.
var lastWord = pattern.Lazy(`^last(?:~([0-9]{1,6}))?(/.*)?$`)

// lastRun is the newest run of this directory, or one so many before it.
func lastRun(st *journal.State, before, child string) (belay.RunID, error) {
	dir, err := workDir("")
	if err != nil {
		return "", err
	}
	sums, err := st.RunsIn(dir)
	if err != nil {
		return "", err
	}
	sums = slices.DeleteFunc(sums, func(s journal.Summary) bool { return s.Gone })
	n, _ := strconv.Atoi(before) // none is the last one
	if n >= len(sums) {
		return "", exit.New(exit.Invalid, "find run", fmt.Errorf("directory %s has %s", dir, counted(len(sums), "run")), "list all runs with belay runs")
	}
	return sums[n].ID + belay.RunID(child), nil
}

// hasPart checks that a run has the part that was named: what is done for a name that
// means nothing is done to something else.
func hasPart(st *journal.State, id belay.RunID) error {
	if id == id.Root() {
		return nil
	}
	s, err := tell(st, string(id))
	if err != nil {
		return err
	}
	return s.close()
}

// wholeRun refuses a part of a run for a command that takes whole runs only.
func (a *app) wholeRun(st *journal.State, act string, id belay.RunID) error {
	if err := hasPart(st, id); err != nil || id == id.Root() {
		return err
	}
	return a.onlyWhole(act, id)
}

func (a *app) onlyWhole(act string, id belay.RunID) error {
	return exit.New(exit.Invalid, act, fmt.Errorf("%s is a part of run %s", id, id.Root()),
		fmt.Sprintf("%s the whole with %s %s %s", act, a.name(), act, id.Root()))
}

// inRun checks that a run of a tree is there.
func inRun(known bool, id belay.RunID) error {
	if known {
		return nil
	}
	return exit.New(exit.Invalid, "find run", fmt.Errorf("no run %q", id), "see the runs of a tree with belay show "+string(id.Root()))
}
