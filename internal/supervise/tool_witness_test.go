package supervise

import (
	"fmt"
	"slices"
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/verdict"
)

// transcript is what Claude Code prints about calls of its shell, one for each
// command.
type transcript struct{ lines []string }

func (s *transcript) call(name, command, result string) {
	id := fmt.Sprint("c", len(s.lines))
	s.lines = append(s.lines,
		fmt.Sprintf(`{"type":"assistant","message":{"content":[{"type":"tool_use","id":%q,"name":%q,"input":{"command":%q}}]}}`, id, name, command))
	if result != "" {
		s.lines = append(s.lines, fmt.Sprintf(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":%q,%s}]},"tool_use_result":{"stdout":""}}`, id, result))
	}
}

const (
	fine   = `"content":"ok"`
	denied = `"is_error":true,"content":"Permission to use Bash has been denied"`
)

// seen reads it as an attendant does.
func (s *transcript) seen(t *testing.T, hide func(string) string) belay.AgentResult {
	t.Helper()
	ad, _ := agent.New(agent.Claude)
	r, w := ad.Reader(), Witness{Hide: hide}
	agent.Conceal(r, hide)
	for _, line := range append(s.lines, `{"type":"result","is_error":false,"result":"done"}`) {
		for _, sign := range r.Line([]byte(line)) {
			w.Hear(sign)
		}
	}
	res := r.End(agent.Exit{})
	res.Excerpt = res.Text
	res.Tools, _ = w.Calls(res)
	return res
}

// A tool that was denied once and ended well another time, in the middle of
// many calls, is not held against an agent.
//
// promise: H3
func TestWitnessAllowedAfterAll(t *testing.T) {
	t.Parallel()
	for _, allowed := range []bool{true, false} {
		var s transcript
		for range 100 {
			s.call("Grep", "", fine)
		}
		s.call("Bash", "rm x", denied)
		if allowed {
			s.call("Bash", "rm x", fine)
		}
		for range 100 {
			s.call("Grep", "", fine)
		}
		res := s.seen(t, nil)
		if !slices.Contains(res.Denied, "Bash") {
			t.Fatalf("denied %q", res.Denied)
		}
		v := verdict.Of(verdict.Case{Step: "s", Type: belay.TypeAgent, Expect: belay.ExpectAnswer,
			Main: effect.Observation{Began: true, Agent: &effect.AgentReport{Name: "claude", Result: res}}})
		if v.OK != allowed {
			t.Errorf("allowed %v: %+v", allowed, v)
		}
	}
}

// What a witness keeps is bounded, whatever goes by.
func TestWitnessIsBounded(t *testing.T) {
	t.Parallel()
	var w Witness
	for i := range 5000 {
		id := fmt.Sprint(i)
		call := belay.ToolCall{Name: id, Command: "go test", Path: "/x/" + id}
		w.Hear(agent.Sign{Kind: agent.SignDone, ID: id, Tool: &call})
	}
	if len(w.well) > maxSeenNames || len(w.files) > maxSeenFiles {
		t.Fatalf("%d names, %d files", len(w.well), len(w.files))
	}
}
