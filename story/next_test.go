package story

import (
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/flow"
)

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
	q := Asked{Place: Place{"r/a.1", "b"}, Question: Question{ID: "b.1", About: event.ItemApproval, TimedOut: true}}
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
	asked := judged("met", "unproven")
	asked.Type = "Q&A"
	wide := judged("unmet") // of one line that is wider than a screen
	wide.Text = strings.Repeat("a door ", 20)
	long := judged("unmet")
	long.Text = strings.Repeat("a door ", 80)
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
		{belay.Partial, asked, nil, "/d", StartAgain, again, ""},
		{belay.Partial, long, nil, "/d", StartAgain, "x do --agent bot --file FILE", ""},
		{belay.Partial, wide, nil, "/d", StartAgain, "x do '" + strings.TrimSpace(wide.Text) + "' --agent bot", ""},
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
		r := Resumption{CarryOut: c.task.Planned && c.status == belay.Achieved}
		switch {
		case c.task.UsedUp(c.status):
			r.No = NoRound
		case c.status == belay.Aborted:
			r.No = NoFinal
		}
		f := &finder{Account: &a, Facts: Facts{Here: c.here, Work: c.work}, started: was}
		n, _ := f.ofTask(r)
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
