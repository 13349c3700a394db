package verdict

import (
	"fmt"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
)

// Passed tells whether a check ran to its own end and found what it looked for.
func Passed(check *effect.Observation) bool {
	return Spoke(check) && check.Exit == 0 && (check.Check == nil || Shortfall(*check.Check) == nil)
}

// checkFailure is the failure of a step whose check did not pass.
func (c Case) checkFailure() *belay.Failure {
	if Spoke(c.Check) && c.Check.Check != nil {
		if f := Shortfall(*c.Check.Check); f != nil {
			f.Op = "step " + string(c.Step)
			return f
		}
	}
	f := c.failure(*c.Check, "verify: ")
	f.Class = belay.ClassWorkFailure
	if !Spoke(c.Check) && c.Expect == belay.ExpectPR { // nobody was asked, which says nothing about the work
		f.Kind, f.Class = belay.Infrastructure, belay.ClassInfrastructure
		f.Cause = "the forge gave no answer: " + ending(*c.Check, 0)
	}
	return f
}

// Shortfall is what is missing in what a check of Belay's own has seen, nil when
// nothing is.
func Shortfall(r effect.CheckReport) *belay.Failure {
	if r.PR != nil {
		return requested(*r.PR)
	}
	return tested(r)
}

// tested wants every test command to end with 0, and at least one test that was
// counted wherever the runner counts, or where the command is not the one that
// was there before the agent.
func tested(r effect.CheckReport) *belay.Failure {
	if len(r.Tests) == 0 {
		return hollow("no test command was found from "+r.Dir+" upwards", "name it with tests: in the recipe or the settings, or give the step a verify:")
	}
	counted := false
	for _, t := range r.Tests {
		if f := broken(t); f != nil {
			return f
		}
		counted = counted || t.Tally != nil && !t.Tally.None
	}
	for _, t := range r.Tests {
		none := t.Tally == nil || t.Tally.None
		switch {
		case none && len(t.Changed) > 0:
			return hollow(fmt.Sprintf("%s exited with 0, but %s changed and its output counts no test", t.Command, strings.Join(t.Changed, ", ")),
				"a command or a script that the agent could change counts only when its output shows how many tests ran: name it with tests: or verify:")
		case none && t.Late:
			return hollow(t.Command+" exited with 0, but it was not there at the start of the run and its output counts no test",
				"a command that came with the work counts only when its output shows how many tests ran: name it with tests: or verify:")
		case t.Idle && !counted:
			return hollow(t.Command+" ran nothing: make takes its target for made, because there is a file or a folder of that name",
				"say .PHONY: test in the "+t.From+", or name the command with tests: or verify:")
		case t.Tally == nil && t.Counts:
			return hollow(t.Command+" exited with 0 and its output counts no test", "look at what it printed with: belay logs")
		case t.Tally != nil && t.Tally.None && !counted:
			return hollow(t.Command+" exited with 0 and no test ran", "write a test, or say expect: change")
		}
	}
	return nil
}

// broken is what is wrong with one test command by itself.
func broken(t effect.TestRun) *belay.Failure {
	switch {
	case t.Swapped != "":
		return &belay.Failure{Kind: belay.BashFailure, Class: belay.ClassTampered,
			Cause: fmt.Sprintf("%s was not run: %s is not the program that it was at the start of the run", t.Command, t.Swapped),
			Hint:  "put the program back, or take away what hides it on the PATH"}
	case t.Missing != "":
		return &belay.Failure{Kind: belay.Infrastructure, Class: belay.ClassInfrastructure,
			Cause: fmt.Sprintf("%s was not run: there is no %s", t.Command, t.Missing), Hint: "install " + t.Missing + ", or name another command with tests:"}
	case t.Exit != 0 && t.Tally != nil && t.Tally.None:
		return hollow(fmt.Sprintf("%s: exit %d, and no test ran", t.Command, t.Exit), "write a test, or say expect: change")
	case t.Exit != 0:
		cause := fmt.Sprintf("the tests failed: %s: exit %d", t.Command, t.Exit)
		if t.Last != "" {
			cause += ": " + t.Last
		}
		return &belay.Failure{Kind: belay.BashFailure, Class: belay.ClassWorkFailure, Cause: cause, Hint: "look at what they printed with: belay logs"}
	case t.Tally != nil && t.Tally.Bad:
		return &belay.Failure{Kind: belay.BashFailure, Class: belay.ClassWorkFailure,
			Cause: "the tests failed, as their output tells: " + t.Command, Hint: "look at what they printed with: belay logs"}
	}
	return nil
}

func hollow(cause, hint string) *belay.Failure {
	return &belay.Failure{Kind: belay.HollowSuccess, Class: belay.ClassHollow, Cause: cause, Hint: hint}
}

// requested wants a pull request that is open, or was merged since the base,
// with a commit of the attempt as its head; the request or the commit is new.
func requested(r effect.PRReport) *belay.Failure {
	switch r.Trouble {
	case effect.PRNoTrouble:
	case effect.PRSwapped:
		return &belay.Failure{Kind: belay.BashFailure, Class: belay.ClassTampered, Cause: "the forge was not asked: " + r.Detail,
			Hint: "put the program back, or take away what hides it on the PATH"}
	case effect.PRNoLogin:
		return &belay.Failure{Kind: belay.Infrastructure, Class: belay.ClassInfrastructure, Cause: "the forge was not asked: " + r.Detail, Hint: "log in with: gh auth login"}
	case effect.PRNoCommit:
		return hollow("there is no pull request: "+r.Detail, "")
	case effect.PRNoRemote, effect.PRNoProgram, effect.PRNoAnswer, effect.PRUnreadable:
		return &belay.Failure{Kind: belay.Infrastructure, Class: belay.ClassInfrastructure, Cause: "the forge gave no answer: " + r.Detail,
			Hint: "belay asks with gh or glab: install it, log in, and add a remote; or give the step a verify: that shows the pull request"}
	}
	if _, ok := match(r); ok {
		return nil
	}
	switch n := len(r.Found); {
	case n == 0:
		return hollow("the forge knows no pull request with this work", "push the branch and open one; or say expect: change")
	case n == 1:
		return hollow(fmt.Sprintf("the pull request that the forge knows is not of this attempt: %s (%s)", r.Found[0].URL, r.Found[0].State), "push the commits that belong to it")
	}
	return hollow(fmt.Sprintf("none of the %d pull requests that the forge knows is of this attempt", len(r.Found)), "push the commits that belong to it")
}

// match is the pull request of the attempt.
func match(r effect.PRReport) (effect.PullRequest, bool) {
	for _, p := range r.Found {
		live := p.State == effect.PROpen || p.State == effect.PRMerged && !p.Merged.Before(r.Since)
		for _, h := range r.Heads {
			if live && p.Head != "" && p.Head == h.Commit && (h.New || !p.Created.Before(r.Since)) {
				return p, true
			}
		}
	}
	return effect.PullRequest{}, false
}

// Requested is what the forge said, in words.
func Requested(r effect.PRReport) string {
	if p, ok := match(r); ok {
		return fmt.Sprintf("pull request: %s (%s)", p.URL, p.State)
	}
	return requested(r).Cause
}

// CheckedFor is what a check that passed speaks for, in words.
func CheckedFor(o effect.Observation) []string {
	switch {
	case o.Check == nil:
		return []string{"verify: exit 0"}
	case o.Check.PR != nil:
		return []string{Requested(*o.Check.PR)}
	}
	var list []string
	for _, t := range o.Check.Tests {
		list = append(list, "tests passed: "+Ran(t))
	}
	return list
}

// Ran is a test command with what it counted.
func Ran(t effect.TestRun) string {
	switch {
	case t.Tally == nil:
		return t.Command
	case t.Tally.None:
		return t.Command + " (no test)"
	case t.Tally.Failed > 0:
		return fmt.Sprintf("%s (%d passed, %d failed)", t.Command, t.Tally.Passed, t.Tally.Failed)
	case t.Tally.Passed > 0:
		return fmt.Sprintf("%s (%d)", t.Command, t.Tally.Passed)
	}
	return t.Command
}
