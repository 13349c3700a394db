package agent

import (
	"testing"

	"github.com/belay-run/belay"
)

// The same behaviour of a model service has the same class with every CLI, as
// far as the CLI tells it. These are claims; the golden table is the record.
func TestABehaviourHasOneClass(t *testing.T) {
	t.Parallel()
	claims := map[string]belay.Class{
		"http401": belay.ClassAuth, "http403": belay.ClassAuth, "http404": belay.ClassInvalidInput,
		"http429": belay.ClassRateLimit, "http429long": belay.ClassRateLimit, "quota": belay.ClassQuota,
		"ctx400": belay.ClassTokenLimit, "http500": belay.ClassTransient, "http529": belay.ClassTransient,
		"drop": belay.ClassTransient, "dropearly": belay.ClassTransient, "malformed": belay.ClassTransient, "badsse": belay.ClassTransient,
		"refused": belay.ClassTransient, "nodns": belay.ClassTransient,
	}
	seen := map[belay.Class]int{}
	for _, c := range captures(t) {
		want, ok := claims[c.name]
		if !ok {
			continue
		}
		r, _ := c.read(t)
		if r.Class == belay.ClassNone && !r.Final && r.Retries == 0 {
			continue // it was ended before it had said anything
		}
		seen[want]++
		if r.Class != want {
			t.Errorf("%s/%s: class %q, want %q", c.kind, c.name, r.Class, want)
		}
		if r.Final && !r.Error {
			t.Errorf("%s/%s: a failure without an error flag", c.kind, c.name)
		}
	}
	for _, class := range []belay.Class{belay.ClassAuth, belay.ClassRateLimit, belay.ClassQuota, belay.ClassTokenLimit, belay.ClassTransient} {
		if seen[class] < 4 {
			t.Errorf("only %d captures showed %s", seen[class], class)
		}
	}
}

// What looks like a success and is none can be told from the result, or is
// known not to be told by that CLI.
//
// promise: F5
// promise: H3
func TestSilentSuccesses(t *testing.T) {
	t.Parallel()
	all := map[string]belay.AgentResult{}
	for _, c := range captures(t) {
		r, _ := c.read(t)
		all[string(c.kind)+"/"+c.name] = r
	}
	for name, ok := range map[string]func(belay.AgentResult) bool{
		"claude/perm-default":  func(r belay.AgentResult) bool { return len(r.Denied) == 1 && r.Denied[0] == "Write" },
		"copilot/perm-default": func(r belay.AgentResult) bool { return len(r.Denied) == 1 && r.Tools[0].Denied },
		"opencode/perm-ask":    func(r belay.AgentResult) bool { return len(r.Denied) == 1 && !r.Final && r.TextSize == 0 },
		"claude/empty":         func(r belay.AgentResult) bool { return r.TextSize == 0 },
		"codex/empty":          func(r belay.AgentResult) bool { return r.TextSize == 0 },
		"codex/refuse":         func(r belay.AgentResult) bool { return r.TextSize == 0 },
		"gemini/empty":         func(r belay.AgentResult) bool { return r.Error },
		"opencode/maxtok":      func(r belay.AgentResult) bool { return r.Stop == belay.StopTruncated },
		"claude/sigint-in-tool": func(r belay.AgentResult) bool {
			return r.Error && r.Class == belay.ClassCancelled && len(r.Denied) == 0
		},
		"gemini/norelaunch-sigterm-waiting": func(r belay.AgentResult) bool { return !r.Final },
		"gemini/norelaunch-sigint-in-tool":  func(r belay.AgentResult) bool { return !r.Final && r.Tools[0].Open },
	} {
		r, found := all[name]
		if !found || r.Exit != 0 || !ok(r) {
			t.Errorf("%s: found %v, %+v", name, found, r)
		}
	}
}

// Commands keep their words and their exit codes.
func TestCommandsAndPathsOfTools(t *testing.T) {
	t.Parallel()
	const fails = "echo oops >&2; exit 7"
	commands, paths := 0, 0
	for _, c := range captures(t) {
		r, _ := c.read(t)
		if c.name == "failing-tool" {
			commands++
			call := r.Tools[0]
			if call.Command != fails {
				t.Errorf("%s: command %q", c.kind, call.Command)
			}
			if told := c.kind != Gemini; told != (call.Exit != nil && *call.Exit == 7 && call.Failed) {
				t.Errorf("%s: %+v", c.kind, call)
			}
		}
		if c.name == "tool" && c.kind != Codex { // which writes by a command
			paths++
			if call := r.Tools[0]; call.Path != "/home/dev/agents/runs/"+string(c.kind)+"/tool/home/dev/out.txt" || call.Failed {
				t.Errorf("%s: %+v", c.kind, call)
			}
		}
	}
	if commands != len(recorded()) || paths != len(recorded())-1 {
		t.Errorf("%d commands and %d paths were looked at", commands, paths)
	}
}
