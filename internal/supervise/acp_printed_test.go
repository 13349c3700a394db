package supervise

import (
	"testing"

	acp "github.com/coder/acp-go-sdk"
)

// What a command of an agent of the protocol printed is looked at for tests.
// promise: H3
func TestPrintedOverTheProtocol(t *testing.T) {
	t.Parallel()
	shown := []acp.ToolCallContent{acp.ToolContent(acp.TextBlock("2 passed in 0.1s"))}
	for name, c := range map[string]struct {
		output  any
		content []acp.ToolCallContent
		passed  int
	}{
		"a text":             {"3 passed in 0.1s", nil, 3},
		"stdout and stderr":  {map[string]any{"stdout": "3 passed in 0.1s", "stderr": "ok"}, nil, 3},
		"told twice":         {map[string]any{"output": "3 passed in 0.1s\n", "stdout": "3 passed in 0.1s"}, nil, 3},
		"only shown":         {map[string]any{"exit_code": 0.0}, shown, 2},
		"the output is more": {"3 passed in 0.1s", shown, 3},
		"nothing":            {nil, nil, 0},
	} {
		var talk talk
		talk.begin(acp.SessionUpdateToolCall{ToolCallId: "a", Kind: acp.ToolKindExecute, RawInput: map[string]any{"command": "pytest"}})
		end := talk.end("a", acp.ToolCallStatusCompleted, c.output, c.content).Tool
		if c.passed == 0 && end.Tally != nil || c.passed != 0 && (end.Tally == nil || end.Tally.Passed != c.passed) {
			t.Errorf("%s: %+v, want %d", name, end.Tally, c.passed)
		}
	}
}

// A command that is told as a list of words is the line that a shell would read.
func TestACPCommandsInWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		input any
		want  string
	}{
		{map[string]any{"command": "go test ./..."}, "go test ./..."},
		{map[string]any{"command": []any{"bash", "-lc", "go test ./... | grep '^ok'"}}, "go test ./... | grep '^ok'"},
		{map[string]any{"cmd": []any{"git", "commit", "-m", "it's done"}}, `git commit -m 'it'\''s done'`},
		{map[string]any{"command": []any{"sleep", 1.0}}, "sleep 1"},
		{map[string]any{"command": 7.0}, ""},
		{nil, ""},
	} {
		if got, long := commandOf(c.input); got != c.want || long {
			t.Errorf("%v: %q, %v", c.input, got, long)
		}
	}
}
