package demo

import (
	"fmt"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/story"
)

// Promise is one thing that the showing promises, and what was seen of it.
type Promise struct {
	Name     string `json:"name"`
	Promised string `json:"promised"`
	Seen     string `json:"seen"` // or what was not
	OK       bool   `json:"ok"`
}

// sights is what was seen, all of it outside of what was printed.
type sights struct {
	news    []story.News
	killed  bool  // SIGKILL is what ended the first driver
	lived   bool  // the agent lived on after that
	starts  []int // of that agent, by its own account
	code    int   // the exit code of the run
	why     int   // the exit code of belay why
	recheck int   // the exit code of belay receipt --check
	receipt string
	commits reply
	dirty   reply
	test    reply
	left    int // processes that did not leave
}

// sight is one thing to be found.
type sight struct {
	what string
	in   func(*story.News) bool // it is on record
	is   bool                   // it is a fact, without in
	but  string                 // what was seen instead of it
}

// claim is a promise that is not checked yet. Its records must be found in this
// order.
type claim struct {
	name, promised string
	sights         []sight
}

// judge checks all promises.
func judge(s sights) []Promise {
	var list []Promise
	for _, c := range claims(s) {
		list = append(list, c.check(s.news))
	}
	return list
}

func (c claim) check(news []story.News) Promise {
	p := Promise{Name: c.name, Promised: c.promised, OK: true}
	var found []string
	for _, s := range c.sights {
		ok := s.is
		if s.in != nil {
			ok, news = after(news, s.in)
		}
		if !ok {
			p.OK, p.Seen = false, "not seen: "+s.what
			if s.but != "" {
				p.Seen += ", but " + strings.Join(strings.Fields(s.but), " ")
			}
			return p
		}
		found = append(found, s.what)
	}
	p.Seen = strings.Join(found, ", ")
	return p
}

// after gives the news behind the first one that fits.
func after(news []story.News, fits func(*story.News) bool) (bool, []story.News) {
	for i := range news {
		if fits(&news[i]) {
			return true, news[i+1:]
		}
	}
	return false, nil
}

func claims(s sights) []claim {
	return []claim{
		{string(belay.BashFailure), "a failing test is fixed", []sight{
			failed("test", belay.BashFailure, "the test failed"), chosen("test", belay.ActRepair, "", "an agent was asked to fix it"),
			good("test", belay.RoleRepair, "it did"), good("test", belay.RoleMain, "the test passed"),
		}},
		{string(belay.HollowSuccess), "a claim without work does not count", []sight{
			failed("readme", belay.HollowSuccess, "nothing was changed"), chosen("readme", belay.ActResume, "", "the agent was asked again"),
			checked("readme"), good("readme", belay.RoleMain, "done"),
		}},
		{string(belay.AgentTimeout), "an agent that hangs is ended and resumed", []sight{
			ended("changes", fault.KilledDeadline, "ended after its timeout"), failed("changes", belay.AgentTimeout, "which counts as a failure"),
			chosen("changes", belay.ActResume, "", "started again"), resumed("changes"), good("changes", belay.RoleMain, "done"),
		}},
		{"kill -9", "Belay is killed, the agent keeps running", []sight{
			{what: "ended by SIGKILL", is: s.killed}, {what: "the agent kept running", is: s.lived}, attached(1, "one process began the run"), attached(2, "another one took over"),
		}},
		{"adopted", "a running step is not started again", []sight{
			found("review", fault.Adopted, "found at work"), goodBy("review", 1, "done at its first attempt"), {what: "started once", is: len(s.starts) == 1, but: fmt.Sprintf("%d times", len(s.starts))},
		}},
		{string(belay.Infrastructure), "another agent takes over from a used-up one", []sight{
			failed("translate", belay.Infrastructure, "the account was used up"), chosen("translate", belay.ActFailover, "bruno", "the work went to bruno"),
			startedBy("translate", "bruno"), good("translate", belay.RoleMain, "done"),
		}},
		{string(belay.RecipeFailure), "a failed recipe is finished and checked", []sight{
			failed("version", belay.RecipeFailure, "the recipe failed"), chosen("version", belay.ActRecover, "", "an agent was asked to finish it"),
			checked("version"), good("version", belay.RoleRecovery, "done"),
		}},
		{string(belay.RecursionLimit), "endless nesting ends in the fallback", []sight{
			refused(belay.RecursionLimit, "the call was refused"), chosen("archive", belay.ActFallback, "", "the fallback ran"), good("archive", belay.RoleMain, "done"),
		}},
		{string(belay.RoutingGap), "a recipe that did nothing is not a success", []sight{
			unrouted("no step ran"), chosen("notes", belay.ActFallback, "", "the fallback ran"), good("notes", belay.RoleMain, "done"),
		}},
		{"the end", "exit 0 when every required step is done", []sight{
			achieved("the run ended as ACHIEVED"), {what: "exit 0", is: s.code == exit.OK, but: fmt.Sprintf("exit %d", s.code)}, {what: "explained by belay why", is: s.why == exit.OK, but: fmt.Sprintf("exit %d", s.why)},
		}},
		{"the work", "the repair is in the repository", []sight{
			{what: "its test passes", is: s.test.err == nil && s.test.text != ""}, {what: "one new commit", is: s.commits.err == nil && strings.Count(s.commits.text, "\n") == 1, but: s.commits.text},
			{what: "nothing uncommitted", is: s.dirty.err == nil && s.dirty.text == "", but: s.dirty.text},
		}},
		{"the receipt", "the checks can be run again", []sight{
			{what: "the receipt says ACHIEVED", is: strings.Contains(s.receipt, string(belay.Achieved))},
			{what: "its checks pass again", is: s.recheck == exit.OK, but: fmt.Sprintf("exit %d", s.recheck)},
		}},
		{"nothing left", "no process is left", []sight{{what: "none was found", is: s.left == 0, but: fmt.Sprintf("%d", s.left)}}},
	}
}

// of tells whether news is about an attempt of a step of the run.
func of(n *story.News, what story.What, step belay.Path, role belay.Role) bool {
	return n.What == what && n.Attempt.Run == runID && n.Attempt.Path == step && n.Attempt.Role == role
}

func failed(step belay.Path, kind belay.FailureKind, what string) sight {
	return sight{what: what, in: func(n *story.News) bool {
		return of(n, story.AttemptJudged, step, belay.RoleMain) && n.Attempt.Verdict.Failure != nil && n.Attempt.Verdict.Failure.Kind == kind
	}}
}

func refused(kind belay.FailureKind, what string) sight {
	return sight{what: what, in: func(n *story.News) bool { return n.What == story.StepRefused && n.Failure.Kind == kind }}
}

// unrouted is a child run in which every condition was false.
func unrouted(what string) sight {
	return sight{what: what, in: func(n *story.News) bool {
		return n.What == story.RunEnded && n.Run != runID && n.Result.Failure != nil && n.Result.Failure.Kind == belay.RoutingGap
	}}
}

func chosen(step belay.Path, act belay.Act, agent, what string) sight {
	return sight{what: what, in: func(n *story.News) bool {
		return n.What == story.RecoveryChosen && n.Run == runID && n.Path == step && n.Decision.Plan.Act == act && n.Decision.Plan.Agent == agent
	}}
}

func good(step belay.Path, role belay.Role, what string) sight {
	return sight{what: what, in: func(n *story.News) bool { return of(n, story.AttemptJudged, step, role) && n.Attempt.Verdict.OK }}
}

// goodBy is that this very attempt did the work.
func goodBy(step belay.Path, n int, what string) sight {
	by := good(step, belay.RoleMain, what).in
	return sight{what: what, in: func(x *story.News) bool { return by(x) && x.Attempt.N == n }}
}

func checked(step belay.Path) sight {
	return sight{what: "its check passed", in: func(n *story.News) bool {
		return of(n, story.AttemptEnded, step, belay.RoleVerify) && n.Attempt.Observation.Exit == 0 && n.Attempt.Observation.Signal == 0
	}}
}

func ended(step belay.Path, by fault.KilledBy, what string) sight {
	return sight{what: what, in: func(n *story.News) bool {
		return of(n, story.AttemptEnded, step, belay.RoleMain) && n.Attempt.Observation.KilledBy == by
	}}
}

func resumed(step belay.Path) sight {
	return sight{what: "in the same session", in: func(n *story.News) bool {
		return of(n, story.AttemptStarted, step, belay.RoleMain) && n.Attempt.Resume
	}}
}

func startedBy(step belay.Path, agent string) sight {
	return sight{what: agent + " started", in: func(n *story.News) bool {
		return of(n, story.AttemptStarted, step, belay.RoleMain) && n.Attempt.Agent == agent
	}}
}

func found(step belay.Path, how fault.Found, what string) sight {
	return sight{what: what, in: func(n *story.News) bool {
		return of(n, story.AttemptFound, step, belay.RoleMain) && n.Attempt.N == 1 && n.How == how
	}}
}

func attached(epoch int64, what string) sight {
	return sight{what: what, in: func(n *story.News) bool { return n.What == story.RunAttached && n.Driver == epoch }}
}

func achieved(what string) sight {
	return sight{what: what, in: func(n *story.News) bool {
		return n.What == story.RunEnded && n.Run == runID && n.Result.Status == belay.Achieved && n.Result.Code == exit.OK
	}}
}
