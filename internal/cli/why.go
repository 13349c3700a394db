package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/tui"
	"github.com/belay-run/belay/story"
)

func (a *app) whyCommand() *cobra.Command {
	var asJSON bool
	cmd := command("why RUN", "explain on one page what happened, and what to do now", 1, 1,
		func(_ context.Context, _ *cobra.Command, args []string) error {
			return a.read(args[0], func(s *runView) error { return a.why(s, asJSON) })
		})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the same facts as one JSON object")
	cmd.ValidArgsFunction = a.completeRun
	return cmd
}

func (a *app) why(s *runView, asJSON bool) error {
	w := explain(a.ctx, s, a.name(), time.Now())
	w.ids = a.verbose
	if w.Next.Say = a.ours(w.Next.Say); w.Failure != nil {
		w.Failure.Hint = a.ours(w.Failure.Hint)
	}
	if asJSON {
		a.object(w)
		return nil
	}
	a.out.lines(w.page(a.sheet()))
	return nil
}

// sheet is what a page is written on.
type sheet struct {
	width  int
	screen int // the width of the terminal; 0 for no terminal
	colour bool
}

// A page is not wider than lines that are easy to read.
const (
	pageWidth = 80
	mostWidth = 110
	narrowest = 40
)

// sheet is standard output as it is: a terminal's width, or that of a letter.
func (a *app) sheet() sheet {
	fd, isTerm := terminal(a.std.Out)
	p := sheet{width: pageWidth, colour: a.colours(a.std.Out)}
	if !isTerm {
		return p
	}
	if w, _, err := term.GetSize(fd); err == nil && w > 0 {
		p.width, p.screen = min(max(w, narrowest), mostWidth), w
	}
	return p
}

// facts prints rows of a name and what there is to say to it.
func (a *app) facts(rows [][]string) {
	if len(rows) > 0 {
		a.table(rows, len(rows[0]))
	}
}

// table prints rows so that they fit a terminal: where they are too wide, what follows the
// first columns stands below each row. Elsewhere a row is always one line.
func (a *app) table(rows [][]string, first int) {
	a.out.lines(tui.Fit(rows, a.outWidth(), first))
}

// whyFacts is everything that the page tells, as --json prints it.
type whyFacts struct {
	Run      belay.RunID  `json:"run"`
	Recipe   string       `json:"recipe"`
	File     string       `json:"file,omitempty"`
	Status   belay.Status `json:"status"`
	Crashed  bool         `json:"crashed"` // nobody drives it, and nobody said so
	ExitCode *int         `json:"exit_code,omitempty"`
	Verdict  string       `json:"verdict"` // the first line of the page
	Reason   string       `json:"reason,omitempty"`
	Started  time.Time    `json:"started"`
	Ended    time.Time    `json:"ended,omitzero"` // when it ended or came to rest
	WallMS   int64        `json:"wall_ms"`
	Drivers  int          `json:"drivers"` // how many processes drove it, one after the other
	Died     int          `json:"drivers_died"`

	Task         *whyTask            `json:"task,omitempty"`    // of belay do
	Failure      *whyFailure         `json:"failure,omitempty"` // the root cause
	Tried        []moment            `json:"tried"`
	Cost         story.Cost          `json:"cost"`
	Work         whyWork             `json:"work"`
	UserCheckout *story.UserCheckout `json:"beside,omitempty"` // the user's own checkout, where the agents worked in worktrees
	Steps        story.Count         `json:"steps"`
	Taken        []takenFor          `json:"taken"`              // steps that are done on a person's word
	Answered     []string            `json:"answered,omitempty"` // steps that are done by an answer alone
	Judging      []judgingOf         `json:"judging,omitempty"`  // done steps whose agents changed files that judge the work
	Blocked      []story.Blocked     `json:"blocked"`            // steps that wait for a service
	Waits        []waiting           `json:"waits"`
	Next         whyNext             `json:"next"`

	typed   func(story.Command) string // a command as it is typed
	refused *story.Review              // of its plan
	plan    string                     // the file with that

	belay string // how the program is called
	ids   bool   // the page has the names of kinds, classes and rules, too
	now   time.Time

	decided bool   // it is held, and nothing waits for an answer
	pausing string // who wants nothing new to start
	silent  string // its host, where that does not answer
	waiting string // what it waits for that others have to bring

	unproven []string            // recovered steps of which nothing shows that their work is done
	named    func(string) string // gives items their names
	fixIn    string              // see story.Account
	fixAt    string              // the same
	unmerged []string            // commands

	parked string // for what and until when nobody drives it
	disk   string // the directory that needs room first
}

// explain puts the account of a run into the form of the page. It reads what is
// on record and asks nobody.
func explain(ctx context.Context, s *runView, name string, now time.Time) *whyFacts {
	started, _ := s.Tree.Run(s.id).Started()
	acc := s.Account(s.id, s.facts(now))
	w := &whyFacts{
		Run: s.id, Recipe: started.Name, File: started.File, belay: name, now: now,
		Status: acc.Status, Crashed: acc.Crashed, ExitCode: acc.Code, Reason: acc.Reason, Started: acc.Started, Ended: acc.Ended,
		WallMS: acc.Wall.Milliseconds(), Drivers: len(s.Drivers), Died: acc.Died,
		Failure: rootCause(acc.Cause), Tried: tried(s), Cost: s.Cost(s.id, acc.Wall, s.together), Work: workOf(ctx, s, acc.Steps, acc.Task), Steps: acc.Count,
		Taken: taken(s, acc.Steps), Judging: judging(acc.Steps), Answered: answered(acc.Steps), Blocked: acc.Blocked,
		Waits: waitings(acc.Asked, name),
	}
	w.Task, w.refused, w.plan = s.taskFacts(ctx, acc.Task), acc.Refused, acc.Plan
	if s.id == s.id.Root() {
		w.UserCheckout = story.UserCheckoutOf(s.Tree, acc.Task)
	}
	w.decided = acc.Status == belay.Held && len(acc.Asked) == 0
	w.pausing, _ = s.Tree.Paused()
	w.waiting = s.waits()
	if p, parked := s.Tree.Parked(); parked {
		w.parked = s.parkedFor(p, now)
	}
	w.disk = acc.Disk
	names := tui.NewNames(s.Tree)
	named := names.From(s.id)
	w.typed = func(c story.Command) string { return names.Typed(c).Text(name) }
	w.named = func(text string) string { return named("", text) }
	w.unproven = unproven(acc.Steps)
	w.fixIn, w.fixAt, w.unmerged = acc.FixIn, acc.FixAt, s.unmerged(ctx, acc)
	w.silent = s.silent
	w.Next = w.next(acc.Next)
	if s.lies != nil { // nothing that could be typed here would help
		w.Next, w.Waits = whyNext{Say: "nothing: the run lies in an archive and can only be looked at", Commands: []string{}}, []waiting{}
	}
	w.Verdict = w.verdict()
	return w
}

func (w *whyFacts) wall() time.Duration { return time.Duration(w.WallMS) * time.Millisecond }
