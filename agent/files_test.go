package agent

import (
	"slices"
	"testing"
)

// A record that tells of several files is one call for each, and all of them are
// heard of: what an agent wrote must not hide behind the first of its files.
//
// promise: H3
func TestEveryFileOfAPatchIsTold(t *testing.T) {
	t.Parallel()
	for kind, lines := range map[Kind][]string{
		Codex: {
			`{"type":"item.started","item":{"id":"i1","type":"file_change","changes":[{"path":"/r/a.go"},{"path":"/r/b.go"}],"status":"in_progress"}}`,
			`{"type":"item.completed","item":{"id":"i1","type":"file_change","changes":[{"path":"/r/a.go","kind":"update"},{"path":"/r/b.go","kind":"add"}],"status":"completed"}}`,
		},
		Copilot: {
			`{"type":"tool.execution_start","data":{"toolCallId":"c1","toolName":"apply_patch","arguments":{}}}`,
			`{"type":"tool.execution_complete","data":{"toolCallId":"c1","success":true,"fileEdits":[{"path":"/r/a.go"},{"path":"/r/b.go"}]}}`,
		},
		OpenCode: {
			`{"type":"tool_use","sessionID":"s","part":{"type":"tool","tool":"apply_patch","callID":"c1","state":{"status":"completed","input":{"patchText":"*** Begin Patch\n*** Update File: a.go\n*** Add File: b.go"},"metadata":{"files":[{"filePath":"/r/a.go","type":"update"},{"filePath":"/r/b.go","type":"add"}]}}}}`,
		},
	} {
		ad, _ := New(kind)
		r := ad.Reader()
		var told []string
		for _, line := range lines {
			for _, s := range r.Line([]byte(line)) {
				if s.Kind == SignDone {
					told = append(told, s.Tool.Path)
				}
			}
		}
		if !slices.Equal(told, []string{"/r/a.go", "/r/b.go"}) {
			t.Errorf("%s tells of %q", kind, told)
		}
		var kept []string
		for _, c := range r.End(Exit{}).Tools {
			kept = append(kept, c.Path)
		}
		if !slices.Equal(kept, told) {
			t.Errorf("%s keeps %q", kind, kept)
		}
	}
}

// A tool of a server tells the file that it writes, and one that looks does not.
//
// promise: H3
func TestServersTellTheirFiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind       Kind
		line, want string
	}{
		{Claude, `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"a","name":"mcp__filesystem__write_file","input":{"path":"/r/a.go"}}]}}`, "/r/a.go"},
		{Claude, `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"a","name":"mcp__filesystem__move_file","input":{"source":"/r/a.go","destination":"/r/b.go"}}]}}`, "/r/b.go"},
		{Claude, `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"a","name":"mcp__serena__replace_symbol_body","input":{"relative_path":"a.go"}}]}}`, "a.go"},
		{Qwen, `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"a","name":"notebook_edit","input":{"notebook_path":"a.ipynb"}}]}}`, "a.ipynb"},
		{Claude, `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"a","name":"mcp__jetbrains__replace_text_in_file","input":{"pathInProject":"src/a.go"}}]}}`, "src/a.go"},
		{OpenCode, `{"type":"tool_use","sessionID":"s","part":{"type":"tool","tool":"apply_patch","callID":"c","state":{"status":"completed","input":{"patchText":"*** Begin Patch\n*** Delete File: old.go\n*** End Patch"}}}}`, "old.go"},
		{Claude, `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"a","name":"mcp__filesystem__read_file","input":{"path":"/r/a.go"}}]}}`, ""},
		{Claude, `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"a","name":"mcp__edit__analyze","input":{"path":"/r/a.go"}}]}}`, ""},
		{Codex, `{"type":"item.completed","item":{"id":"i","type":"mcp_tool_call","server":"fs","tool":"write_file","arguments":{"path":"/r/a.go"},"status":"completed"}}`, "/r/a.go"},
		{Codex, `{"type":"item.completed","item":{"id":"i","type":"mcp_tool_call","server":"fs","tool":"read_file","arguments":{"path":"/r/a.go"},"status":"completed"}}`, ""},
	} {
		ad, _ := New(c.kind)
		r := ad.Reader()
		r.Line([]byte(c.line))
		tools := r.End(Exit{}).Tools
		if len(tools) != 1 || tools[0].Path != c.want {
			t.Errorf("%s: %+v, want %q", c.line, tools, c.want)
		}
	}
}
