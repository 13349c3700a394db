package verdict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/internal/output"
)

// claim is an agent's run that ended by itself and without an error: what was
// asked, what Belay saw, and what the agent left as its answer.
type claim struct {
	expect   belay.Expect
	result   belay.AgentResult
	evidence belay.Evidence
	text     string              // the final text, or its beginning and its end
	check    *effect.Observation // the check that Belay ran; nil = none
}

// claim is what the agent's run claims.
func (c Case) claim() claim {
	r := c.Main.Agent
	return claim{expect: c.Expect, result: r.Result, evidence: r.Evidence, text: output.Visible(r.Result.Excerpt), check: c.Check}
}

// judge says whether what was expected is there. What the agent says and what
// its records tell decides nothing here but whether there is an answer, and
// whether a tool was denied on the way to it.
func (c claim) judge() effect.Verdict {
	switch c.expect {
	case belay.ExpectNone:
		return c.none()
	case belay.ExpectChange:
		return c.change()
	case belay.ExpectTests:
		return c.tests()
	case belay.ExpectPR:
		return c.pr()
	case belay.ExpectAnswer, "":
	}
	return c.answer()
}

// answer wants a final text, and no tool that was denied on the way to it and
// never worked. The text is the product: what it says is not judged.
func (c claim) answer() effect.Verdict {
	switch missed := c.missed(); {
	case c.text == "":
		return c.empty("there is no answer", sureSeen)
	case len(missed) > 0:
		f := &belay.Failure{Kind: belay.BashFailure, Class: belay.ClassPermission, Cause: "tools were denied: " + joined(missed),
			Hint: "allow the tool to the agent, or take it out of the task; if the answer does not need it, say expect: none"}
		return effect.Verdict{Failure: f, For: c.evidenceFor(), Against: c.evidenceAgainst(), Sure: sureRecord}
	}
	return c.done(effect.BasisAnswer, sureRecord)
}

// missed are the tools that were denied and did not end well at another time.
func (c claim) missed() []string {
	var list []string
	for _, name := range c.result.Denied {
		made := slices.ContainsFunc(c.result.Tools, func(t belay.ToolCall) bool { return t.Name == name && endedWell(t) })
		if !made && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

func endedWell(t belay.ToolCall) bool { return !t.Failed && !t.Denied && !t.Open }

// none wants nothing; that nothing was done is told all the same.
func (c claim) none() effect.Verdict {
	v := c.done(effect.BasisExit, sureRecord)
	if !Changed(c.evidence) {
		v.For = append(v.For, "nothing changed, and nothing was expected")
	}
	return v
}

// change wants the working tree or its history to be another than before.
func (c claim) change() effect.Verdict {
	switch e := c.evidence; {
	case e.Before.Error != "" || e.After.Error != "":
		f := &belay.Failure{Kind: belay.Infrastructure, Class: belay.ClassInfrastructure,
			Cause: "the working tree could not be looked at: " + first(e.Before.Error, e.After.Error),
			Hint:  "a change was expected and nobody can tell whether there is one"}
		return effect.Verdict{Failure: f, Against: []string{f.Cause}, Sure: sureSeen}
	case Changed(e):
		return c.done(effect.BasisChange, sureSeen)
	case e.TakenBack:
		v := c.empty("it only took back uncommitted work that was there before", sureSeen)
		v.Against[0] += kept(e.Earlier)
		if e.Earlier != "" {
			v.Failure.Hint = "that work is kept: git checkout " + e.Earlier + " -- . brings it back"
		}
		return v
	}
	return c.empty("nothing changed in the working tree", sureSeen)
}

// tests wants a check that Belay ran and that passed, and that did not run no
// test at all.
func (c claim) tests() effect.Verdict {
	switch k := c.check; {
	case k == nil:
		return c.empty("no test was run by Belay", sureSeen)
	case k.Exit == 0 && k.Tally != nil && k.Tally.None:
		return c.empty("the check passed, and its output tells that no test ran", sureSeen)
	}
	return c.done(effect.BasisTests, sureSeen) // one that failed is looked at for every step
}

// pr wants a check that says that a pull request is there.
func (c claim) pr() effect.Verdict {
	if c.check == nil {
		return c.empty("nothing shows a pull request", sureSeen)
	}
	return c.done(effect.BasisPR, sureSeen)
}

func (c claim) done(basis effect.Basis, sure int) effect.Verdict {
	v := effect.Verdict{OK: true, Basis: basis, For: c.evidenceFor(), Against: c.evidenceAgainst(), Sure: sure}
	if len(v.For) == 0 {
		v.For = []string{"it ended by itself, without an error"}
	}
	return v
}

// wanted is what the step has to leave behind.
func (c claim) wanted() string {
	switch c.expect {
	case belay.ExpectChange:
		return "change a file or make a commit"
	case belay.ExpectTests:
		return "leave tests that pass"
	case belay.ExpectPR:
		return "open a pull request"
	case belay.ExpectAnswer, belay.ExpectNone, "":
	}
	return "give an answer"
}

// empty is the verdict about a run without what was expected of it.
func (c claim) empty(cause string, sure int) effect.Verdict {
	f := &belay.Failure{Kind: belay.HollowSuccess, Class: belay.ClassHollow, Cause: cause,
		Hint: "this step must " + c.wanted() + "; if it need not, give it expect: none"}
	return effect.Verdict{Failure: f, For: c.evidenceFor(), Against: append([]string{cause}, c.evidenceAgainst()...), Sure: sure}
}

// classic is the old text rule alone: hollow only when the agent says that it
// has no access, describes nothing and refers to nothing.
func (c claim) classic() effect.Verdict {
	if emptyWords(c.text) {
		return c.empty("it says that it could not reach the files, and names no finding", sureText)
	}
	return c.done(effect.BasisAnswer, sureText)
}

// Changed tells whether the files or the history are others than before. HEAD
// that moved to the same files says nothing: the new commits are empty or undo
// each other, unless they hold what was not committed before. What only takes
// back uncommitted work is no change either.
func Changed(e belay.Evidence) bool {
	switch {
	case e.TakenBack:
		return false
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
	switch n := len(e.Commits); {
	case n > 0 && e.Files == 0 && e.Before.Head == e.After.Head: // and gone back
		list = append(list, count(n, "new commit")+" on another branch; look: git show "+e.Commits[0][:min(len(e.Commits[0]), 12)])
	case n > 0:
		list = append(list, count(n, "new commit"))
	}
	if n := len(e.Outside); n > 0 {
		list = append(list, count(n, "file")+" outside the working tree")
	}
	return list
}

func (c claim) evidenceFor() []string {
	list := changes(c.evidence)
	if c.evidence.PR != "" {
		list = append(list, "pull request: "+c.evidence.PR)
	}
	good := 0
	for _, t := range c.result.Tools {
		if endedWell(t) {
			good++
		}
	}
	if good > 0 {
		list = append(list, count(good, "tool call")+" ended well")
	}
	if c.text != "" {
		list = append(list, fmt.Sprintf("an answer of %d characters", len([]rune(c.text))))
	}
	return list
}

func (c claim) evidenceAgainst() []string {
	var list []string
	if n := len(c.result.Denied); n > 0 {
		list = append(list, "denied: "+joined(c.result.Denied))
	}
	if e := c.evidence; len(e.Gone) > 0 && !e.TakenBack {
		list = append(list, "uncommitted work of before is gone from "+joined(e.Gone)+kept(e.Earlier))
	}
	if n := len(c.evidence.Guards); n > 0 {
		list = append(list, count(n, "file")+" changed that the work is judged by: "+judges(c.evidence.Guards))
	}
	if c.text == "" {
		list = append(list, "no final text")
	}
	if c.evidence.Error != "" {
		list = append(list, "evidence is not complete: "+c.evidence.Error)
	}
	return list
}

// judges names the first file that judges the work, and the first that is gone.
func judges(list []belay.FileChange) string {
	text := list[0].Path
	for i, f := range list {
		if f.Change != belay.FileDeleted {
			continue
		}
		if i > 0 {
			text += ", " + f.Path
		}
		return text + " (deleted)"
	}
	return text
}

// kept says where work is that was taken back.
func kept(ref string) string {
	if ref == "" {
		return ""
	}
	return "; it is kept in " + ref
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func joined(names []string) string { return strings.Join(names, ", ") }

func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
