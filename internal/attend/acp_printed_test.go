package attend

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
