package story

import (
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/flow"
)

// Every way in which a run can stand has its advice, and the commands that go
// with it.
func TestNext(t *testing.T) {
	t.Parallel()
	at := Place{"r/a.1", "b"}
	asked := []Asked{{at, Question{Choices: []string{"done", "skip"}}}}
	late := []Asked{{at, Question{TimedOut: true}}}
	cause := func(same int) *Cause {
		return &Cause{Placed: Placed{Run: at.Run, StepView: flow.StepView{Path: at.Path, Same: same}}}
	}
	stand := func(s belay.Status) Account { return Account{Run: "r/a.1", Standing: Standing{Status: s}} }
	with := func(s belay.Status, change func(*Account)) Account {
		a := stand(s)
		change(&a)
		return a
	}
	const resume, answer, clears = "x resume r", "x answer r/a.1 b done|skip --why TEXT", "x clear r/a.1 attempts:b --why TEXT"
	for _, c := range []struct {
		a    Account
		want Advice
		cmds string
	}{
		{stand(belay.Achieved), Nothing, ""},
		{stand(belay.Aborted), StartNew, "x run 'a b.yaml'"},
		{with(belay.Running, func(a *Account) { a.Crashed = true }), Adopt, resume},
		{with(belay.Running, func(a *Account) { a.Asked = asked }), AnswerNow, answer},
		{with(belay.Running, func(a *Account) { a.Blocked = []Blocked{{}} }), WaitService, "x clear r breakers --why TEXT"},
		{stand(belay.Running), Watch, "x logs r -f"},
		{stand(belay.Held), Answered, resume},
		{with(belay.Held, func(a *Account) { a.Asked = asked }), AnswerFirst, answer + "; " + resume},
		{stand(belay.Stopped), GoOn, resume},
		{with(belay.Stopped, func(a *Account) { a.Asked = late }), TimedOut, resume},
		{with(belay.Paused, func(a *Account) { a.Asked = asked }), GoOn, resume},
		{with(belay.Paused, func(a *Account) { a.Asked = late }), TimedOut, resume},
		{with(belay.Held, func(a *Account) { a.Asked = late }), TimedOut, resume},
		{with(belay.Held, func(a *Account) { a.Asked = append(late, asked...) }), AnswerFirst, answer + "; " + resume},
		{with(belay.Running, func(a *Account) { a.Asked = late }), Watch, "x logs r -f"},
		{with(belay.Parked, func(a *Account) { a.Asked = asked }), AnswerWakes, answer},
		{with(belay.Parked, func(a *Account) { a.Asked = late }), WaitWatch, resume},
		{stand(belay.Partial), LookAtWork, "x show r"},
		{with(belay.Partial, func(a *Account) { a.Count.LeftOut = []string{"b"} }), Reopen, resume + " --why TEXT"},
		{with(belay.Held, func(a *Account) { a.Asked = []Asked{{at, Question{ID: "b.1.budget"}}} }), RaiseBudget, "x clear r budget --why TEXT; " + resume},
		{stand(belay.Stalemate), ChangeFirst, "x clear r attempts --why TEXT; " + resume},
		{with(belay.Stalemate, func(a *Account) { a.reviewed = true }), ChangeFirst, "x clear r review --why TEXT; " + resume},
		{with(belay.Stalemate, func(a *Account) { a.said, a.sayers = true, []belay.Path{"b", "c"} }), RunAgain, "x rerun r b --why TEXT; x rerun r c --why TEXT"},
		{with(belay.Stalemate, func(a *Account) { a.said = true }), RunAgain, "x run 'a b.yaml'"},
		{stand(belay.Failed), Mend, resume},
		{with(belay.Failed, func(a *Account) { a.Cause = cause(1) }), Mend, resume},
		{with(belay.Failed, func(a *Account) { a.Cause = cause(2) }), MendClear, clears + "; " + resume},
		{with(belay.Hollow, func(a *Account) { a.Cause = cause(1) }), LookHollow, "x show r/a.1 b; " + resume},
		{with(belay.Hollow, func(a *Account) { a.Cause = cause(2) }), ClearHollow, "x show r/a.1 b; " + clears + "; " + resume},
	} {
		n := c.a.next("a b.yaml")
		var cmds []string
		for _, cmd := range n.Commands {
			cmds = append(cmds, cmd.Text("x"))
		}
		if got := strings.Join(cmds, "; "); n.Advice != c.want || got != c.cmds {
			t.Errorf("%s: %s %q, want %s %q", c.a.Status, n.Advice, got, c.want, c.cmds)
		}
	}
}

// An answer is too late when the time is over, unless the question stays open then.
// promise: L
func TestTooLate(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, c := range map[string]struct {
		q    Question
		want bool
	}{
		"no limit":            {Question{}, false},
		"still open":          {Question{Until: now.Add(1), OnTimeout: belay.ChoiceReject}, false},
		"over":                {Question{Until: now, OnTimeout: belay.ChoiceReject}, true},
		"over, with a choice": {Question{Until: now.Add(-time.Hour), OnTimeout: "staging"}, true},
		"over, and held":      {Question{Until: now.Add(-time.Hour), OnTimeout: belay.TimeoutHold}, false},
	} {
		if got := c.q.late(now); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	q := Asked{Place{"r/a.1", "b"}, Question{ID: "b.1", About: event.ItemApproval, TimedOut: true}}
	if got := q.Command().Text("x"); got != "x resume r" {
		t.Errorf("a question that timed out is answered with %q", got)
	}
}

// What holds the steps of finally is none of them, once they are there.
func TestFinallyIsNoStep(t *testing.T) {
	t.Parallel()
	step := func(p belay.Path, phase flow.Phase, child belay.RunID) Placed {
		return Placed{Run: "r", StepView: flow.StepView{Path: p, Phase: phase, Child: child}}
	}
	c := CountSteps([]Placed{step("a", flow.Done, ""), step("up", flow.Done, "r/up.1"), step("finally", flow.Done, "r/finally.1"), step("down", flow.Done, "")})
	if c.Done != 3 || c.Total != 3 {
		t.Errorf("%+v", c)
	}
	if c = CountSteps([]Placed{step("a", flow.Done, ""), step("finally", flow.Waiting, "")}); c.Total != 2 || len(c.Unborn) != 1 {
		t.Errorf("not begun: %+v", c)
	}
}

// A task whose rounds are used up has nothing to resume, and a plan that was not approved
// is not reviewed again by a resume alone: no ending names a command that does nothing.
func TestNextOfATask(t *testing.T) {
	t.Parallel()
	was := event.RunStarted{Dir: "/d", Agent: "bot"}
	judged := func(verdicts ...string) *Task {
		task := &Task{Text: "it's a door", Best: 1}
		for _, v := range verdicts {
			task.Criteria = append(task.Criteria, TaskCriterion{Verdict: v})
		}
		return task
	}
	limited := judged("met")
	limited.Limits = []string{"the tests failed"}
	flagged := judged("met", "unproven")
	flagged.Text, flagged.Flags = "-v is loud", []string{"--agent=bot", "--criteria=/a b", "--in-place", "--plan-review"}
	long := judged("unmet")
	long.Text = strings.Repeat("a door ", 20)
	const again = `x do 'it'\''s a door' --agent bot`
	for _, c := range []struct {
		status belay.Status
		task   *Task
		review *Review
		here   string
		want   Advice
		cmds   string
		work   belay.RunID
	}{
		{status: belay.Achieved, task: &Task{Planned: true}, want: CarriedOut, cmds: "x why w", work: "w"},
		{belay.Achieved, &Task{Planned: true}, nil, "/d", CarryOut, "x resume r", ""},
		{belay.Achieved, judged("met"), nil, "/d", "", "", ""},
		{belay.Hollow, judged("unmet"), nil, "/d", StartAgain, again, ""},
		{belay.NotAchieved, judged("unmet"), nil, "/d", StartAgain, again, ""},
		{belay.NotAchieved, judged("unproven"), nil, "/d", StartAgain, again, ""},
		{belay.Partial, judged("met", "unmet"), nil, "/e", StartAgain, `x do 'it'\''s a door' --dir /d --agent bot`, ""},
		{belay.Partial, judged("met", "unproven"), nil, "/d", AddChecks, again + " --criteria FILE", ""},
		{belay.Partial, long, nil, "/d", StartAgain, "x do --agent bot --file FILE", ""},
		{belay.Partial, limited, nil, "/d", StartAgain, again, ""},
		{belay.Partial, flagged, nil, "/d", AddChecks, "x do --agent bot --criteria '/a b' --in-place --plan-review -- '-v is loud'", ""},
		{belay.Stalemate, flagged, &Review{}, "/d", EditPlan, "x clear r review --why TEXT; x resume r; x do --agent bot --criteria '/a b' --in-place --no-plan-review -- '-v is loud'", ""},
		{belay.Aborted, judged(), nil, "/d", StartNew, again, ""},
		{belay.Stalemate, &Task{Text: "-v"}, &Review{}, "/d", EditPlan, "x clear r review --why TEXT; x resume r; x do --agent bot --no-plan-review -- -v", ""},
		{belay.Failed, &Task{Text: "door"}, &Review{}, "/d", EditPlan, "x clear r review --why TEXT; x resume r; x do door --agent bot --no-plan-review", ""},
		{belay.Failed, judged(), nil, "/d", "", "", ""},
		{belay.Held, judged(), nil, "/d", "", "", ""},
	} {
		a := Account{Run: "r", Standing: Standing{Status: c.status}, Task: c.task, Refused: c.review}
		n, _ := a.nextOfTask(was, Facts{Here: c.here, Work: c.work})
		var cmds []string
		for _, cmd := range n.Commands {
			cmds = append(cmds, cmd.Text("x"))
		}
		if got := strings.Join(cmds, "; "); n.Advice != c.want || got != c.cmds {
			t.Errorf("%s: %s %q, want %s %q", c.status, n.Advice, got, c.want, c.cmds)
		}
	}
	if c := (&Task{Text: "door"}).again(event.RunStarted{Dir: "/d", Agent: "claude"}, "/d", ""); c.Text("x") != "x do door" {
		t.Errorf("an agent that is found by itself is named: %v", c)
	}
}
