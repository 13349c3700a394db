package receipt

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/recipe"
	"github.com/belay-run/belay/story"
)

// Markdown is the receipt as lines of Markdown.
func (r *Receipt) Markdown() []string {
	p := &page{named: r.named}
	r.head(p)
	r.checkPart(p)
	r.criteriaPart(p)
	r.testsPart(p)
	r.answerPart(p)
	r.changesPart(p)
	r.judgingPart(p)
	r.unprovenPart(p)
	r.leftPart(p)
	r.commandsPart(p)
	r.troublesPart(p)
	r.stepsPart(p)
	r.costPart(p)
	return p.lines
}

func (r *Receipt) head(p *page) {
	status := story.StatusWord(r.Status, r.Task != nil && r.Task.Planned)
	if r.Crashed {
		status = "LOST"
	}
	p.lines = append(p.lines, "# Receipt of run "+string(r.Run)+": "+status)
	rest := ""
	if r.Code != nil {
		rest = fmt.Sprintf(", exit %d", *r.Code)
	}
	p.line("")
	if r.Task != nil {
		for _, w := range r.Task.Warnings {
			p.line("- **warning**: %s", p.plain(w))
		}
	}
	if r.UserCheckout.Warns() {
		p.line("- **warning**: %s", p.plain(r.UserCheckout.Words(namedInCheckout)))
		for _, words := range r.UserCheckout.Taken() {
			p.line("- **warning**: %s", p.plain(words))
		}
	}
	if t := r.Task; t != nil {
		p.line("- task: %s", t.words())
		if t.Goal != "" {
			p.line("- goal: %s", p.plain(t.Goal))
		}
		if t.Verdict != "" {
			p.line("- verdict: %s%s", p.plain(t.Verdict), roundWords(t))
		}
	}
	if r.Reason != "" && r.Status != belay.Achieved && (r.Task == nil || !strings.Contains(r.Task.Verdict, r.Reason)) {
		p.line("- reason: %s", p.plain(belay.Plain(r.Reason)))
	}
	where := inBrackets(code(r.File))
	if strings.HasPrefix(r.File, recipe.Shipped+"/") {
		where = " (built in)"
	}
	p.line("- recipe: %s%s", p.plain(r.Recipe), where)
	for _, name := range slices.Sorted(maps.Keys(r.Instead)) {
		p.line("- %s is not the shipped recipe but %s", p.plain(name), code(r.Instead[name]))
	}
	p.line("- directory: %s", code(r.Dir))
	p.line("- started %s, %s after %s%s", stamp(r.Started), ended(r), readable.Took(time.Duration(r.Cost.WallMS)*time.Millisecond), rest)
	if h := r.Housed; h != nil {
		p.line("- files: %s on host %s%s; %s", code(h.Dir), p.plain(h.Host), prefixed(", a clone of ", p.plain(h.Clone)), h.lacks())
	}
	if r.Died > 0 {
		p.line("- driven by %d processes; %d died and the run went on", r.Drivers, r.Died)
	}
}

func roundWords(t *Task) string {
	if t.Rounds < 2 {
		return ""
	}
	return fmt.Sprintf(", round %d of %d", t.Round, t.Rounds)
}

func ended(r *Receipt) string {
	switch {
	case r.Ended.IsZero():
		return "not ended"
	case r.Status.Terminal():
		return "ended"
	case r.Status == belay.Held:
		return "held"
	}
	return "paused"
}

func (r *Receipt) checkPart(p *page) {
	c := r.Check
	if c == nil {
		return
	}
	p.head("Checks run again: " + c.Verdict)
	rows := [][]string{{"check", "verdict", "seen", "where"}}
	for _, a := range c.Checks {
		where := code(a.Dir)
		if a.Commit != "" {
			where = p.plain(a.Where)
		}
		rows = append(rows, []string{p.plain(a.Step) + prefixed(": ", code(a.Check)), a.Verdict, p.plain(a.Text), where})
	}
	if len(c.Checks) == 0 {
		p.line("No check that passed is on record: there is nothing to run again.")
	} else {
		p.table(rows)
	}
	for _, dir := range c.Changed {
		p.line("")
		p.line("The checks changed files in %s.", code(dir))
	}
}

func (r *Receipt) criteriaPart(p *page) {
	if len(r.Criteria) == 0 {
		return
	}
	p.head("Criteria")
	rows := [][]string{{"id", "criterion", "verdict", "evidence"}}
	for _, c := range r.Criteria {
		rows = append(rows, []string{p.plain(c.ID), p.plain(c.Text), c.Verdict, c.proof()})
	}
	p.table(rows)
}

// testsPart says whether the tests of the repository passed on what is left.
func (r *Receipt) testsPart(p *page) {
	if r.Task == nil || r.Task.Tests == nil {
		return
	}
	t, on := r.Task.Tests, ""
	if t.Commit != "" {
		on = fmt.Sprintf(" on a copy of %.12s", t.Commit)
	}
	p.line("")
	switch {
	case t.Passed && t.Before:
		p.line("The test command of the repository exited 0%s. Its output counts no test, and before the work it counted some.", on)
	case t.Passed:
		p.line("The tests of the repository passed%s.", on)
	default:
		p.line("The tests of the repository did not pass%s: %s", on, p.plain(t.Why))
	}
	old := r.Task.OldTests
	if old != nil && len(old.Written) > 0 {
		how := "the tests pass, too."
		if old.Fails != "" {
			how = "the tests do not pass: " + p.plain(old.Fails)
		}
		p.line("After write-tests, other steps changed %s. With it as it was written, %s", p.plain(strings.Join(old.Written, ", ")), how)
	}
	if old != nil && len(old.Files) > 0 {
		how := "The tests pass with these as they were before, too."
		if !old.Passed {
			how = "With these as they were before, the tests do not pass: " + p.plain(old.Why)
		}
		p.line("The work changed files of the tests: %s. %s", p.plain(strings.Join(old.Files, ", ")), how)
	}
}

// proof is what the verdict about a criterion rests on.
func (c *Criterion) proof() string {
	text := plain(c.Evidence)
	if c.Check == "" {
		return text
	}
	check := "check " + code(readable.Command(c.Check))
	switch {
	case c.Exit == nil:
		check += " was not run"
	case c.CheckDir != "":
		check += fmt.Sprintf(" exited %d on the files of %s", *c.Exit, code(c.CheckDir))
	case c.Commit != "":
		check += fmt.Sprintf(" exited %d on a copy of %.12s", *c.Exit, c.Commit)
	default:
		check += fmt.Sprintf(" exited %d", *c.Exit)
	}
	if text == "" || text == "its check passed" || text == "its check failed" {
		return check
	}
	return text + "; " + check
}

// answerPart is the answer itself, word for word: as code, so that nothing of it is
// taken for a part of the receipt and nobody is called by it.
func (r *Receipt) answerPart(p *page) {
	if r.Task == nil || r.Task.Answer == "" {
		return
	}
	p.head("Answer")
	for line := range strings.SplitSeq(strings.TrimSpace(r.Task.Answer), "\n") {
		p.line("    %s", readable.Clean(line))
	}
}

func (r *Receipt) stepsPart(p *page) {
	p.head("Steps")
	rows := [][]string{{"step", "status", "evidence"}}
	for _, s := range r.Steps {
		var words []string
		for _, e := range s.Evidence {
			if r.Task == nil || !saysNothing(e) {
				words = append(words, p.about(s.Step, belay.Plain(e)))
			}
		}
		for _, e := range s.Against {
			if !strings.HasPrefix(e, "child run ") { // how that ended is no evidence against it
				but := ""
				if len(words) > 0 {
					but = "but "
				}
				words = append(words, but+p.about(s.Step, belay.Plain(e)))
			}
		}
		dull := r.Task != nil && len(words) == 0 && slices.Contains([]string{"done", story.AnsweredWord, notReached}, s.Verdict)
		if s.Verdict == notTaken || dull || s.Verdict == "done" && s.Type == string(belay.TypeCall) {
			continue
		}
		verdict := s.Verdict
		if s.Optional && !s.done() { // then it matters that the run can do without it
			verdict += " (optional)"
		}
		rows = append(rows, []string{p.plain(s.Step), verdict, strings.Join(words, "; ")})
	}
	p.table(rows)
	if len(r.Steps)+1 > len(rows) {
		p.line("")
		p.line("Not listed: steps whose condition was false, answers that nobody checked, and steps that left no evidence.")
	}
}

// saysNothing tells evidence that is true of every step of a task that ended.
func saysNothing(evidence string) bool {
	return evidence == "exit 0" || evidence == "child run ACHIEVED" || strings.HasPrefix(evidence, "an answer of ")
}

func (r *Receipt) judgingPart(p *page) {
	if len(r.Judging) == 0 {
		return
	}
	p.head("Changed test and CI files: review these first")
	for _, j := range r.Judging {
		for _, f := range j.Files {
			p.line("- %s: %s %s +%d −%d", p.plain(cmp.Or(j.Step, "Belay did not see who")), code(f.Path), string(f.Change), f.Added, f.Deleted)
		}
	}
}

func (r *Receipt) troublesPart(p *page) {
	p.head("Failures, recoveries and questions")
	if len(r.Troubles) == 0 {
		p.line("No step failed.")
	}
	for _, t := range r.Troubles {
		if r.repeats(t) {
			continue
		}
		p.line("- %s%s", p.plain(cmp.Or(t.Step, "the run")), prefixed(": ", t.Verdict))
		failed := ""
		for i := range t.Moments {
			m := &t.Moments[i]
			if i+1 < len(t.Moments) && m.toldBy(t.Moments[i+1]) {
				continue
			}
			text := m.words()
			if m.What == failedWord {
				_, failed, _ = strings.Cut(text, " failed: ")
			} else if failed != "" {
				text = strings.TrimSuffix(text, ": "+failed) // it stands above
			}
			p.line("  - %s %s", m.At.UTC().Format(time.TimeOnly), p.about(t.Step, text))
		}
		if t.More > 0 {
			p.line("  - … and %d more", t.More)
		}
	}
}

// repeats tells whether a trouble is only that of a step inside, told again by the
// step around it.
func (r *Receipt) repeats(t Trouble) bool {
	inner := func(o Trouble) bool { return t.Step != "" && strings.HasPrefix(o.Step, t.Step+"/") }
	own := func(m Moment) bool { return m.What != failedWord && m.What != belay.ActGiveUp.Row().Words }
	return slices.ContainsFunc(r.Troubles, inner) && !slices.ContainsFunc(t.Moments, own)
}

func (r *Receipt) unprovenPart(p *page) {
	p.head("What is unproven")
	if len(r.Unproven) == 0 {
		p.line("%s", r.provenWords(p))
	}
	var answered, failed names
	for _, u := range r.Unproven {
		switch {
		case u.Kind == story.AnsweredWord:
			answered.add(r.stepWord(u.What))
			continue
		case u.Kind == "optional" && r.Task != nil:
			failed.add(r.stepWord(u.What))
			continue
		}
		p.line("- %s: %s: %s", p.plain(u.What), u.Kind, p.about(u.What, belay.Plain(u.Text)))
	}
	if len(failed.list) > 0 {
		p.line("- failed, and the run went on without: %s", p.plain(strings.Join(failed.list, ", ")))
	}
	if len(answered.list) > 0 {
		p.line("- answers that nobody checked: %s", p.plain(strings.Join(answered.list, ", ")))
	}
}

// stepWord is the name of a step: of a task its own alone, for they are the same in
// each round.
func (r *Receipt) stepWord(step string) string {
	if r.Task == nil {
		return step
	}
	return step[strings.LastIndexByte(step, '/')+1:]
}

func (r *Receipt) costPart(p *page) {
	c := r.Cost
	p.head("Cost")
	used := "no agent was started"
	if c.Starts > 0 {
		used = fmt.Sprintf("%s, %s", story.StartsWords(c.Starts, c.Allowed), cmp.Or(readable.Used(c.Usage), "tokens and dollars unknown"))
	}
	p.line("- %s; %s", readable.Took(time.Duration(c.WallMS)*time.Millisecond), used)
	if len(c.Agents) > 1 {
		for _, a := range c.Agents {
			p.line("  - %s: %s%s, worked %s", p.plain(a.Agent), readable.Many(a.Starts, "start"), prefixed(", ", readable.Used(a.Usage)), readable.Took(a.Wall()))
		}
	}
	if c.Replans > 0 {
		p.line("- %s", story.RecoveriesWords(c.Replans, c.MaxPlan))
	}
	if t := c.Together; t != nil {
		p.line("- with all runs that belong to it: %s%s", story.StartsWords(t.Starts, t.Allowed),
			prefixed(", ", readable.Used(belay.Usage{Input: t.Tokens, MicroUSD: t.MicroUSD})))
	}
}

func (r *Receipt) leftPart(p *page) {
	l := r.Left
	p.head("Left behind")
	from := len(p.lines)
	if h := r.Housed; h != nil {
		p.line("- files of the run: %s on host %s", code(h.Dir), p.plain(h.Host))
	}
	for _, h := range l.Held {
		p.line("- %s waits for a person: %s", p.plain(h.Step), p.about(h.Step, h.Ask))
	}
	for i := range l.Issues {
		p.line("- issue: %s", p.plain(l.Issues[i].Words()))
	}
	for i := range l.Findings {
		p.line("- blocking finding of the review: %s", p.plain(l.Findings[i].Words()))
	}
	if len(l.Unfinished) > 0 && r.Status != belay.Achieved && (r.Task == nil || r.Task.Verdict == "") {
		p.line("- not finished or not reached: %s", p.plain(strings.Join(l.Unfinished, ", ")))
	}
	for _, b := range l.Branches {
		switch {
		case b.Empty:
			p.line("- branch %s, with no commit on it", code(b.Branch))
		case b.NotTaken:
			p.line("- branch %s has work of %s that is not part of the result", code(b.Branch), p.plain(b.Step))
		default:
			p.line("- work of %s is on branch %s", p.plain(cmp.Or(b.Step, "the run")), code(b.Branch))
		}
	}
	for _, w := range l.Worktrees {
		p.line("- worktree of %s: %s", p.plain(cmp.Or(w.Step, "the run")), code(w.Dir))
	}
	if l.work != "" {
		p.line("- branch %s, that the agents worked on", code(l.work))
	}
	l.snapshots(p, from)
	if len(p.lines) == from {
		p.line("Nothing.")
	}
}

// snapshots are those of uncommitted work with their names, and how many there are of work
// that is committed.
func (l *Left) snapshots(p *page, from int) {
	committed := 0
	for _, s := range l.Snapshots {
		switch {
		case s.Committed:
			committed++
		case s.Before:
			p.line("- uncommitted work from before %s is kept as %s", p.plain(s.Step), code(s.Ref))
		default:
			p.line("- uncommitted work after %s is kept as %s", p.plain(s.Step), code(s.Ref))
		}
	}
	const cure = "%s of work that is already committed: %s removes them"
	switch text := fmt.Sprintf(cure, readable.Many(committed, "snapshot"), code("belay gc --yes")); {
	case committed == 0:
	case len(p.lines) == from:
		p.line("Only %s.", text)
	default:
		p.line("- %s", text)
	}
}

func (r *Receipt) commandsPart(p *page) {
	p.head("How to look")
	p.commands(r.Look)
	list := r.goOnWords()
	for _, b := range r.Left.Branches {
		if !b.NotTaken && !b.Empty {
			list = append(list, Command{"merge the work of " + cmp.Or(b.Step, "the run"), b.Take})
		}
	}
	if list = append(list, r.Take...); len(list) > 0 {
		p.head("How to go on")
		p.commands(list)
	}
	p.head("How to undo")
	if len(r.Undo) > 0 {
		p.commands(r.Undo)
	}
	for _, n := range r.NoUndo {
		p.line("- %s", p.plain(n))
	}
	switch {
	case len(r.Undo)+len(r.NoUndo) > 0:
	case len(r.Changes.Unseen) > 0:
		p.line("Whether something is left to undo is not known: changes were not recorded.")
	default:
		p.line("Nothing that Belay saw is left to undo.")
	}
}

// goOnWords are the commands of advice with words for it.
func (r *Receipt) goOnWords() []Command {
	words := map[story.Advice]string{
		story.StartNew: "start a new run: this one was cancelled", story.Adopt: "go on: its driver died",
		story.AnswerNow: "answer", story.WaitService: "when the service is back", story.WaitWatch: "do not wait for its time", story.WakeIt: "no watch wakes it: go on",
		story.FreeDisk: "make room on the disk, then go on", story.StartOver: "a new run: nothing of this one would run again",
		story.Watch: "watch it", story.AnswerFirst: "answer", story.GoOn: "go on",
		story.Answered: "go on", story.LookAtWork: "look at the work",
		story.Reopen: "run the steps that were left out", story.Mend: "fix the cause, then go on",
		story.MendClear:  "say what is different now, then go on",
		story.LookHollow: "look at the work, then go on", story.ClearHollow: "say what is different now, then go on",
		story.ChangeFirst: "change what the rounds work on, or say what is different now",
		story.RunAgain:    "change what the step works on, then run it again",
		story.EditPlan:    "edit the plan, " + r.plan + ", or have it reviewed from the start",
		story.NextReview:  "review the better plan in a new run",
		story.ReviewAgain: "have the same plan reviewed again",
		story.RaiseBudget: "give the run its budget once more", story.CarryOut: "carry out this plan",
		story.CarriedOut: "look at the run that carries out this plan",
		story.StartAgain: "a new run; no round of this one is left",
		story.AddChecks:  "a new run where each criterion can be proven; or --trust-reflection",
	}
	var list []Command
	for i, c := range r.GoOn {
		say := cmp.Or(words[story.Advice(c.For)], c.For)
		switch {
		case i == 1 && len(r.GoOn) > 1 && strings.Contains(c.Type, " resume "):
			say = "then go on"
		case i == 2 && story.Advice(c.For) == story.EditPlan:
			say = "or start a new run without a review"
		}
		list = append(list, Command{say, c.Type})
	}
	return list
}
