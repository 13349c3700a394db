package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/belay-run/belay"
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
	w := explain(s, a.name(), time.Now())
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
	p := sheet{width: pageWidth, colour: a.color == "always" || a.color == "auto" && isTerm && a.env("NO_COLOR") == ""}
	if !isTerm {
		return p
	}
	if w, _, err := term.GetSize(fd); err == nil && w > 0 {
		p.width = min(max(w, narrowest), mostWidth)
	}
	return p
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

	Failure  *whyFailure     `json:"failure,omitempty"` // the root cause
	Tried    []moment        `json:"tried"`
	Cost     story.Cost      `json:"cost"`
	Work     whyWork         `json:"work"`
	Steps    story.Count     `json:"steps"`
	Taken    []takenFor      `json:"taken"`              // steps that are done on a person's word
	Answered []string        `json:"answered,omitempty"` // steps that are done by an answer alone
	Judging  []judgingOf     `json:"judging,omitempty"`  // done steps whose agents changed files that judge the work
	Blocked  []story.Blocked `json:"blocked"`            // steps that wait for a service
	Waits    []waiting       `json:"waits"`
	Next     whyNext         `json:"next"`

	belay string // how the program is called
	now   time.Time
}

// explain gathers the facts of a run. It reads what is on record and asks nobody.
func explain(s *runView, name string, now time.Time) *whyFacts {
	run := s.Tree.Run(s.id)
	started, begun := run.Started()
	w := &whyFacts{
		Run: s.id, Recipe: started.Name, File: started.File, Started: begun.UTC(), Crashed: s.crashed(), belay: name, now: now,
	}
	w.stand(s)
	all := s.steps()
	w.Steps = story.CountSteps(all)
	w.Failure = rootCause(s.Cause(s.id, all))
	w.Tried = tried(s)
	w.Cost = s.Cost(s.id, w.wall(), s.together)
	w.Work = workOf(s)
	w.Taken, w.Judging, w.Answered = taken(s, all), judging(all), answered(all)
	w.Blocked = s.Blocked(s.id)
	w.Waits = waitings(s, all, name)
	w.Next = w.next()
	w.Verdict = w.verdict()
	return w
}

// stand says how the run stands, since when, and who drove it. A child run that
// has not ended stands as its tree does.
func (w *whyFacts) stand(s *runView) {
	w.Status, w.Drivers, w.Died = s.Tree.Status(), len(s.Drivers), len(s.Takeovers())
	last := s.Last
	if end := s.Run(s.id).Ended; !end.IsZero() {
		last = end
	}
	if s.StoppedBy != "" {
		w.Reason = "stopped by " + s.StoppedBy
	}
	if res := s.Tree.Run(s.id).Result(); res != nil {
		w.Status, w.Reason = res.Status, res.Reason
		w.ExitCode = &res.Code
	}
	switch {
	case w.Status == belay.Running && !w.Crashed:
		last = w.now
	case w.Status == belay.Held:
		code := belay.ExitHeld
		w.ExitCode, w.Reason = &code, ""
	case w.Status == belay.Running:
		w.Died++
		w.Reason = ""
		if beat := s.view.Beat().At; beat.After(last) {
			last = beat
		}
	}
	if w.Status != belay.Running || w.Crashed {
		w.Ended = last.UTC()
	}
	w.WallMS = max(0, last.Sub(w.Started).Milliseconds())
}

func (w *whyFacts) wall() time.Duration { return time.Duration(w.WallMS) * time.Millisecond }
