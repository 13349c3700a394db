package flow

import (
	"fmt"
	"slices"

	"github.com/belay-run/belay"
)

// Phase is where a step stands.
type Phase string

const (
	Waiting  Phase = "waiting"   // for its needs, its turn, a slot or its time
	Running  Phase = "running"   // its main attempt is open
	Ended    Phase = "ended"     // the main attempt is over (or lost) and not settled yet
	Checking Phase = "checking"  // its verify is open
	Broken   Phase = "broken"    // judged a failure; the recovery is not chosen yet, or an agent is to help
	Helped   Phase = "aided"     // an agent helps: it mends, plans or finishes
	Merging  Phase = "merging"   // the work is there, and is brought into the run's tree
	Held     Phase = "held"      // a person is asked
	Done     Phase = "done"      // the work is there
	NotTaken Phase = "not_taken" // its condition was false, or with compat all of those in the recipe that it calls
	Skipped  Phase = "skipped"   // a person left it out
	Failed   Phase = "failed"    // it stays failed
)

// moves are the legal ones; everything else is an error.
var moves = map[Phase][]Phase{
	Waiting:  {Running, NotTaken, Failed, Held, Broken},
	Running:  {Ended, Waiting},
	Ended:    {Checking, Done, NotTaken, Broken, Held, Waiting, Merging, Failed},
	Checking: {Ended, Broken},
	Broken:   {Waiting, Held, Failed, Helped, Checking, Skipped, Done, Merging},
	Helped:   {Broken},
	Merging:  {Done, Broken, Held, Failed},
	Held:     {Done, Ended, Waiting, Failed, Skipped, Merging},
	Skipped:  {Waiting, Ended, Merging},
	Failed:   {Waiting, Ended, Merging},
	Done:     {Waiting}, // a person wants it to run again
	NotTaken: {Waiting}, // the same
}

// settled tells whether nothing is left to be done about a step.
func (p Phase) settled() bool {
	switch p {
	case Done, NotTaken, Skipped, Failed:
		return true
	case Waiting, Running, Ended, Checking, Broken, Helped, Merging, Held:
		return false
	}
	return false
}

// IllegalMove is a record that does not fit the state: damage, or a bug.
type IllegalMove struct {
	Run      belay.RunID
	Step     belay.Path
	From, To Phase
}

func (e *IllegalMove) Error() string {
	return fmt.Sprintf("run %s, step %s: no way from %s to %s", e.Run, e.Step, e.From, e.To)
}

func (s *State) move(i int, to Phase) error {
	from := s.steps[i].phase
	if !slices.Contains(moves[from], to) {
		return &IllegalMove{s.id, s.prog.Steps[i].ID, from, to}
	}
	s.steps[i].phase = to
	s.stirred.keep(i, !to.settled())
	if to.settled() || to == Held || to == Merging || from == Merging {
		s.giveBack(i)
	}
	return nil
}
