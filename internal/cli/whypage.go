package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/internal/tui"
	"github.com/belay-run/belay/story"
	"github.com/belay-run/belay/verdict"
)

// page writes the facts for a person who has just got up: how it stands, what
// failed, what was tried, what it cost, what there is, and what to type now.
func (w *whyFacts) page(on sheet) []string {
	p := &page{sheet: on, named: w.named}
	p.text("", w.Verdict)
	w.taskPart(p)
	w.failurePart(p)
	w.triedPart(p)
	w.stepsPart(p)
	w.workPart(p)
	w.costPart(p)
	w.blockedPart(p)
	w.waitsPart(p)
	w.nextPart(p)
	return p.lines
}

// verdict is how the run stands in one sentence.
func (w *whyFacts) verdict() string {
	run := fmt.Sprintf("run %s (%s)", w.Run, w.Recipe)
	ended := "at " + w.when(w.Ended) + ", after " + readable.Took(w.wall())
	code := 0
	if w.ExitCode != nil {
		code = *w.ExitCode
	}
	switch w.Status {
	case belay.Achieved:
		how := "done"
		if w.Task != nil && w.Task.of.Planned {
			return fmt.Sprintf("PLANNED, exit %d: %s made its plan %s", code, run, ended)
		}
		if w.Task != nil {
			how = "done, with evidence for every criterion,"
		} else if len(w.Steps.Back) > 0 {
			how = "done, but for what was rolled back,"
		} else if len(w.Taken) > 0 {
			how = "done, in part on a person's word,"
		} else if len(w.Answered) > 0 {
			how = "done, in part by answers that nobody checked,"
		} else if w.Steps.Unproven > 0 {
			how = "done, in part by a recovery that nobody checked,"
		}
		return fmt.Sprintf("ACHIEVED, exit %d: %s was %s %s", code, run, how, ended)
	case belay.Failed:
		return fmt.Sprintf("FAILED, exit %d: %s ended %s", code, run, ended)
	case belay.Partial:
		return fmt.Sprintf("PARTIAL, exit %d: %s ended %s; %s", code, run, ended, cmp.Or(belay.Plain(w.Reason), "a required step was left out"))
	case belay.Hollow:
		how := "nothing was done"
		if w.Failure != nil && w.Failure.Rule == verdict.RuleUnshown {
			how = "the check of it shows nothing"
		}
		return fmt.Sprintf("HOLLOW, exit %d: %s ended %s; an agent claimed success, and %s", code, run, ended, how)
	case belay.NotAchieved:
		return fmt.Sprintf("NOT_ACHIEVED, exit %d: %s ended %s; %s", code, run, ended, belay.Plain(w.Reason))
	case belay.Stalemate:
		if w.refused != nil {
			return fmt.Sprintf("STALEMATE, exit %d: %s ended %s; its plan was not approved: %s", code, run, ended, w.refused.Why)
		}
		return fmt.Sprintf("STALEMATE, exit %d: %s ended %s; the next try would be the last one again: %s", code, run, ended, belay.Plain(w.Reason))
	case belay.Aborted:
		return fmt.Sprintf("ABORTED, exit %d: %s was %s %s", code, run, cmp.Or(w.Reason, "cancelled"), ended)
	case belay.Held:
		if w.Reason != "" {
			return fmt.Sprintf("HELD, exit %d: %s ran for %s; %s", code, run, readable.Took(w.wall()), w.Reason)
		}
		if w.decided {
			return fmt.Sprintf("HELD, exit %d: %s ran for %s; all is answered, and it goes on when it is resumed", code, run, readable.Took(w.wall()))
		}
		return fmt.Sprintf("HELD, exit %d: %s ran for %s and waits for a person since %s", code, run, readable.Took(w.wall()), w.when(w.Ended))
	case belay.Stopped:
		return fmt.Sprintf("STOPPED: %s was %s %s; it can go on", run, cmp.Or(w.Reason, "stopped"), ended)
	case belay.Parked:
		return fmt.Sprintf("PARKED: %s has run for %s and is parked%s", run, readable.Took(w.wall()), w.parked)
	case belay.Paused:
		return fmt.Sprintf("PAUSED: %s was %s %s; it can go on", run, cmp.Or(w.Reason, "paused"), ended)
	case belay.Running:
		if w.Crashed {
			return fmt.Sprintf("LOST: belay itself died under %s; last sign %s; it can go on", run, ended)
		}
		if w.pausing != "" {
			return fmt.Sprintf("RUNNING: %s has run for %s; %s paused it: what runs goes on to its end, and nothing else starts", run, readable.Took(w.wall()), w.pausing)
		}
		if w.waiting != "" {
			return fmt.Sprintf("RUNNING: %s began %s ago and is %s", run, readable.Took(w.wall()), w.waiting)
		}
		return fmt.Sprintf("RUNNING: %s has run for %s", run, readable.Took(w.wall()))
	}
	return run
}

// when is a time of the past and how long ago it was; today's needs no date.
func (w *whyFacts) when(t time.Time) string {
	t, form := w.local(t), time.DateTime
	if t.Format(time.DateOnly) == w.now.Format(time.DateOnly) {
		form = time.TimeOnly
	}
	return t.Format(form) + " (" + ago(w.now.Sub(t)) + ")"
}

// local is a time on the reader's clock.
func (w *whyFacts) local(t time.Time) time.Time { return t.In(w.now.Location()) }

// ago is how long ago something was: what matters is its size.
func ago(d time.Duration) string {
	if d < time.Minute {
		return "just now"
	}
	if days := int(d.Hours() / 24); days >= 2 {
		return fmt.Sprintf("%d days ago", days)
	}
	return readable.Took(d) + " ago"
}

// failurePart is the root cause and how it is known.
func (w *whyFacts) failurePart(p *page) {
	f := w.Failure
	if f == nil {
		return
	}
	p.head(f.title(w.Status.Terminal()))
	p.text("  ", f.Name+": "+belay.Plain(f.Cause))
	p.text("  ", f.facts(w.clock))
	if text := f.classified(w.ids); text != "" {
		p.text("  ", text)
	}
	if f.First != "" {
		p.text("  ", "at first it was another failure: "+belay.Plain(f.First))
	}
	if len(f.Above) > 0 {
		p.text("  ", w.around(f))
	}
	if f.Back {
		p.text("  ", "its fallback was done: "+verdict.BackWords)
	}
	if f.Others > 0 {
		p.text("  ", fmt.Sprintf("it failed first; %s failed by %s", readable.Many(f.Others, "more step"), self(f.Others)))
	}
	if against := f.telling(); len(against) > 0 {
		p.text("  what speaks against it: ", strings.Join(against[:min(len(against), 3)], "; "))
	}
	if f.Hint != "" && (w.Task == nil || f.Hint == f.Class.Row().Hint) { // others are for who writes recipes
		p.text("  hint: ", f.Hint)
	}
	if len(f.Output) > 0 {
		p.text("  ", "the last lines of "+printedBy(f.Printed)+":")
		p.quoted(f.Output)
		p.whole("  all of it: " + w.typed(story.Logs(story.Place{Run: f.Run, Path: belay.Path(f.Step)})))
	} else if f.Step != "" {
		p.whole("  more: " + w.typed(story.Show(story.Place{Run: f.Run, Path: belay.Path(f.Step)})))
	}
}

// around says which steps the failing one is a part of.
func (w *whyFacts) around(f *whyFailure) string {
	if slices.Contains(w.Steps.Failed, f.Above[0]) {
		return "because of it failed, too: " + strings.Join(f.Above, ", ")
	}
	return "it is a part of " + strings.Join(f.Above, ", ")
}

func (f *whyFailure) title(over bool) string {
	switch {
	case f.Kind == "" && over:
		return "WHAT IS NOT KNOWN"
	case f.Kind == "":
		return "WHAT HOLDS IT"
	case !f.Final:
		return "WHAT FAILED, AND IS TRIED AGAIN"
	}
	return "WHAT FAILED"
}

// telling is the evidence against an agent that the cause does not name already.
func (f *whyFailure) telling() []string {
	if !f.Type.Agent() {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(f.Against), func(s string) bool { return strings.Contains(f.Cause, s) })
}

func self(n int) string {
	if n == 1 {
		return "itself"
	}
	return "themselves"
}

func printedBy(who string) string {
	switch who {
	case "agent":
		return "what the agent said"
	case "check":
		return "its check (verify)"
	}
	return "what it printed"
}

// facts are the type of the step, its attempts and its time.
func (f *whyFailure) facts(clock func(time.Time) string) string {
	words := []string{f.who()}
	if f.Type == belay.TypeApprove && f.Kind == "" {
		words[0] = "the step is an approval: it waits for the answer of a person"
	}
	if f.Attempts > 0 && f.Type != belay.TypeApprove {
		words = append(words, readable.Many(f.Attempts, "attempt"))
	}
	if !f.At.IsZero() {
		at := "failed at "
		if f.Attempts > 1 {
			at = "first failure at "
		}
		if f.Kind == "" {
			at = "since "
		}
		words = append(words, at+clock(f.At))
	}
	return joined(words, ", ")
}

// classified is what kind of failure it is, and how that is known; with ids also by the
// names that the records have for it.
func (f *whyFailure) classified(ids bool) string {
	known, how := f.Class.Row().Words, f.Decided
	switch {
	case known == belay.ClassUnknown.Row().Words:
		known = ""
	case f.Rule == verdict.RuleUnshown:
		known = "nothing shows the work"
	}
	if !ids {
		if f.Step == "" && f.Level == belay.LevelAct { // its recipe gave that status, and says why
			return ""
		}
		if f.Rule == belay.RuleDeclared || f.Rule == belay.RulePerson && f.Type.Asks() || f.Type.Child() { // it says nothing by itself
			return ""
		}
		if f.Level == belay.LevelText && known != "" {
			known = "possible cause: " + known
		}
		if known == "" || how == "" {
			return known + how
		}
		return known + " (" + how + ")"
	}
	what := prefixed("class ", string(f.Class))
	if f.Class != belay.ClassNone && known != "" {
		what += " (" + known + ")"
	}
	if how != "" && f.Rule != "" {
		how += " (rule " + f.Rule + ")"
	}
	return joined([]string{joined([]string{prefixed("kind ", string(f.Kind)), what}, ", "), how, prefixed("fingerprint ", short(f.Print))}, "; ")
}

// joined leaves out what is empty.
func joined(words []string, with string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(words), func(s string) bool { return s == "" }), with)
}

// How many moments the page has: the first and the last ones.
const (
	firstMoments = 4
	lastMoments  = 7
)

func (w *whyFacts) triedPart(p *page) {
	if len(w.Tried) == 0 {
		return
	}
	p.head("WHAT HAPPENED")
	list := w.Tried
	hidden := func(i int) bool { // that somebody stood in is told in every case
		return len(list) > firstMoments+lastMoments+1 && i >= firstMoments && i < len(list)-lastMoments && list[i].What != didStandIn
	}
	left := 0
	for i := range list {
		if hidden(i) {
			left++
		}
	}
	for i := range list {
		if left > 0 && i == firstMoments {
			p.whole(fmt.Sprintf("  … %d more: %s history %s", left, w.belay, w.Run))
		}
		if !hidden(i) {
			w.moment(p, &list[i])
		}
	}
}

func (w *whyFacts) moment(p *page, m *moment) {
	text := m.words(w.Failure)
	if m.Step != "" {
		text = m.Step + ": " + text
	}
	head := "  " + w.clock(m.At) + "  "
	p.text(head, text)
	under := strings.Repeat(" ", readable.Width(head)+2)
	if w.ids {
		for _, r := range m.Refused {
			p.text(under, fmt.Sprintf("not %s: %s", r.Act.Row().Words, r.Why))
		}
	}
}

// words are what happened: of a recovery first the failure that it was for. The failure
// of the run stands above, and is not told again.
func (m *moment) words(above *whyFailure) string {
	if m.met != nil {
		return m.met.Words(m.from)
	}
	text, why := m.Text, belay.Plain(m.Why)
	if m.Times > 1 {
		text = fmt.Sprintf("%d × %s", m.Times, text)
	}
	if above != nil {
		why = strings.TrimSuffix(why, ": "+strings.Join(strings.Fields(belay.Plain(above.Cause)), " "))
	}
	if why != "" {
		text += ": " + why
	}
	return text
}

// clock is a time of the run's first day, or with its date.
func (w *whyFacts) clock(t time.Time) string {
	t = w.local(t)
	if t.Format(time.DateOnly) != w.local(w.Started).Format(time.DateOnly) {
		return t.Format("01-02 15:04:05")
	}
	return t.Format(time.TimeOnly)
}

func (w *whyFacts) stepsPart(p *page) {
	s := w.Steps
	p.head("STEPS")
	words := tui.Good(s)
	if len(words) == 0 {
		words = []string{"0 done"}
	}
	words[0] = strings.Replace(words[0], " ", fmt.Sprintf(" of %d ", s.Total-s.NotTaken), 1)
	for _, part := range []struct {
		word string
		list []string
	}{
		{"failed", s.Failed}, {"optional failed", s.Optional}, {"held", s.Held}, {"left out", s.LeftOut},
		{story.BackWord, s.Back}, {"not finished", s.Open}, {"waiting for a service", s.Waiting}, {"not reached", s.Unborn},
	} {
		if len(part.list) > 0 {
			words = append(words, fmt.Sprintf("%d %s (%s)", len(part.list), part.word, names(part.list)))
		}
	}
	if n := s.NotTaken - s.Spare; n > 0 {
		words = append(words, fmt.Sprintf("%d more not taken", n))
	}
	if s.Spare > 0 {
		words = append(words, readable.Many(s.Spare, "fallback")+" not needed")
	}
	p.text("  ", strings.Join(words, ", "))
	w.takenPart(p)
	w.judgingPart(p)
}

// blockedPart says what a step waits for that is nobody's question.
func (w *whyFacts) blockedPart(p *page) {
	if len(w.Blocked) == 0 {
		return
	}
	const shown = 3
	p.head("WAITS FOR A SERVICE")
	for i, b := range w.Blocked {
		if i == shown {
			p.whole(fmt.Sprintf("  … %d more steps", len(w.Blocked)-shown))
			break
		}
		p.text("  "+w.clock(b.Since)+"  ", fmt.Sprintf("%s: %s; it is asked again at %s", b.Step, b.Why, w.clock(b.Until)))
	}
}

func (w *whyFacts) waitsPart(p *page) {
	if len(w.Waits) == 0 {
		return
	}
	const shown = 3
	head := "TIMED OUT"
	if slices.ContainsFunc(w.Waits, func(q waiting) bool { return !q.TimedOut }) {
		head = "WAITS FOR YOU"
	}
	p.head(head)
	for i := range w.Waits {
		if i == shown {
			p.whole(fmt.Sprintf("  … %d more: %s inbox", len(w.Waits)-shown, w.belay))
			break
		}
		q := &w.Waits[i]
		p.text("  "+w.clock(q.Since)+"  ", q.Name+": "+q.Question)
		if text := timeoutWords(q.Until, q.OnTimeout, q.TimedOut, w.now); text != "" {
			p.text("    ", text)
		}
		var rows [][]string
		for _, c := range q.Choices {
			rows = append(rows, []string{"    " + q.command(w.belay, c), prefixed("# ", q.choiceWords(c))})
		}
		for _, l := range tui.Table(rows) {
			p.whole(l)
		}
	}
}

func (w *whyFacts) nextPart(p *page) {
	p.head("NEXT")
	p.text("  ", w.Next.Say)
	if w.Next.Fix != "" {
		p.whole("    " + readable.Clean(w.Next.Fix))
	}
	for _, c := range w.Next.Commands {
		if len(w.Waits) > 0 && !w.Waits[0].TimedOut && c == w.Waits[0].Command {
			continue // it stands above, with every choice
		}
		p.whole("    " + c)
	}
}
