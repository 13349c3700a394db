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
