package tui

import (
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/story"
)

// staffed is a run that may start agents for its failures.
func staffed(e *event.RunStarted) { e.Agent, e.Agents = "claude", true }

const callsTwo = `
name: outer
steps:
  - {id: checked, recipe: inner, verify: test -s result}
  - {id: loose, recipe: inner}
`

var inner = map[string]string{"inner": "name: inner\nsteps:\n  - {id: fine, command: one}\n  - {id: bad, command: two}\n  - {id: never, command: three}\n"}

func (s *tale) fallen(step string) {
	s.t.Helper()
	child := belay.RunID("k3f9q/" + step + ".1")
	s.end(child, "fine.1", 0, time.Second, "")
	s.end(child, "bad.1", 3, time.Second, "half of it\n")
	s.grant(step + "@recovery.1")
}

func wellDone(text string) effect.AgentReport {
	return effect.AgentReport{Name: "claude", Evidence: seen("a", "b", belay.FileChange{Path: "x.go", Change: belay.FileModified, Added: 3}),
		Result: belay.AgentResult{Final: true, Stop: belay.StopDone, Excerpt: text, TextSize: int64(len(text))}}
}

// A sub-recipe that an agent finished is recovered: its failed step is no
// failure of the run, what nobody could check is said, and the agent that
// helped is no step of its own.
//
// promise: A6, A8
func TestStoryOfARecoveredSubRecipe(t *testing.T) {
	t.Parallel()
	s := begin(t, callsTwo, inner, staffed)
	s.fallen("checked")
	live := strings.Join(s.board.Live(s.now.Add(3*time.Second), 79, 24, func(belay.Key) string { return "$ make" }), "\n") + "\n"
	later := strings.Join(s.later().Live(s.now.Add(3*time.Second), 79, 24, none), "\n") + "\n"
	s.report("checked@recovery.1", 10*time.Second, wellDone("finished"))
	checking := strings.Join(s.board.Live(s.now, 79, 24, none), "\n") + "\n"
	s.end("k3f9q", "checked@verify.1", 0, time.Second, "")
	s.fallen("loose")
	s.report("loose@recovery.1", time.Minute, wellDone("finished too"))
	if res := s.tree.Run("k3f9q").Result(); res == nil || res.Status != belay.Partial {
		t.Fatalf("result %+v", res)
	}
	if b := s.later(); b.story.Failed() != 0 || b.story.Done != s.board.story.Done || s.board.story.Failed() != 0 {
		t.Errorf("counted %d done and %v failed, a new board %d and %v", s.board.story.Done, s.board.story.Failed(), b.story.Done, b.story.Failed())
	}
	golden(t, "recovered", s.text()+"--\n"+live+"--\n"+later+"--\n"+checking+"--\n"+summary(s))
}

// An agent that could not finish a sub-recipe is told as failed, and then the
// step with the error that it had.
//
// promise: A1
func TestStoryOfARecoveryThatFailed(t *testing.T) {
	t.Parallel()
	s := begin(t, "name: outer\nsteps:\n  - {id: call, recipe: inner}\n", inner, staffed)
	s.fallen("call")
	r := wellDone("This is unrecoverable.")
	r.Result.GaveUp = true
	s.report("call@recovery.1", time.Second, r)
	golden(t, "unrecovered", s.text()+"--\n"+summary(s))
}

// A shell step that an agent mends: who helps is shown, on the live view too.
func TestStoryOfARepair(t *testing.T) {
	t.Parallel()
	s := begin(t, "name: r\nsteps:\n  - {id: test, command: go test ./...}\n", nil, staffed)
	s.end("k3f9q", "test.1", 1, time.Second, "--- FAIL: TestLogin (0.00s)\nFAIL\n")
	s.grant("test@repair.1")
	live := strings.Join(s.board.Live(s.now.Add(time.Second), 79, 24, none), "\n") + "\n"
	s.report("test@repair.1", time.Minute, wellDone("mended"))
	s.end("k3f9q", "test.2", 0, time.Second, "")
	golden(t, "repaired", s.text()+"--\n"+live+"--\n"+summary(s))
}

// A helper that is ended with its run is given back; nobody judges it.
func TestAnHelperIsEndedWithItsRun(t *testing.T) {
	t.Parallel()
	s := begin(t, "name: outer\nsteps:\n  - {id: call, recipe: inner}\n", inner, staffed)
	s.fallen("call")
	s.turn(flow.Fact{Run: "k3f9q", Event: event.RequestReceived{Request: event.Request{ID: "x", Run: "k3f9q", Ask: event.RequestStop}}})
	s.now = s.now.Add(time.Second)
	s.turn(flow.Fact{Run: "k3f9q", Event: event.AttemptEnded{Key: "k3f9q:call@recovery.1", Observation: effect.Observation{
		Began: true, Signal: 15, KilledBy: fault.KilledStop, Started: s.now.Add(-time.Second), Ended: s.now,
	}}})
	if want := "  stopped   call@recovery     1s · given back: it is started again at resume\n"; !strings.HasSuffix(s.text(), want) {
		t.Errorf("got\n%s", s.text())
	}
	if lines := s.board.Live(s.now, 79, 24, none); len(lines) != 0 {
		t.Errorf("still shown: %q", lines)
	}
}

// Every recovery is told at once: what is done, who takes over, when, and why.
//
// promise: R13
func TestEveryWayOutIsTold(t *testing.T) {
	t.Parallel()
	const src = `
name: ways
steps:
  - {id: ask, agent: claude, prompt: do it, fallback: {recipe: inner}}
  - {id: sh, command: x, fallback: {step: other}, needs: []}
  - {id: other, command: y}
`
	s := begin(t, src, inner, staffed)
	var b strings.Builder
	for _, step := range []belay.Path{"ask", "sh"} {
		for _, act := range belay.Acts() {
			if !act.Row().Planned {
				continue
			}
			p := belay.Plan{Act: act, Reason: "the reason", Due: start.Add(90 * time.Second)}
			switch act {
			case belay.ActFailover:
				p.Agent = "scripted:/some/where.yaml"
			case belay.ActReassign:
				p.Role = "devops"
			case belay.ActFresh:
				p.Timeout = 20 * time.Minute
			case belay.ActDecompose:
				if step == "ask" {
					p.Parts = []belay.Part{{Title: "read"}, {Title: "write"}}
				}
			}
			board := NewBoard(story.Live(s.tree))
			board.take(event.Record{At: start, Run: "k3f9q", Event: event.AttemptJudged{Key: belay.Key("k3f9q:" + string(step) + ".1"),
				Verdict: effect.Verdict{Failure: &belay.Failure{Kind: belay.BashFailure, Cause: "no luck"}}}})
			for _, l := range board.take(event.Record{At: start, Run: "k3f9q", Event: event.RecoveryChosen{Path: step, Plan: p}}) {
				b.WriteString(l.Format(false) + "\n")
			}
		}
	}
	golden(t, "ways", b.String())
}
