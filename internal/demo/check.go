package demo

import (
	"fmt"
	"strings"

	"github.com/belay-run/belay"
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
	records []belay.Record
	killed  bool  // SIGKILL is what ended the first driver
	lived   bool  // the agent lived on after that
	starts  []int // of that agent, by its own account
	code    int   // the exit code of the run
	why     int   // the exit code of belay why
	commits reply
	dirty   reply
	test    reply
	left    int // processes that did not leave
}

// sight is one thing to be found.
type sight struct {
	what string
	in   func(belay.Record) bool // it is a record
	is   bool                    // it is a fact, without in
	but  string                  // what was seen instead of it
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
		list = append(list, c.check(s.records))
	}
	return list
}

func (c claim) check(recs []belay.Record) Promise {
	p := Promise{Name: c.name, Promised: c.promised, OK: true}
	var found []string
	for _, s := range c.sights {
		ok := s.is
		if s.in != nil {
			ok, recs = after(recs, s.in)
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

// after gives the records behind the first one that fits.
func after(recs []belay.Record, fits func(belay.Record) bool) (bool, []belay.Record) {
	for i, r := range recs {
		if fits(r) {
			return true, recs[i+1:]
		}
	}
	return false, nil
}

func claims(s sights) []claim {
	return []claim{
		{string(belay.BashFailure), "a failing test is mended", []sight{
			failed("test", belay.BashFailure), chosen("test", belay.ActRepair, ""), good("test", belay.RoleRepair), good("test", belay.RoleMain),
		}},
		{string(belay.HollowSuccess), "a claim without work does not count", []sight{
			failed("readme", belay.HollowSuccess), chosen("readme", belay.ActResume, ""), checked("readme"), good("readme", belay.RoleMain),
		}},
		{string(belay.AgentTimeout), "an agent that hangs is ended, and goes on", []sight{
			ended("changes", belay.KilledDeadline), failed("changes", belay.AgentTimeout), chosen("changes", belay.ActResume, ""), resumed("changes"), good("changes", belay.RoleMain),
		}},
		{"kill -9", "Belay dies, the agent does not", []sight{
			{what: "ended by SIGKILL", is: s.killed}, {what: "the agent lived on", is: s.lived}, attached(1), attached(2),
		}},
		{"adopted", "what runs is not started again", []sight{
			found("review", belay.Adopted), goodBy("review", 1), {what: "started once by its own account", is: len(s.starts) == 1, but: fmt.Sprintf("%d times", len(s.starts))},
		}},
		{string(belay.Infrastructure), "who is used up hands over to another", []sight{
			failed("translate", belay.Infrastructure), chosen("translate", belay.ActFailover, "bruno"), startedBy("translate", "bruno"), good("translate", belay.RoleMain),
		}},
		{string(belay.RecipeFailure), "a failed recipe is finished, and checked", []sight{
			failed("version", belay.RecipeFailure), chosen("version", belay.ActRecover, ""), checked("version"), good("version", belay.RoleRecovery),
		}},
		{string(belay.RecursionLimit), "endless nesting ends in the fallback", []sight{
			refused(belay.RecursionLimit), chosen("archive", belay.ActFallback, ""), good("archive", belay.RoleMain),
		}},
		{"the end", "exit 0 means: done and checked", []sight{
			achieved(), {what: "exit 0", is: s.code == belay.ExitOK, but: fmt.Sprintf("exit %d", s.code)}, {what: "explained by belay why", is: s.why == belay.ExitOK, but: fmt.Sprintf("exit %d", s.why)},
		}},
		{"the work", "the repair is in the repository", []sight{
			{what: "its test passes", is: s.test.err == nil && s.test.text != ""}, {what: "one new commit", is: s.commits.err == nil && strings.Count(s.commits.text, "\n") == 1, but: s.commits.text},
			{what: "nothing uncommitted", is: s.dirty.err == nil && s.dirty.text == "", but: s.dirty.text},
		}},
		{"nothing left", "nothing stays behind", []sight{{what: "no process", is: s.left == 0, but: fmt.Sprintf("%d", s.left)}}},
	}
}

// of tells whether a key is that of an attempt of a step of the run.
func of(k belay.Key, step belay.Path, role belay.Role) bool {
	p, _ := belay.ParseKey(k)
	return p.Run == runID && p.Path == step && p.Role == role
}

func failed(step belay.Path, kind belay.FailureKind) sight {
	return sight{what: string(kind), in: func(r belay.Record) bool {
		e, ok := r.Event.(belay.AttemptJudged)
		return ok && of(e.Key, step, belay.RoleMain) && e.Verdict.Failure != nil && e.Verdict.Failure.Kind == kind
	}}
}

func refused(kind belay.FailureKind) sight {
	return sight{what: string(kind), in: func(r belay.Record) bool {
		e, ok := r.Event.(belay.StepRefused)
		return ok && e.Failure.Kind == kind
	}}
}

func chosen(step belay.Path, act belay.Act, agent string) sight {
	what := string(act)
	if agent != "" {
		what += " to " + agent
	}
	return sight{what: what, in: func(r belay.Record) bool {
		e, ok := r.Event.(belay.RecoveryChosen)
		return ok && r.Run == runID && e.Path == step && e.Plan.Act == act && e.Plan.Agent == agent
	}}
}

func good(step belay.Path, role belay.Role) sight {
	what := "done"
	if role != belay.RoleMain {
		what = string(role) + " done"
	}
	return sight{what: what, in: func(r belay.Record) bool {
		e, ok := r.Event.(belay.AttemptJudged)
		return ok && of(e.Key, step, role) && e.Verdict.OK
	}}
}

// goodBy is that this very attempt did the work.
func goodBy(step belay.Path, n int) sight {
	return sight{what: fmt.Sprintf("done by attempt %d", n), in: func(r belay.Record) bool {
		e, ok := r.Event.(belay.AttemptJudged)
		return ok && e.Key == belay.KeyOf(runID, step, belay.RoleMain, n) && e.Verdict.OK
	}}
}

func checked(step belay.Path) sight {
	return sight{what: "its check passes", in: func(r belay.Record) bool {
		e, ok := r.Event.(belay.AttemptEnded)
		return ok && of(e.Key, step, belay.RoleVerify) && e.Observation.Exit == 0 && e.Observation.Signal == 0
	}}
}

func ended(step belay.Path, by belay.KilledBy) sight {
	return sight{what: "ended by " + string(by), in: func(r belay.Record) bool {
		e, ok := r.Event.(belay.AttemptEnded)
		return ok && of(e.Key, step, belay.RoleMain) && e.Observation.KilledBy == by
	}}
}

func resumed(step belay.Path) sight {
	return sight{what: "the same session", in: func(r belay.Record) bool {
		e, ok := r.Event.(belay.AttemptStarted)
		return ok && of(e.Key, step, belay.RoleMain) && e.Resume
	}}
}

func startedBy(step belay.Path, agent string) sight {
	return sight{what: agent + " starts", in: func(r belay.Record) bool {
		e, ok := r.Event.(belay.AttemptStarted)
		return ok && of(e.Key, step, belay.RoleMain) && e.Agent == agent
	}}
}

func found(step belay.Path, how belay.Found) sight {
	return sight{what: string(how), in: func(r belay.Record) bool {
		e, ok := r.Event.(belay.AttemptFound)
		return ok && e.Key == belay.KeyOf(runID, step, belay.RoleMain, 1) && e.How == how
	}}
}

func attached(epoch int64) sight {
	return sight{what: fmt.Sprintf("driver %d", epoch), in: func(r belay.Record) bool {
		e, ok := r.Event.(belay.RunAttached)
		return ok && e.Epoch == epoch
	}}
}

func achieved() sight {
	return sight{what: string(belay.Achieved), in: func(r belay.Record) bool {
		e, ok := r.Event.(belay.RunEnded)
		return ok && r.Run == runID && e.Status == belay.Achieved && e.Code == belay.ExitOK
	}}
}
