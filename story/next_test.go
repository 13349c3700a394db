package story

import (
	"strings"
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/flow"
)

// Every way in which a run can stand has its advice, and the commands that go
// with it.
func TestNext(t *testing.T) {
	t.Parallel()
	at := Place{"r/a.1", "b"}
	asked := []Asked{{at, Question{Choices: []string{"done", "skip"}}}}
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
		{stand(belay.Partial), LookAtWork, "x show r"},
		{with(belay.Partial, func(a *Account) { a.Count.LeftOut = []string{"b"} }), Reopen, resume + " --why TEXT"},
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
