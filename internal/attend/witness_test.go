package attend

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
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
func (s *transcript) seen(t *testing.T, hide func(string) string) (belay.AgentResult, belay.Evidence) {
	t.Helper()
	ad, _ := agent.New(agent.Claude)
	r, w := ad.Reader(), Witness{Hide: hide}
	agent.Conceal(r, hide)
	for _, line := range append(s.lines, `{"type":"result","is_error":false,"result":"done"}`) {
		for _, sign := range r.Line([]byte(line)) {
			w.Hear(sign)
		}
	}
	w.Over()
	res := r.End(agent.Exit{})
	res.Excerpt = res.Text
	var e belay.Evidence
	res.Tools, _ = w.Calls(res)
	w.Testify(&e)
	return res, e
}

// Tests and a pull request in the middle of many calls are seen, and so is what
// stands behind a long beginning of a command.
//
// promise: H3
func TestWitness(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 3000)
	for name, c := range map[string]struct {
		calls func(*transcript)
		tests string // how the last one is told: own, masked, open; "" = none
		pr    bool
	}{
		"in the middle": {func(s *transcript) {
			for range 200 {
				s.call("Bash", "ls", fine)
			}
			s.call("Bash", "go test ./...", fine)
			s.call("Bash", "gh pr create --fill", fine)
			for range 200 {
				s.call("Bash", "ls", fine)
			}
		}, "own", true},
		"hidden behind a long word": {func(s *transcript) { s.call("Bash", "go test -run "+long+" || true", fine) }, "masked", false},
		"long and honest":           {func(s *transcript) { s.call("Bash", "go test -run "+long, fine) }, "own", false},
		"too long to be looked at":  {func(s *transcript) { s.call("Bash", "go test -run "+strings.Repeat("x", 70<<10), fine) }, "masked", false},
		"a pull request that may have failed": {func(s *transcript) {
			s.call("Bash", "gh pr create --body "+long+" || true", fine)
		}, "", false},
		"never ended": {func(s *transcript) { s.call("Bash", "go test ./...", "") }, "open", false},
		"denied":      {func(s *transcript) { s.call("Bash", "go test ./...", denied) }, "", false},
	} {
		var s transcript
		c.calls(&s)
		_, e := s.seen(t, nil)
		got := ""
		if n := len(e.Tests); n > 0 {
			switch last := e.Tests[n-1]; {
			case last.Open:
				got = "open"
			case last.Masked && last.Exit == nil:
				got = "masked"
			case last.Exit != nil && *last.Exit == 0:
				got = "own"
			}
			if len(e.Tests[n-1].Command) > maxCommand {
				t.Errorf("%s: %d bytes of a command are kept", name, len(e.Tests[n-1].Command))
			}
		}
		if got != c.tests || (e.PR != "") != c.pr {
			t.Errorf("%s: tests %q, want %q; pull request %q; %+.300v", name, got, c.tests, e.PR, e.Tests)
		}
	}
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
		res, e := s.seen(t, nil)
		if !slices.Contains(res.Denied, "Bash") {
			t.Fatalf("denied %q", res.Denied)
		}
		v := verdict.Of(verdict.Case{Step: "s", Type: belay.TypeAgent, Expect: belay.ExpectAnswer,
			Main: belay.Observation{Began: true, Agent: &belay.AgentReport{Name: "claude", Result: res, Evidence: e}}})
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
		w.Hear(agent.Sign{Kind: agent.SignTool, ID: "open" + id, Tool: &call})
		w.Hear(agent.Sign{Kind: agent.SignDone, ID: id, Tool: &call})
	}
	if len(w.open) > maxSeenOpen || len(w.tests) > maxSeenTests || len(w.well) > maxSeenNames || len(w.files) > maxSeenFiles {
		t.Fatalf("%d open, %d tests, %d names, %d files", len(w.open), len(w.tests), len(w.well), len(w.files))
	}
}
