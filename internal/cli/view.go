package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/internal/tui"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/recipe"
	"github.com/belay-run/belay/story"
	"github.com/belay-run/belay/worktree"
)

// runView is a run that was opened to be looked at, without its lock: its story,
// and what lies beside its records.
type runView struct {
	*story.Story
	id       belay.RunID // the run that was asked for; its root may be another
	view     *journal.View
	recs     []event.Record
	work     belay.RunID       // the run that carries out its plan; "" = none
	together story.Together    // what the runs used that belong together
	lies     *journal.Archived // where it lies, for a run that can only be looked at
	state    *journal.State
	lacks    []string // variables that its steps were given and that are not set here
	silent   string   // its host, where that does not answer

	commit func(ctx context.Context, dir, name string) string // that a name stands for now; "" = none
}

func tell(st *journal.State, arg string) (*runView, error) {
	id, err := runID(st, arg)
	if err != nil {
		return nil, err
	}
	view, err := st.View(id)
	if err != nil {
		return nil, st.Unread(id, err)
	}
	return tellView(st, view, id)
}

// tellArchived is tell for a run that lies in an archive.
func tellArchived(st *journal.State, arg string, logs bool) (*runView, error) {
	lies, err := st.FindArchived(arg)
	if err != nil {
		return nil, err
	}
	_, child, _ := strings.Cut(arg, "/")
	return tellCopy(st, lies, child, logs)
}

// tellCopy tells the run of an archive, or a child run of it.
func tellCopy(st *journal.State, lies journal.Archived, child string, logs bool) (*runView, error) {
	view, err := st.Look(lies, logs)
	if err != nil {
		return nil, err
	}
	id := lies.Run
	if child != "" {
		id += "/" + belay.RunID(child)
	}
	s, err := tellView(st, view, id)
	if err != nil {
		return nil, err
	}
	s.lies = &lies
	return s, nil
}

// tellView tells the run that a view is of; where it cannot, the view is closed.
func tellView(st *journal.State, view *journal.View, id belay.RunID) (*runView, error) {
	var err error
	s := &runView{id: id, view: view, together: together(st, id), state: st, commit: worktree.CommitOf}
	var tree *flow.Tree
	if s.recs, err = view.Load(); err == nil {
		tree, err = engine.Fold(id.Root(), s.recs, view)
	}
	if err == nil {
		err = inRun(tree.Run(id) != nil, id)
	}
	if err != nil {
		_ = view.Close() // read only: nothing to lose
		return nil, st.Unread(id, err)
	}
	s.Story = story.Tell(tree, s.recs)
	if planOnly(tree) {
		if work, begun := carrier(st, tree, id.Root()); begun {
			s.work = work
		}
	}
	return s, nil
}

// together is what the runs used that belong together.
func together(st *journal.State, id belay.RunID) story.Together {
	p, _ := st.Ledger().BudgetUse(id) // what the index does not tell is left out
	return story.Together{Starts: p.Starts, Allowed: p.MaxStarts, Tokens: p.Tokens, MicroUSD: p.Micros}
}

// read shows a run to see, and closes it again.
func (a *app) read(arg string, see func(*runView) error) error {
	return a.look(arg, func(s *runView) error {
		if a.silent != "" {
			a.say("host %s does not answer: logs that are only there are not shown", a.silent)
		}
		return see(s)
	})
}

// readFiles is read for what prints logs and values: that a part of them may be missing is
// an error.
func (a *app) readFiles(arg string, see func(*runView) error) error {
	return a.look(arg, func(s *runView) error {
		err := see(s)
		if err == nil && a.silent != "" {
			err = exit.New(exit.Infra, "bring logs and values", &engine.Silent{Host: a.silent},
				"what was brought before is shown; all of it comes when the worker is there again")
		}
		return err
	})
}

// look shows a run to see, and closes it again.
func (a *app) look(arg string, see func(*runView) error) (err error) {
	if err := a.refresh(a.ctx, arg); err != nil {
		return err
	}
	st, err := a.openState()
	if err != nil {
		return err
	}
	defer closing(&err, "close state", st.Close)
	s, err := tell(st, arg)
	var lies *journal.ReadOnly
	if errors.As(err, &lies) {
		if s, err = tellArchived(st, arg, true); err == nil {
			a.say("%v; what follows is how it stood at %s", lies, s.lies.Made.Local().Format(time.DateTime))
		}
	}
	if err != nil {
		return err
	}
	defer closing(&err, "close journal", s.close)
	s.lacks, s.silent = a.lacks(s.Tree.Started().Given), a.silent
	return see(s)
}

// facts is what only the machine knows about the run.
func (s *runView) facts(now time.Time) story.Facts {
	f := story.Facts{Now: now, Alive: s.alive(), Beat: s.view.Beat().At, Work: s.work, Here: here(), Text: blobs(s.view.ReadBlob), Lacks: s.lacks}
	if s.lies == nil && s.state != nil {
		f.There = there
		f.Plan = planIn(s.state.Folder(s.id.Root()))
		f.Watched = s.state.WatchLeads()
		f.WantsDisk, f.DiskFree = diskOf(s.Tree, s.state)
		f.Full = fullDir(s.state)
	}
	return f
}

func (s *runView) close() error { return s.view.Close() }

// source is a frozen recipe.
func (s *runView) source(digest string) ([]byte, error) {
	return s.view.ReadBlob(digest, recipe.MaxBytes)
}

// standing is how the run stands, in words: one whose driver died is not
// running, whatever its journal says.
func (s *runView) standing() string {
	if s.Decided(s.alive()) {
		return decidedText
	}
	if s.crashed() {
		return lostText
	}
	if p, parked := s.Tree.Parked(); parked {
		return string(belay.Parked) + s.parkedFor(p, time.Now())
	}
	if _, paused := s.Tree.Paused(); paused && s.Tree.Status() == belay.Running {
		return string(belay.Running) + ", to be paused"
	}
	if waits := s.waits(); waits != "" {
		return string(belay.Running) + ", " + waits
	}
	return story.StatusWord(story.Status(s.Tree), doRecipe == s.Tree.Started().Name && planOnly(s.Tree))
}

// waits is what the engine says that a run waits for which it drives; "" = nothing.
func (s *runView) waits() string {
	if s.lies != nil || s.Tree.Status() != belay.Running || !engine.IsElsewhere(s.view.Folder) {
		return ""
	}
	return readable.Clean(s.view.Beat().Waiting())
}

// parkedFor says for what and until when the run is parked. One in an archive is not
// woken here, whatever the time.
func (s *runView) parkedFor(p event.RunParked, now time.Time) string {
	if s.lies != nil {
		return parkedText(p.For, p.Until, time.Time{}, true)
	}
	return parkedText(p.For, p.Until, now, s.state != nil && s.state.WatchLeads())
}

const (
	lostText    = "LOST"
	decidedText = "HELD, with all answered" // and nobody went on yet
)

func (s *runView) crashed() bool { return s.Crashed(s.alive()) }

// alive tells whether the last driver of the run is there. Of a run from elsewhere
// nobody here can tell: it is taken as its records say, and one that was held goes on only
// with another driver.
func (s *runView) alive() bool {
	switch {
	case s.lies != nil && s.lies.Imported:
		return true
	case engine.IsElsewhere(s.view.Folder):
		return s.Rest == nil || s.Rest.Status != belay.Held || s.waits() != ""
	}
	return driverOf(s.Driver().RunAttached).Alive()
}

// steps lists the steps of the run that was asked for, with its child runs.
func (s *runView) steps() []story.Placed { return s.Steps(s.id) }

// step finds a step of the run that was asked for, or of a child run.
func (s *runView) step(p belay.Path) (story.Placed, error) {
	at, ok := s.Find(s.id, p)
	if !ok {
		at, ok = s.findShown(p)
	}
	if !ok {
		return story.Placed{}, s.noStep(p)
	}
	return story.Placed{Run: at.Run, StepView: s.View(at)}, nil
}

// findShown finds a step by the name that screens give it: an item by its value.
func (s *runView) findShown(p belay.Path) (story.Place, bool) {
	names := tui.NewNames(s.Tree)
	for _, q := range s.steps() {
		if own := names.Own(q.At()); own != string(q.Path) && own == string(p) || names.Of(q.At()) == string(p) {
			return q.At(), true
		}
	}
	return story.Place{}, false
}

// nested tells whether a step is named as one of a child run.
func nested(p belay.Path) bool { return strings.Contains(string(p), "/") }

func (s *runView) noStep(p belay.Path) error {
	return exit.New(exit.Invalid, "find step", fmt.Errorf("run %s has no step %q", s.id, p),
		"see its steps with belay show "+string(s.id))
}
