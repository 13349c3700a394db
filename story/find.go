package story

import (
	"slices"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/flow"
)

// move is a command, and what it comes to on a copy of the tree.
type move struct {
	Command
	play func(*flow.Tree) (flow.Effort, error)
}

// way is advice with its commands, one after the other.
type way struct {
	Advice
	look  Command // to be looked at first; nil = nothing
	moves []move
}

// finder finds what to type about a run by trying: each command is played on a copy of
// the tree, and decides there what it decides when it is typed. What would do nothing
// is not named.
type finder struct {
	*Account
	Facts
	tree    *flow.Tree
	started event.RunStarted // of the root
}

// play is what the last command of a way comes to when those before it were granted.
func (f *finder) play(w way) flow.Effort {
	tree, err := f.tree.Copy()
	best := flow.Idle
	for i := 0; i < len(w.moves) && err == nil; i++ {
		if best, err = w.moves[i].play(tree); best == flow.Idle {
			break
		}
	}
	if err != nil {
		return flow.Idle // who types it is told
	}
	return best
}

// first is the first of the ways that makes the run go on, or else one by which a person
// is asked; false when there is none.
func (f *finder) first(ways ...way) (Next, bool) {
	asks := -1
	for i, w := range ways {
		switch f.play(w) {
		case flow.Works:
			return w.next(), true
		case flow.Asks:
			if asks < 0 {
				asks = i
			}
		case flow.Idle:
		}
	}
	if asks < 0 {
		return Next{}, false
	}
	return ways[asks].next(), true
}

func (w way) next() Next {
	n := Next{Advice: w.Advice}
	if w.look != nil {
		n.Commands = append(n.Commands, w.look)
	}
	for _, m := range w.moves {
		n.Commands = append(n.Commands, m.Command)
	}
	return n
}

// resume is to go on with the run.
func (f *finder) resume(flags ...string) move {
	c := append(Resume(f.Run).Given(f.Lacks...), flags...)
	return move{c, func(t *flow.Tree) (flow.Effort, error) {
		r, err := Resumes(t, f.Task, ResumeRequest{GoOn: flow.GoOn{ID: tried, DiskFree: f.DiskFree}})
		if err != nil || r.No != GoesOn || r.CarryOut {
			return flow.Idle, err
		}
		return t.TryDrive(f.Now, r.Facts...)
	}}
}

// tried begins the ids of requests that are only tried.
const tried = "tried"

// request is a command that asks something of the run.
func (f *finder) request(c Command, r event.Request) move {
	r.ID = tried + " " + r.Run.Of(r.Item)
	return move{c, func(t *flow.Tree) (flow.Effort, error) { return t.TryRequest(f.Now, r) }}
}

func (f *finder) clear(what event.Count) move {
	return f.request(Clear(f.Run.Root(), what), event.Request{Run: f.Run.Root(), Ask: event.RequestClear, What: what})
}

// clearStep takes back what is counted against one step.
func (f *finder) clearStep(at Place) move {
	what := string(event.CountAttempts) + ":" + string(at.Path)
	return f.request(Command{"clear", string(at.Run), what, "--why", "TEXT"},
		event.Request{Run: at.Run, Ask: event.RequestClear, What: event.CountAttempts, Step: at.Path})
}

func (f *finder) answer(q Asked) move {
	r := event.Request{Run: q.Run, Ask: event.RequestAnswer, Item: q.ID, Choice: "TEXT"}
	if len(q.Choices) > 0 && q.About != event.ItemInput {
		r.Choice = q.Choices[0]
	}
	return f.request(q.Command(), r)
}

func (f *finder) rerun(p belay.Path) move {
	return move{Rerun(f.Run, p).Given(f.Lacks...), func(t *flow.Tree) (flow.Effort, error) {
		facts, err := t.Rerun(f.Run.Root(), p, tried, tried)
		if err != nil {
			return flow.Idle, nil //nolint:nilerr // it is refused: that is the answer
		}
		return t.TryDrive(f.Now, facts...)
	}}
}

// next is what to do about the run. One that nobody drives needs room for its records.
func (f *finder) next() Next {
	n := f.best()
	switch f.Status {
	case belay.Running, belay.Held, belay.Stopped, belay.Paused, belay.Parked:
		if f.Full != "" && !f.Alive && len(n.Commands) > 0 {
			n.Advice, f.Disk = FreeDisk, f.Full
		}
	case belay.Achieved, belay.Aborted, belay.Failed, belay.Hollow, belay.NotAchieved, belay.Partial, belay.Stalemate:
	}
	if n.Advice == FreeDisk && f.Disk == "" {
		f.Disk = f.WantsDisk
	}
	return n
}

// best is what to do about a run whose disk has room.
func (f *finder) best() Next {
	if f.Task != nil {
		r, err := Resumes(f.tree, f.Task, ResumeRequest{GoOn: flow.GoOn{ID: tried}})
		if n, other := f.ofTask(r); other && err == nil && f.Status != belay.Running {
			return n
		}
	}
	if f.tree.Status() == belay.Running && f.Alive && f.Status != belay.Achieved { // also for a part of it that has ended
		return f.driven()
	}
	switch f.Status {
	case belay.Achieved:
		return Next{Nothing, nil}
	case belay.Aborted:
		return Next{StartNew, f.anew()}
	case belay.Running:
		return Next{Adopt, []Command{f.resume().Command}}
	case belay.Held, belay.Stopped, belay.Paused, belay.Parked:
		return f.resting()
	case belay.Failed, belay.Hollow, belay.NotAchieved, belay.Partial, belay.Stalemate:
	}
	return f.ended()
}

// open are the questions that can be answered.
func (a *Account) open() []Asked {
	return slices.DeleteFunc(slices.Clone(a.Asked), func(q Asked) bool { return q.TimedOut })
}

// driven is about a run that somebody drives.
func (f *finder) driven() Next {
	var ways []way
	if open := f.open(); len(open) > 0 {
		ways = append(ways, way{AnswerNow, nil, []move{f.answer(open[0])}})
	}
	if len(f.Blocked) > 0 {
		ways = append(ways, way{WaitService, nil, []move{f.clear(event.CountBreakers)}})
	}
	if n, ok := f.first(ways...); ok {
		return n
	}
	return Next{Watch, []Command{{"logs", string(f.Run.Root()), "-f"}}}
}

// resting is about a run that has not ended, and that nobody drives.
func (f *finder) resting() Next {
	open, parked := f.open(), f.Status == belay.Parked
	if len(open) > mostTried { // one after the other
		return Next{AnswerFirst, []Command{open[0].Command()}}
	}
	goOn := way{GoOn, nil, []move{f.resume()}}
	switch {
	case len(f.Asked) > 0 && len(open) == 0:
		goOn.Advice = TimedOut
	case parked && !f.Watched:
		goOn.Advice = WakeIt
	case parked:
		goOn.Advice = WaitWatch
	case f.Status == belay.Held && len(f.Asked) == 0:
		goOn.Advice = Answered
	}
	var ways []way
	for _, q := range open {
		if q.OverBudget() {
			ways = append(ways, way{RaiseBudget, nil, []move{f.clear(event.CountBudget), f.resume()}})
		}
		if parked {
			ways = append(ways, way{AnswerWakes, nil, []move{f.answer(q)}})
		}
	}
	if ways = append(ways, goOn); f.WantsDisk != "" && !f.DiskFree {
		room := *f
		room.DiskFree = true
		ways = append(ways, way{FreeDisk, nil, []move{room.resume()}})
	}
	all := way{AnswerFirst, nil, nil}
	for _, q := range open {
		ways = append(ways, way{AnswerFirst, nil, []move{f.answer(q), f.resume()}})
		all.moves = append(all.moves, f.answer(q))
	}
	all.moves = append(all.moves, f.resume())
	if n, ok := f.first(append(ways, all)...); ok {
		return n
	}
	return goOn.next() // it says why not
}

// mostTried is how many questions are tried: each one is a copy of the tree.
const mostTried = 8

// thens finds what to type after the answer to each question: nothing while others are
// open that the run waits for as well.
func (f *finder) thens() {
	if f.tree.Status() == belay.Running && f.Alive || f.Status == belay.Parked || len(f.Asked) > mostTried {
		return // who drives it goes on, and an answer wakes it
	}
	for i := range f.Asked {
		if q := &f.Asked[i]; !q.TimedOut && f.play(way{AnswerFirst, nil, []move{f.answer(*q), f.resume()}}) == flow.Works {
			q.Then = f.resume().Command
		}
	}
}

// ended is about a run that did not reach its goal.
func (f *finder) ended() Next {
	if n, is := f.ofReview(); is {
		return n
	}
	var ways []way
	c, look := f.Cause, Command(nil)
	if c != nil && !c.Whole && f.Status == belay.Hollow {
		look = Show(c.At())
	}
	cleared, plain := MendClear, Mend
	if f.Status == belay.Hollow {
		cleared, plain = ClearHollow, LookHollow
	}
	switch {
	case f.Status == belay.Stalemate && f.tree.EndedByRounds():
		ways = append(ways, way{ChangeFirst, nil, []move{f.clear(event.CountReview), f.resume()}})
	case f.Status == belay.Partial && len(f.Count.LeftOut) > 0:
		ways = append(ways, way{Reopen, nil, []move{f.resume("--why", "TEXT")}})
	default:
		ways = append(ways, way{plain, look, []move{f.resume()}})
	}
	if c != nil && c.Same > 1 {
		ways = append(ways, way{cleared, look, []move{f.clearStep(c.At()), f.resume()}})
	}
	ways = append(ways, way{ChangeFirst, nil, []move{f.clear(event.CountAttempts), f.resume()}})
	if n, ok := f.first(ways...); ok {
		return n
	}
	n := Next{Advice: RunAgain}
	steps, said := f.tree.EndedByWord()
	refused := c != nil && c.Failure != nil && c.Failure.At != nil // by its recipe, and would be again
	for _, p := range f.Steps {                                    // a part of it may have said so
		if !refused && p.Run == f.Run.Root() && p.Phase == flow.Failed && !p.Optional {
			steps = append(steps, p.Path)
		}
	}
	for _, p := range steps {
		if m := f.rerun(p); f.play(way{RunAgain, nil, []move{m}}) != flow.Idle {
			n.Commands = append(n.Commands, m.Command)
		}
	}
	switch {
	case len(n.Commands) > 0:
		return n
	case !said && (f.Status == belay.Partial || f.Status == belay.NotAchieved):
		return Next{LookAtWork, []Command{{"show", string(f.Run.Root())}}}
	}
	return Next{StartOver, f.anew()}
}

// ofTask is what to do about a task, where that is another thing than for a run of a
// recipe. A new run of it begins as this one did, from the directory of who reads it.
func (f *finder) ofTask(r Resumption) (Next, bool) {
	again := func(without string, more ...string) Command { return f.Task.again(f.started, f.Here, without, more...) }
	switch {
	case r.CarryOut && f.Work != "":
		return Next{CarriedOut, []Command{{"why", string(f.Work)}}}, true
	case r.CarryOut:
		return Next{CarryOut, []Command{Resume(f.Run)}}, true
	case r.No == NoFinal:
		return Next{StartNew, []Command{again("")}}, true
	case f.Refused != nil && f.tree != nil && f.tree.Anew():
		return Next{GoOn, []Command{Resume(f.Run)}}, true
	case f.Refused != nil:
		return Next{EditPlan, []Command{Clear(f.Run, event.CountReview), Resume(f.Run), again("--plan-review", "--no-plan-review")}}, true
	case r.No != NoRound:
		return Next{}, false
	case f.Status == belay.Partial && f.Task.onlyUnproven() && f.Task.Type != "Q&A" && f.Task.Type != "Investigation": // answers are proven by what they cite
		return Next{AddChecks, []Command{again("", "--criteria", "FILE")}}, true
	}
	return Next{StartAgain, []Command{again("")}}, true
}
