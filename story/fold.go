package story

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/fault"
)

// Add tells records, in their order, and gives the news of each.
func (s *Story) Add(recs ...event.Record) []News {
	list := make([]News, len(recs))
	for i, r := range recs {
		list[i] = s.add(r)
	}
	if !s.live {
		s.News = append(s.News, list...)
	}
	return list
}

func (s *Story) add(r event.Record) News {
	if s.Root == "" {
		s.Root = r.Run.Root()
	}
	s.Records++
	s.Last, s.Seq = r.At, r.Seq
	n := News{What: What(r.Event.Kind()), At: r.At, Place: Place{Run: r.Run}}
	n.Arrival = s.watch.take(n.What, r.Run == s.Root)
	run := s.run(r.Run)
	if run.Rests = n.What == RunEnded || n.What == RunStopped || n.What == RunPaused || n.What == RunHeld || n.What == RunParked; run.Rests {
		run.Rest = r.At
	}
	switch e := r.Event.(type) {
	case event.AttemptStarted:
		s.started(&n, e)
	case event.AttemptNoted:
		n.Attempt = s.of(&n, e.Key)
		n.Note = n.Attempt.note(r.At, e)
	case event.AttemptFound:
		s.found(&n, e)
	case event.AttemptStopping:
		n.Attempt = s.of(&n, e.Key)
	case event.AttemptEnded:
		s.ended(&n, e)
	case event.AttemptJudged:
		s.judged(&n, e.Key, e.Verdict)
	case event.StepRefused:
		n.Path, n.Failure = e.Path, &e.Failure
		st := s.step(n.Place)
		st.Failure = &e.Failure
		st.began(r.At, &e.Failure)
		s.fail(r.Run)
	case event.StepNotTaken:
		n.Path, n.Why = e.Path, e.Why
	case event.AnswerGiven:
		s.answered(&n, e)
	default:
		s.addDecision(&n, r)
		s.addRun(&n, r)
	}
	return n
}

// addRun takes in what is about a run as a whole, or about who asks something
// of it.
func (s *Story) addRun(n *News, r event.Record) {
	switch e := r.Event.(type) {
	case event.RunAttached:
		n.Driver = e.Epoch
		d := Driver{RunAttached: e, At: r.At, Arrival: n.Arrival}
		if s.Drivers = append(s.Drivers, d); e.Lost != "" {
			n.Why = d.Words()
		}
		s.Status, s.Rest = belay.Running, nil
	case event.RunHeld:
		res := belay.RunResult{Status: belay.Held, Code: exit.Held, Reason: cmp.Or(e.Why, "a person must act")}
		if s.Tree != nil {
			if by, paused := s.Tree.Paused(); paused {
				res = pausedResult(by)
			}
		}
		s.rest(r.Run, res)
	case event.RunStopped:
		n.By, s.StoppedBy = e.By, e.By
		s.rest(r.Run, belay.RunResult{Status: belay.Stopped, Code: exit.Terminated, Reason: "stopped by " + e.By})
	case event.RunParked:
		n.Until, n.Why = e.Until, e.For
		s.rest(r.Run, ParkedResult(e))
	case event.RunPaused:
		n.By, n.Why = e.By, e.Why
		s.rest(r.Run, pausedResult(e.By))
	case event.RunEnded:
		n.Result = &e.RunResult
		s.run(r.Run).Ended = r.At
		s.rest(r.Run, e.RunResult)
		for st := range s.waits {
			if st.Run.Under(r.Run) {
				st.Blocked, st.TreeOf, st.Again = nil, "", nil
				s.mark(st)
			}
		}
	case event.RequestReceived:
		n.Request = &e.Request
	case event.RequestRefused:
		n.Request, n.Why = &event.Request{ID: e.ID}, e.Why
	case event.RunStarted: // the tree has it
	}
}

// ParkedResult is how a run stands that is parked.
func ParkedResult(e event.RunParked) belay.RunResult {
	return belay.RunResult{Status: belay.Parked, Code: exit.Window, Reason: e.For}
}

func pausedResult(by string) belay.RunResult {
	return belay.RunResult{Status: belay.Paused, Code: exit.Held, Reason: "paused by " + by}
}

// rest keeps how the root came to rest.
func (s *Story) rest(run belay.RunID, res belay.RunResult) {
	if run == s.Root {
		s.Status, s.Rest = res.Status, &res
	}
}

// addDecision takes in what somebody decided.
func (s *Story) addDecision(n *News, r event.Record) {
	switch e := r.Event.(type) {
	case event.RecoveryChosen:
		s.chosen(n, e)
	case event.StepSkipped:
		s.decide(n, e.Path, e.Why).By = e.By
	case event.ItemOpened:
		d := s.decide(n, e.Path, e.Ask)
		d.Item, d.Choices, d.About, d.Until = e.ID, e.Choices, e.About, e.Until
		st := s.step(n.Place)
		q := questionOf(e, r.At)
		st.Question = &q
		if e.About == event.ItemHeld {
			st.began(r.At, nil)
		}
	case event.ItemAnswered:
		d := s.decide(n, e.Path, e.Why)
		d.By, d.Choice, d.Check, d.Item, d.About = e.By, e.Choice, e.Check, e.ID, e.About
		s.step(n.Place).Answer = &Answer{By: e.By, Why: e.Why}
		s.approve(n, e.About, e.Choice)
	case event.ItemExpired:
		d := s.decide(n, e.Path, "nobody answered in time")
		d.Choice, d.Item, d.About = e.Then, e.ID, event.ItemApproval
		s.approve(n, event.ItemApproval, e.Then)
	case event.RunCleared:
		d := s.decide(n, e.Path, e.Why)
		d.By, d.Choice = e.By, string(e.What)
		if e.What == event.CountBreakers {
			for st := range s.waits {
				st.Blocked = nil
				s.mark(st)
			}
		}
	case event.RunResumed:
		d := s.decide(n, e.From, e.Why)
		d.By, d.Agent = e.By, e.Agent
	case event.StepReset:
		s.reset(n, e)
	case event.RunReopened:
		s.decide(n, "", e.Why).By = e.By
		for _, st := range s.steps {
			st.Trouble = Trouble{}
		}
	}
}

// approve counts what settles an approval.
func (s *Story) approve(n *News, about event.ItemKind, choice string) {
	switch {
	case about == event.ItemHeld || choice == belay.TimeoutHold || about == event.ItemInput && choice != belay.ChoiceReject:
	case choice == belay.ChoiceReject:
		s.fail(n.Run)
	default:
		s.Done++
	}
}

// decide adds a decision about a step, or about the run.
func (s *Story) decide(n *News, p belay.Path, why string) *Decision {
	n.Path, n.Why = p, why
	n.Decision = &Decision{What: n.What, At: n.At, Place: n.Place, Why: why}
	return n.Decision
}

func (s *Story) run(id belay.RunID) *Run {
	if s.runs[id] == nil {
		s.runs[id] = &Run{}
	}
	return s.runs[id]
}

func (s *Story) step(at Place) *Step {
	if s.steps[at] == nil {
		s.steps[at] = &Step{Place: at}
	}
	return s.steps[at]
}

// mark keeps a step among those that wait for something, as long as it does.
func (s *Story) mark(st *Step) {
	if st.Blocked != nil || st.TreeOf != "" || st.Again != nil {
		s.waits[st] = true
	} else {
		delete(s.waits, st)
	}
}

// attempt is the one that a key names, also where its start was not told.
func (s *Story) attempt(k belay.Key) *Attempt {
	if s.byKey[k] == nil {
		s.byKey[k] = named(k)
	}
	return s.byKey[k]
}

// of is the attempt that the news is about.
func (s *Story) of(n *News, k belay.Key) *Attempt {
	a := s.attempt(k)
	n.Place = a.Place
	return a
}

func (s *Story) started(n *News, e event.AttemptStarted) {
	n.Path = e.Path
	a := s.attempt(e.Key)
	again := a.Known()
	n.Attempt = a
	a.Since, a.Agent, a.Starts, a.startedAt = n.At, e.Agent, 0, s.Records
	if e.Agent != "" {
		a.Starts = 1
	}
	s.reopen(a)
	st := s.step(n.Place)
	st.Blocked = nil
	switch e.Role {
	case belay.RoleMain:
		st.N, st.Agent, st.Broken, st.Again = e.Attempt, e.Agent, Broken{}, nil
		a.Of = s.View(n.Place).Attempts
		s.forgive(n.Place)
	case belay.RoleVerify:
		a.Of, st.Again = s.View(n.Place).Attempts, nil
	case belay.RoleHook, belay.RoleRepair, belay.RolePlan, belay.RoleRecovery, belay.RoleMerge:
	}
	s.mark(st)
	if again {
		return // it was never born, and starts again under its own key
	}
	a.Place, a.Role, a.N = n.Place, e.Role, e.Attempt
	a.StartedAt, a.Child, a.Session, a.Resume = n.At, e.Child, e.Session, e.Resume
	if !s.live {
		s.Attempts = append(s.Attempts, a)
		st.Attempts = append(st.Attempts, a)
	}
}

func (s *Story) found(n *News, e event.AttemptFound) {
	a := s.of(n, e.Key)
	n.Attempt, n.How = a, e.How
	a.Found = append(a.Found, e.How)
	switch e.How {
	case fault.Unborn:
		a.Starts = 0
		s.close(a)
	case fault.Lost:
		a.left = e.Left
		if a.Known() && a.Role != belay.RoleHook && !Helps(a.Role) {
			s.step(a.Place).Broken = Broken{N: a.N}
		}
		s.close(a)
	case fault.Adopted, fault.Harvested:
	}
}

// reopen puts an attempt among those that are open.
func (s *Story) reopen(a *Attempt) {
	if !a.open {
		a.open = true
		a.opened++
		s.opened++
		s.open = append(s.open, opening{a, a.opened})
	}
}

// close takes an attempt out of those that are open. The list is cleared of the
// closed ones when they are more than the others: thousands may be open.
func (s *Story) close(a *Attempt) {
	if a.open {
		a.open = false
		if s.opened--; len(s.open) > 2*s.opened+16 {
			s.open = slices.DeleteFunc(s.open, func(o opening) bool { return !o.stands() })
		}
	}
	if s.live {
		delete(s.byKey, a.Key)
	}
}

func (s *Story) ended(n *News, e event.AttemptEnded) {
	a := s.of(n, e.Key)
	n.Attempt, a.endedAt = a, s.Records
	a.see(&e.Observation)
	if r := e.Observation.Agent; r != nil && a.Agent != "" {
		a.Starts = r.Starts()
	}
	switch by := e.Observation.KilledBy; {
	case a.Role == belay.RoleVerify, a.Role == belay.RoleHook, // nobody judges them
		Helps(a.Role) && (by == fault.KilledStop || by == fault.KilledCancel): // ended together with the run
		s.close(a)
	}
}

func (s *Story) judged(n *News, k belay.Key, v effect.Verdict) {
	a := s.of(n, k)
	n.Attempt, a.judgedAt, a.Verdict = a, s.Records, &v
	s.close(a)
	st := s.step(a.Place)
	st.Failure = v.Failure
	if v.Failure != nil || v.Unknown {
		st.began(n.At, v.Failure)
	}
	switch a.Role {
	case belay.RoleMain:
		if v.OK && !s.Merges(a.Place) {
			s.finished(st)
		}
	case belay.RoleMerge:
		if v.Failure == nil {
			s.finished(st)
		}
	case belay.RoleVerify: // judged only where a person called it done, or wants it asked again
		if v.OK {
			s.finished(st)
			return
		}
	case belay.RoleRecovery:
		if v.OK {
			s.finished(st)
			s.forgive(a.Place)
		}
		return
	case belay.RoleRepair, belay.RolePlan, belay.RoleHook:
		return
	}
	if v.Failure != nil {
		st.Broken = Broken{N: a.N, Attempt: a, Failure: v.Failure}
		if a.Role == belay.RoleMerge {
			st.Broken.N = s.View(a.Place).Attempt
		}
	}
}

// finished counts a step that is done.
func (s *Story) finished(st *Step) {
	s.Done++
	st.done = true
}

// began keeps how the trouble of a step began.
func (st *Step) began(at time.Time, f *belay.Failure) {
	if !st.Trouble.At.IsZero() {
		return
	}
	st.Trouble.At = at
	if f != nil {
		st.Trouble.Cause, st.Trouble.Print = f.Cause, f.Print
	}
}

// fail counts a step of a run that stays failed.
func (s *Story) fail(run belay.RunID) {
	if s.failed[run]++; s.failed[run] > 1 {
		return
	}
	for up, ok := run.Parent(); ok; up, ok = up.Run.Parent() {
		at := Place{up.Run, up.Path}
		s.fallen[at] = append(s.fallen[at], run)
	}
}

// forgive takes back the failures in the child runs of a step that is started
// again, or done in spite of them.
func (s *Story) forgive(at Place) {
	for _, run := range s.fallen[at] {
		delete(s.failed, run)
	}
	delete(s.fallen, at)
}

// answered takes in an answer to a question of the brain: whether an agent may
// start, a working tree, a worktree.
func (s *Story) answered(n *News, e event.AnswerGiven) {
	p, _ := belay.ParseKey(e.Key)
	of, _, _ := e.Key.Question()
	n.Path, n.Answer, n.Attempt = p.Path, e.Answer, named(of)
	switch a := e.Answer.(type) {
	case effect.AnswerAgent:
		s.permit(n, s.step(n.Place), a)
	case effect.AnswerTree:
		n.Path = n.Attempt.InRun()
		st := s.step(n.Place)
		st.TreeOf = a.WaitsFor()
		s.mark(st)
	case effect.AnswerStep, effect.AnswerCond, effect.AnswerText, effect.AnswerList, effect.AnswerTests, effect.AnswerWorktree, effect.AnswerProbe, effect.AnswerLook:
	}
}

// permit takes in whether the agent of a step, or one that helps with it, may
// start.
func (s *Story) permit(n *News, st *Step, a effect.AnswerAgent) {
	defer s.mark(st)
	was, told := st.Blocked, st.told
	st.Blocked, st.told = nil, ""
	n.Blocks = !a.OK && !a.Until.IsZero()
	if !n.Blocks {
		return
	}
	n.Repeated = told == a.Error
	b := &Blocked{Step: n.Name(), Until: a.Until.UTC(), Why: a.Error, Since: n.At.UTC()}
	if was != nil {
		b.Since = was.Since
	}
	st.Blocked, st.told = b, a.Error
	s.again(st, s.View(n.Place).Attempt+1, a.Until)
	s.decide(n, n.Path, a.Error).Until = a.Until
}

// chosen takes in a recovery from a failure, with all that it is chosen for.
func (s *Story) chosen(n *News, e event.RecoveryChosen) {
	d := s.decide(n, e.Path, e.Plan.Reason)
	st := s.step(n.Place)
	defer s.mark(st)
	d.Plan, d.Agent, d.Role, d.N, d.Failure, d.Broken = &e.Plan, st.Agent, s.role(st), st.N, st.Failure, st.Broken
	st.Blocked, st.Again = nil, nil
	row := e.Plan.Act.Row()
	own := e.Plan.Act == belay.ActRepair && s.View(n.Place).Type.Agent() // who did it mends it
	switch {
	case row.Again, own, len(e.Plan.Parts) > 0:
		if e.Plan.Role != "" && e.Plan.Act == belay.ActReassign {
			st.Role = e.Plan.Role
		}
		s.again(st, d.Broken.N+1, e.Plan.Due)
	case e.Plan.Act == belay.ActGiveUp, e.Plan.Act == belay.ActAbort:
		s.fail(n.Run)
	}
}

// again puts a step among those that start again.
func (s *Story) again(st *Step, n int, due time.Time) {
	st.Again = &Again{N: n, Of: max(s.View(st.Place).Attempts, n), Due: due}
}

// hookNames are the hooks of a step, in the order in which they are told.
var hookNames = []string{"pre_step", "post_step", "on_error"}

// Hooks are the attempts of the hooks of a step, by the order of the hooks and
// then of their start.
func (s *Story) Hooks(at Place) []*Attempt {
	var list []*Attempt
	for _, name := range hookNames {
		list = append(list, s.Step(Place{at.Run, at.Path.WithHook(name)}).Attempts...)
	}
	return list
}

// Find is a step of a run, or of a child run: a/b is the step b of the run that
// step a started, or the attempt of it that is named (a.2/b).
func (s *Story) Find(run belay.RunID, p belay.Path) (Place, bool) {
	parts := strings.Split(string(p), "/")
	for _, part := range parts[:len(parts)-1] {
		child := s.View(Place{run, belay.Path(part)}).Child
		if s.Tree.Run(child) == nil {
			child = run + "/" + belay.RunID(part)
		}
		if run = child; s.Tree.Run(run) == nil {
			return Place{}, false
		}
	}
	at := Place{run, belay.Path(parts[len(parts)-1])}
	_, ok := s.Tree.Run(run).Step(at.Path)
	return at, ok
}
