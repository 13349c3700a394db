package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/internal/tui"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/story"
	"github.com/belay-run/belay/watch"
)

func (a *app) inboxCommand() *cobra.Command {
	var asJSON, wait bool
	cmd := command("inbox", "list what waits for you, in all runs", 0, 0,
		func(ctx context.Context, _ *cobra.Command, _ []string) error { return a.inbox(ctx, asJSON, wait) })
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON array")
	cmd.Flags().BoolVar(&wait, "wait", false, "wait until something waits; runs that ended, or were stopped or paused, before do not count")
	return cmd
}

// letterKind is the closed list of reasons to look at a run.
type letterKind string

const (
	letterQuestion letterKind = "question"  // a held step waits for an answer
	letterApproval letterKind = "approval"  // a step asks a person
	letterInput    letterKind = "input"     // an agent asks a person
	letterDecided  letterKind = "decided"   // all is answered, and nobody went on
	letterHeld     letterKind = "held"      // it waits for a person, and asks nothing that has an answer
	letterHollow   letterKind = "hollow"    // success was claimed, nothing was done
	letterStuck    letterKind = "stalemate" // it would do the same again until a person acts
	letterCrashed  letterKind = "crashed"   // its driver died in the middle
	letterRefused  letterKind = "refused"   // the same, and the watch does not start it again
	letterStalled  letterKind = "stalled"   // somebody drives it, and the watch calls a person
	letterFailed   letterKind = "failed"    // it failed, and the same work was not achieved since
	letterPartial  letterKind = "partial"   // a part is missing, and the same
	letterStopped  letterKind = "stopped"   // it could go on, and nobody lets it
	letterPaused   letterKind = "paused"    // the same
	letterDamaged  letterKind = "damaged"   // its journal cannot be read
)

// letter is one thing that waits for a person.
type letter struct {
	Kind     letterKind  `json:"kind"`
	Run      belay.RunID `json:"run"` // of a question: the run that the step belongs to
	Root     belay.RunID `json:"root"`
	Recipe   string      `json:"recipe"`
	Task     string      `json:"task,omitempty"` // its first line, of belay do
	Dir      string      `json:"dir"`
	Step     string      `json:"step,omitempty"`
	Name     string      `json:"name,omitempty"` // of the step, as the screen has it
	Item     string      `json:"item,omitempty"`
	Question string      `json:"question"`
	Choices  []string    `json:"choices"`
	Since    time.Time   `json:"since"`
	Command  string      `json:"command"`
	Then     string      `json:"then,omitempty"`
	Times    int         `json:"times,omitempty"` // of runs that did not reach their goal: how many in a row
	Rests    string      `json:"rests,omitempty"` // of a question: why its run does not go on by itself
	Clear    string      `json:"clear,omitempty"` // of one that only is to be known: takes it out of the list

	lacks bool // variables have to be set for the command

	Others    []string  `json:"commands,omitempty"` // of an approval: one for each choice
	Who       []string  `json:"who,omitempty"`
	Until     time.Time `json:"until,omitzero"`
	OnTimeout string    `json:"on_timeout,omitempty"`
	TimedOut  bool      `json:"timed_out,omitempty"` // no answer counts any more: the command lets the run go on
}

// asks tells whether a letter of this kind wants something done before anything can
// go on: how a run ended, or that a person stopped it, is only to be known.
func (k letterKind) asks() bool {
	switch k {
	case letterFailed, letterPartial, letterHollow, letterStuck, letterStopped, letterPaused:
		return false
	case letterQuestion, letterApproval, letterInput, letterDecided, letterHeld, letterCrashed, letterRefused, letterStalled, letterDamaged:
	}
	return true
}

// asks tells the same of a letter: no answer counts any more for what timed out in a run
// that a person let rest.
func (l letter) asks() bool { return l.Kind.asks() && !(l.TimedOut && l.Rests != "") }

// inboxEvery is how often a waiting inbox is looked into.
const inboxEvery = time.Second

func (a *app) inbox(ctx context.Context, asJSON, wait bool) (err error) {
	if err := a.refresh(ctx, ""); err != nil {
		return err
	}
	st, err := a.openState()
	if err != nil {
		return err
	}
	defer closing(&err, "close state", st.Close)
	list, err := a.allLetters(st)
	if err == nil && wait {
		list, err = a.awaitLetters(ctx, st, list)
	}
	if err != nil {
		return err
	}
	switch {
	case asJSON:
		a.object(list)
	case len(list) == 0:
		a.say("nothing waits for you")
	default:
		a.lettersOut(withItems(st, list))
	}
	return nil
}

// withItems gives the items in letters their values, as all screens do. Only a run that has
// items is looked into.
func withItems(st *journal.State, list []letter) []letter {
	for i := range list {
		l := &list[i]
		if !tui.NamesItem(l.Name) && !tui.NamesItem(l.Question) {
			continue
		}
		s, err := tell(st, string(l.Root))
		if err != nil {
			continue // the letter stands without it
		}
		in := tui.NewNames(s.Tree).From(l.Run)
		l.Name, l.Question = in("", l.Name), in(l.Name, l.Question)
		_ = s.close() // read only: nothing to lose
	}
	return list
}

// awaitLetters looks again until something waits that is not just how a run stood
// before. A signal ends it.
func (a *app) awaitLetters(ctx context.Context, st *journal.State, list []letter) ([]letter, error) {
	ctx, at := attend(ctx, nil)
	old := map[belay.RunID]bool{}
	for _, l := range list {
		old[l.Run] = !l.asks()
	}
	waits := func(l letter) bool { return l.asks() || !old[l.Run] }
	var err error
	brought, told := time.Now(), ""
	tell := func(err error) { // once, as long as it is the same
		if text := err.Error(); text != told {
			told = text
			a.complain(err)
		}
	}
	for err == nil && !slices.ContainsFunc(list, waits) && ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-time.After(inboxEvery):
			if a.far != nil && time.Since(brought) > bringLate { // what runs elsewhere comes by itself to nobody
				if err := a.refreshing(ctx, "", tell); err != nil {
					tell(err)
				}
				brought = time.Now()
			}
			list, err = a.allLetters(st)
		}
	}
	if sig := at.stop(); sig != nil {
		return nil, quietly(sig.ExitCode())
	}
	return list, err
}

// allLetters are what waits in all runs, the oldest first.
func (a *app) allLetters(st *journal.State) ([]letter, error) {
	sums, err := st.OpenRuns()
	if err != nil {
		return nil, err
	}
	var open []belay.RunID // of the others nobody needs to know what the watch decided
	for _, sum := range sums {
		if !sum.Status.Terminal() {
			open = append(open, sum.ID)
		}
	}
	watched, err := st.Ledger().Watched(open...)
	if err != nil {
		return nil, err
	}
	list := []letter{}
	for _, sum := range sums {
		if sum.Beginning {
			continue
		}
		mem, err := watch.Recall(watched[sum.ID])
		if err != nil {
			d := watch.Forgotten(sum.ID, err)
			mem.Event, mem.Reason = d.Event, d.Reason
		}
		for _, l := range a.letters(st, sum) {
			list = append(list, a.watched(l, sum, mem))
		}
		if l := a.letterOf(st, sum); sum.Status == belay.Running && mem.Event == watch.NeedsYou && !slices.ContainsFunc(list, func(o letter) bool { return o.Root == sum.ID }) {
			l.Kind, l.Question = letterStalled, mem.Reason
			list = append(list, l)
		}
	}
	slices.SortStableFunc(list, func(x, y letter) int { return x.Since.Compare(y.Since) })
	return list, nil
}

// watched adds what the watch has decided about a run: one that it does not start
// again is no mere crash.
func (a *app) watched(l letter, sum journal.Summary, mem watch.Memory) letter {
	if l.Kind != letterCrashed {
		return l
	}
	switch mem.Event {
	case watch.RestartCap:
		l.Kind, l.Question, l.Then = letterRefused, mem.Reason, l.Command
		l.Command = story.Command{"clear", string(sum.ID), string(event.CountRestarts), "--why", "TEXT"}.Text(a.name())
	case watch.Stalemate, watch.NeedsYou:
		l.Kind, l.Question = letterRefused, mem.Reason
		if !l.lacks {
			l.Command = a.name() + " why " + string(sum.ID)
		}
	case watch.Running, watch.Stale, watch.Resumed, watch.AllDone, watch.Broken, watch.Reenter, watch.Failed, watch.Complete:
	}
	return l
}

// letterOf is a letter about a run, of no kind yet.
func (a *app) letterOf(st *journal.State, sum journal.Summary) letter {
	title, _ := titleOf(st.Folder(sum.ID), sum.Name)
	return letter{
		Run: sum.ID, Root: sum.ID, Recipe: sum.Name, Task: title, Dir: sum.Dir, Choices: []string{},
		Since: firstTime(sum.Ended, sum.Beat.At, sum.Updated, sum.Started).UTC(), Command: a.name() + " why " + string(sum.ID),
	}
}

// letters are what waits in one run. What the index says decides whether its
// journal is opened: how one ended is in the index.
func (a *app) letters(st *journal.State, sum journal.Summary) []letter {
	if st.Quiet(sum) {
		return nil
	}
	switch sum.Status {
	case belay.Held, belay.Running, belay.Parked, belay.Stopped, belay.Paused, journal.Unreadable:
		return a.opened(st, sum, a.letterOf(st, sum))
	case belay.Achieved, belay.Aborted: // nothing waits
		return nil
	case belay.Failed, belay.Partial, belay.Hollow, belay.NotAchieved, belay.Stalemate: // it ended, and a person should know
	}
	return []letter{a.resting(st, sum)}
}

// resting is the letter about a run that ended, or that a person let rest.
func (a *app) resting(st *journal.State, sum journal.Summary) letter {
	l := a.letterOf(st, sum)
	said := belay.Plain(sum.Reason)
	switch sum.Status {
	case belay.Hollow:
		l.Kind, l.Question = letterHollow, "an agent claimed success, and nothing was done, or nothing shows it: "+said
	case belay.Stalemate:
		l.Kind, l.Question = letterStuck, stuckQuestion(said)
	case belay.Failed, belay.NotAchieved:
		l.Kind, l.Question = letterFailed, cmp.Or(said, "it ended as "+string(sum.Status))
	case belay.Partial:
		l.Kind, l.Question = letterPartial, cmp.Or(said, "a part of it is missing")
	case belay.Stopped:
		l.Kind, l.Question = letterStopped, cmp.Or(said, "it was stopped")
	case belay.Paused:
		l.Kind, l.Question = letterPaused, cmp.Or(said, "it was paused")
	case belay.Achieved, belay.Aborted, belay.Held, belay.Running, belay.Parked: // see letters
	}
	if sum.Times > 1 {
		l.Times = sum.Times
		l.Question += fmt.Sprintf(" (%d runs in a row)", sum.Times)
	}
	if story.KeepsInInbox(sum.Status) == "" {
		l.Clear = story.Clear(sum.ID, event.CountInbox).Text(a.name())
	}
	return l
}

// say puts what to type next into a letter.
func (l *letter) say(next story.Next, name string) {
	if len(next.Commands) == 0 {
		return
	}
	l.Command = next.Commands[0].Text(name)
	if len(next.Commands) > 1 {
		l.Then = next.Commands[1].Text(name)
	}
}

// opened looks into the journal of a run that may have asked something.
func (a *app) opened(st *journal.State, sum journal.Summary, l letter) []letter {
	s, err := tell(st, string(sum.ID))
	if err != nil && (sum.Status == belay.Running || sum.Status == journal.Unreadable) && !st.Begun(sum.ID) {
		return nil // nothing of it was done, and there is nothing to go on with: gc removes it
	}
	if err != nil && (sum.Status == belay.Stopped || sum.Status == belay.Paused) {
		return []letter{a.resting(st, sum)} // whoever goes on with it is told
	}
	if err != nil {
		l.Kind, l.Question = letterDamaged, "its journal cannot be read: "+err.Error()
		l.Command = a.name() + " audit " + string(sum.ID)
		return []letter{l}
	}
	defer func() { _ = s.close() }() // read only: nothing to lose
	goes := s.Tree.Status() == belay.Parked || s.Tree.Status() == belay.Running && !s.crashed()
	if rests := sum.Status == belay.Stopped || sum.Status == belay.Paused; goes && !rests && len(s.Questions(s.steps(), time.Now())) == 0 {
		return nil // what to type about it need not be found
	}
	s.lacks = a.lacks(s.Tree.Started().Given)
	l.lacks = len(s.lacks) > 0
	acc := s.Account(sum.ID, s.facts(time.Now()))
	var list []letter
	for _, w := range waitings(acc.Asked, a.name()) {
		q := l
		q.Kind, q.Run, q.Step, q.Name, q.Item = letterQuestion, w.Run, w.Step, w.Name, w.Item
		q.Question, q.Choices, q.Since, q.Command, q.Then = w.Question, w.Choices, w.Since, w.Command, w.Then
		q.Who, q.Until, q.OnTimeout, q.TimedOut = w.Who, w.Until, w.OnTimeout, w.TimedOut
		if w.About == string(event.ItemApproval) {
			q.Kind = letterApproval
		}
		if w.About == string(event.ItemInput) {
			q.Kind = letterInput
			q.Others = append(q.Others, w.Command)
		}
		if w.About != "" {
			for _, c := range w.Choices {
				q.Others = append(q.Others, w.command(a.name(), c))
			}
		}
		list = append(list, q)
	}
	status := story.Status(s.Tree)
	l.Since = s.Last.UTC()
	l.say(acc.Next, a.name())
	room := ""
	if acc.Disk != "" {
		room = "; first free space on " + acc.Disk
	}
	switch {
	case sum.Status == belay.Stopped || sum.Status == belay.Paused:
		return a.restingWith(st, sum, acc.Next, list)
	case status.Terminal() || status == belay.Stopped || status == belay.Paused: // its driver died before it could say so in the index
		sum.Status, sum.Ended = status, l.Since
		if s.Rest != nil {
			sum.Reason = s.Rest.Reason
		}
		if status == belay.Achieved || status == belay.Aborted {
			return nil
		}
		return a.restingWith(st, sum, acc.Next, list)
	case len(list) == 0 && s.Tree.HeldFor() != "":
		l.Kind, l.Question = letterHeld, s.Tree.HeldFor()
	case len(list) > 0 || !s.crashed():
		return list
	case sum.Status == belay.Held:
		l.Kind, l.Question = letterDecided, story.DecidedReason+room
	default:
		l.Kind, l.Question = letterCrashed, "its driver died before the run ended"+room
	}
	return []letter{l}
}

// restingWith are the letters about a run that a person let rest: what it asked can be
// answered before it goes on, and stands for the run.
func (a *app) restingWith(st *journal.State, sum journal.Summary, next story.Next, asked []letter) []letter {
	rest := a.resting(st, sum)
	if len(asked) == 0 {
		if !sum.Status.Terminal() { // of one that ended a page tells more than a line
			rest.say(next, a.name())
		}
		return []letter{rest}
	}
	for i := range asked {
		asked[i].Rests, asked[i].Clear = rest.Question, rest.Clear
	}
	return asked
}

func stuckQuestion(reason string) string {
	text := "it made no progress, and continues only when somebody acts"
	if reason != "" {
		text += ": " + reason
	}
	return text
}

func firstTime(times ...time.Time) time.Time {
	for _, t := range times {
		if !t.IsZero() {
			return t
		}
	}
	return time.Time{}
}

func (a *app) lettersOut(list []letter) {
	p := &page{sheet: a.sheet()}
	for i, l := range list {
		if i > 0 {
			p.whole("")
		}
		what := string(l.Root) + " (" + l.Recipe + ")"
		if l.Name != "" {
			what += " " + l.Name
		}
		p.text("", string(l.Kind)+": "+what+", since "+l.Since.Local().Format(time.DateTime)+" ("+ago(time.Since(l.Since))+")")
		if l.Task != "" {
			p.text("  task: ", l.Task)
		}
		p.text("  ", l.Question)
		if text := timeoutWords(l.Until, l.OnTimeout, l.TimedOut, time.Now()); text != "" {
			p.text("  ", text)
		}
		if l.Rests != "" {
			p.text("  the run rests: ", l.Rests)
		}
		if len(l.Who) > 0 && !l.TimedOut {
			p.text("  ", "for "+strings.Join(l.Who, ", ")+" to answer")
		}
		cmds := l.Others
		if len(cmds) == 0 {
			cmds = []string{l.Command}
		}
		for _, c := range cmds {
			p.whole("  " + readable.Clean(c))
		}
		if l.Then != "" {
			p.whole("  then " + readable.Clean(l.Then))
		}
		if l.Clear != "" {
			p.whole("  to take it off this list: " + readable.Clean(l.Clear))
		}
	}
	a.out.lines(p.lines)
}
