package verdict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/belay-run/belay"
)

// Claim is an agent's run that ended by itself and without an error: what was
// asked, what Belay saw, and what the agent says.
type Claim struct {
	Expect   belay.Expect
	Classic  bool // judge by the text alone, as older runners did
	Result   belay.AgentResult
	Evidence belay.Evidence
	Text     string   // the final text, or its beginning
	Beside   []string // who else worked in the same tree at the same time: "step lint", "run 01ab"
	Acted    bool     // an earlier attempt, measured from the same state, left work of its own
	Severed  bool     // it is measured since an attempt that was cut off, and nobody saw what that did
}

// Hollow judges a claim: done, hollow, or honestly not done. It looks at the
// evidence first and at the text last; of two runs with the same evidence the
// texts alone never make one done and the other not.
func Hollow(c Claim) belay.Verdict {
	c.Text = strings.TrimSpace(c.Text)
	if c.Classic {
		return c.classic()
	}
	return c.doubted(c.judge())
}

// judge is the verdict but for the doubt whose work it is.
func (c Claim) judge() belay.Verdict {
	switch c.Expect {
	case belay.ExpectNone:
		return c.none()
	case belay.ExpectChange:
		return c.change()
	case belay.ExpectTests:
		return c.tests()
	case belay.ExpectPR:
		if c.Evidence.PR != "" {
			return c.done(sureRecord)
		}
		return c.empty("no pull request was seen to be made", sureRecord) // as far as its commands can be read
	case belay.ExpectAnswer, "":
	}
	return c.answer()
}

// answer wants a final text, and nothing that was denied on the way to it. Where
// there is no trace of work, the text must be more than an excuse or a boast.
func (c Claim) answer() belay.Verdict {
	idle := !c.worked()
	switch {
	case c.Text == "":
		return c.empty("there is no answer", sureSeen)
	case idle && len(c.Result.Denied) > 0:
		return c.empty("tools were denied: "+joined(c.Result.Denied), sureRecord)
	case len(c.missed()) > 0:
		f := &belay.Failure{Kind: belay.BashFailure, Class: belay.ClassPermission, Cause: "tools were denied: " + joined(c.missed()),
			Hint: "allow the tool to the agent, or take it out of the task; if the answer does not need it, say expect: none"}
		return belay.Verdict{Failure: f, For: c.evidenceFor(), Against: c.evidenceAgainst(), Sure: sureRecord}
	case idle && emptyWords(c.Text):
		return c.empty("it says that it could not reach the files, and names no finding", sureText)
	case idle && declines(c.Text):
		return c.empty("there is no answer", sureText)
	case idle && claims(c.Text):
		return c.empty("it says that the work is done, and nothing changed and no tool was used", sureText)
	case c.onlyHere() && claimsChange(c.Text):
		return c.empty("it says that it changed the code, and "+c.nothing(), sureText)
	}
	return c.done(sureRecord)
}

// missed are the tools that were denied and did not end well at another time.
func (c Claim) missed() []string {
	var list []string
	for _, name := range c.Result.Denied {
		made := slices.ContainsFunc(c.Result.Tools, func(t belay.ToolCall) bool { return t.Name == name && endedWell(t) })
		if !made && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// none wants nothing; that nothing was done is told all the same.
func (c Claim) none() belay.Verdict {
	v := c.done(sureRecord)
	if !Changed(c.Evidence) {
		v.For = append(v.For, "nothing changed, and nothing was expected")
	}
	return v
}

// change wants the working tree or its history to be another than before.
func (c Claim) change() belay.Verdict {
	e := c.Evidence
	switch {
	case e.Before.Error != "" || e.After.Error != "":
		f := &belay.Failure{Kind: belay.Infrastructure, Class: belay.ClassInfrastructure,
			Cause: "the working tree could not be looked at: " + first(e.Before.Error, e.After.Error),
			Hint:  "a change was expected and nobody can tell whether there is one"}
		return belay.Verdict{Failure: f, Against: []string{f.Cause}, Sure: sureSeen}
	case c.changed():
		return c.done(sureSeen)
	case Changed(e):
		return c.others()
	}
	return c.empty("nothing changed in the working tree", sureSeen)
}

// classic is the old text rule alone: hollow only when the agent says that it
// has no access, describes nothing and refers to nothing.
func (c Claim) classic() belay.Verdict {
	if emptyWords(c.Text) {
		return c.empty("it says that it could not reach the files, and names no finding", sureText)
	}
	return c.done(sureText)
}

func (c Claim) done(sure int) belay.Verdict {
	v := belay.Verdict{OK: true, For: c.evidenceFor(), Against: c.evidenceAgainst(), Sure: sure}
	if len(v.For) == 0 {
		v.For = []string{"it ended by itself, without an error"}
	}
	return v
}

// empty is the verdict about a run without what was expected of it: hollow,
// unless the agent says itself, with a finding, that it is not done.
func (c Claim) empty(cause string, sure int) belay.Verdict {
	f := &belay.Failure{Kind: belay.HollowSuccess, Class: belay.ClassHollow, Cause: cause,
		Hint: "nothing counts as done without evidence; if nothing had to be done, say expect: none"}
	switch {
	case c.Classic || c.Text == "":
	case declines(c.Text) && !emptyWords(c.Text):
		f.Kind, f.Class = belay.BashFailure, belay.ClassRefusal
		f.Cause = cause + ", and the model refused: " + lastLine(c.Text)
		f.Hint = "say the task in other words, or use another model"
	case owns(c.Text):
		f.Kind, f.Class = belay.BashFailure, belay.ClassWorkFailure
		f.Cause = cause + ", and the agent says so: " + lastLine(c.Text)
		f.Hint = "its report says why; if nothing had to be done, say expect: none"
	}
	return belay.Verdict{Failure: f, For: c.evidenceFor(), Against: append([]string{cause}, c.evidenceAgainst()...), Sure: sure}
}

// worked tells whether there is any trace of work beside the text.
func (c Claim) worked() bool {
	if c.changed() || len(c.Evidence.Tests) > 0 || len(c.Evidence.Outside) > 0 {
		return true
	}
	return slices.ContainsFunc(c.Result.Tools, endedWell)
}

func endedWell(t belay.ToolCall) bool { return !t.Failed && !t.Denied && !t.Open }

// Changed tells whether the files or the history are others than before. HEAD
// that moved to the same files says nothing: the new commits are empty or undo
// each other, unless they hold what was not committed before.
func Changed(e belay.Evidence) bool {
	switch {
	case e.Files > 0 || e.Before.Tree != e.After.Tree:
		return true
	case e.Before.Head != e.After.Head:
		return e.Before.Dirty && !e.After.Dirty
	}
	return len(e.Commits) > 0 // made on another branch
}

// changes is what Belay saw of the work, in words.
func changes(e belay.Evidence) []string {
	var list []string
	switch {
	case e.Files == 1:
		list = append(list, fmt.Sprintf("1 file changed (+%d −%d): %s", e.Added, e.Deleted, e.Changed[0].Path))
	case e.Files > 1:
		list = append(list, fmt.Sprintf("%d files changed (+%d −%d)", e.Files, e.Added, e.Deleted))
	case e.Before.Tree != e.After.Tree:
		list = append(list, "the working tree is not what it was")
	}
	if n := len(e.Commits); n > 0 {
		list = append(list, count(n, "new commit"))
	}
	if n := len(e.Outside); n > 0 {
		list = append(list, count(n, "file")+" outside the working tree")
	}
	return list
}

func (c Claim) evidenceFor() []string {
	list := changes(c.Evidence)
	list = append(list, testsPassed(c.Evidence.Tests)...)
	if c.Evidence.PR != "" {
		list = append(list, "pull request: "+c.Evidence.PR)
	}
	if ok := c.good(); ok > 0 {
		list = append(list, count(ok, "tool call")+" ended well")
	}
	if c.Text != "" {
		list = append(list, fmt.Sprintf("an answer of %d characters", len([]rune(c.Text))))
	}
	return list
}

func (c Claim) good() int {
	n := 0
	for _, t := range c.Result.Tools {
		if endedWell(t) {
			n++
		}
	}
	return n
}

func (c Claim) evidenceAgainst() []string {
	var list []string
	if n := len(c.Result.Denied); n > 0 {
		list = append(list, "denied: "+joined(c.Result.Denied))
	}
	if n := len(c.Evidence.Guards); n > 0 {
		list = append(list, count(n, "file")+" changed that the work is judged by: "+c.Evidence.Guards[0].Path)
	}
	if c.Text == "" {
		list = append(list, "no final text")
	}
	if c.Evidence.Error != "" {
		list = append(list, "evidence is not complete: "+c.Evidence.Error)
	}
	return list
}
