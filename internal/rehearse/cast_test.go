package rehearse

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/library"
	"github.com/belay-run/belay/internal/scripted"
)

// The script of a good day is one that the scripted agent takes, and it has
// what the recipe asks for.
func TestScript(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file(t, filepath.Join(dir, "r.yaml"), `name: r
steps:
  - {id: write, prompt: "Write notes.md, e.g. three lines, and commit.", expect: change}
  - {id: any, prompt: Do something., expect: change}
  - {id: tests, prompt: Test it., expect: tests}
  - {id: pr, prompt: Open it., expect: pr}
  - {id: data, prompt: Give JSON., parse_json_required: true, output: data, outputs: {one: {json: "deep.list[1]"}}}
  - {id: checked, prompt: Make it., verify: "test -s out/made.txt && grep -q 'all done' log.txt", outputs: {log: {file: log.txt}}}
  - {id: each, foreach: data.names, as: n, prompt: "{{n}} {{data.title}}", output: said}
  - {id: show, command: 'echo "{{data.count}} {{one}}"'}
`)
	set, err := library.Shelf{Work: dir}.Load(filepath.Join(dir, "r.yaml"))
	if err != nil || set.Errors() {
		t.Fatalf("%v %s", err, set.Text())
	}
	text, err := Script(set, 5)
	if err != nil {
		t.Fatal(err)
	}
	if err := scripted.Check(text); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, want := range []string{
		"path: notes.md", "commit: rehearse write", "path: rehearsal/any.txt", "rehearsal/pull/1",
		"path: out/made.txt", "  all done\n", "parts:", "seed 5",
		"count: rehearsed", "title: rehearsed", "- one\n", "- rehearsed\n",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("it has no %q:\n%s", want, text)
		}
	}
	for _, wrong := range []string{"e.g", "path: r.yaml"} {
		if strings.Contains(string(text), wrong) {
			t.Errorf("it has %q:\n%s", wrong, text)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "rehearsal")); err == nil {
		t.Error("making it up wrote something")
	}
}
