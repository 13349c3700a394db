package attend

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/worktree"
)

// target is the file that the recorded agents were told to write.
var target = regexp.MustCompile(`/home/dev/[\w./-]*/out\.txt`)

// In every recorded run in which a real agent wrote a file, its records name
// that file; where the tool was denied to it, they name none.
//
// promise: H3
func TestRecordedAgentsNameWhatTheyWrote(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../agent/testdata/captures/*/*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	denied := []string{"claude/perm-default", "copilot/perm-default", "gemini/perm-default", "opencode/perm-ask"}
	n := 0
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(src, []byte("written by mock")) {
			continue
		}
		n++
		kind, name := agent.Kind(filepath.Base(filepath.Dir(file))), strings.TrimSuffix(filepath.Base(file), ".jsonl")
		t.Run(string(kind)+"/"+name, func(t *testing.T) {
			t.Parallel()
			var want []string
			if !slices.Contains(denied, string(kind)+"/"+name) {
				want = []string{"out.txt"}
			}
			if got := namedBy(t, kind, src); !slices.Equal(got, want) {
				t.Errorf("named %q, want %q", got, want)
			}
		})
	}
	if n < 15 {
		t.Errorf("only %d recorded runs wrote a file", n)
	}
}

// namedBy reads a recorded run as if its target lay in a repository, in which
// that file is new.
func namedBy(t *testing.T, kind agent.Kind, src []byte) []string {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	tree := worktree.Tree{Dir: dir}
	base := tree.Print(t.Context())
	if err := os.WriteFile(filepath.Join(dir, "out.txt"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	ad, ok := agent.New(kind)
	if !ok {
		t.Fatalf("no agent %q", kind)
	}
	r, w := ad.Reader(), Witness{}
	for line := range bytes.Lines(target.ReplaceAll(src, []byte(filepath.Join(dir, "out.txt")))) {
		for _, s := range r.Line(bytes.TrimSuffix(line, []byte("\n"))) {
			w.Hear(s)
		}
	}
	w.Over()
	own := tree.SinceBy(t.Context(), base, tree.Print(t.Context()), nil, w.Own(kind)).Own
	if !own.Told {
		t.Error("nobody told of any tool")
	}
	return own.Named
}

// What was under way when an agent ended may have come far; an agent that does
// not tell its tools says nothing by that.
//
// promise: H3
func TestOwnDoings(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	base := worktree.Tree{Dir: dir}.Print(t.Context())
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	now := worktree.Tree{Dir: dir}.Print(t.Context())
	call := func(k agent.SignKind, command string) agent.Sign {
		return agent.Sign{Kind: k, ID: "1", Tool: &belay.ToolCall{Name: "bash", Command: command}}
	}
	for name, c := range map[string]struct {
		kind  agent.Kind
		signs []agent.Sign
		want  belay.Doing
	}{
		"none, of one that tells":     {agent.Claude, nil, belay.Doing{Told: true}},
		"none, of one that does not":  {agent.Command, nil, belay.Doing{}},
		"none, of one that may":       {agent.ACP, nil, belay.Doing{}},
		"a look, of one that may":     {agent.ACP, []agent.Sign{call(agent.SignDone, "ls")}, belay.Doing{Told: true}},
		"under way when it was ended": {agent.Codex, []agent.Sign{call(agent.SignTool, "echo x >a.txt; sleep 9")}, belay.Doing{Told: true, Writes: true, Named: []string{"a.txt"}}},
		"ended": {agent.Codex, []agent.Sign{call(agent.SignTool, "touch a.txt"), call(agent.SignDone, "ls")},
			belay.Doing{Told: true}},
	} {
		var w Witness
		for _, s := range c.signs {
			w.Hear(s)
		}
		w.Over()
		got := worktree.Tree{Dir: dir}.SinceBy(t.Context(), base, now, nil, w.Own(c.kind)).Own
		if got.Told != c.want.Told || got.Writes != c.want.Writes || !slices.Equal(got.Named, c.want.Named) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// A call that failed may have done something, until it turns out that it was
// denied.
//
// promise: H3
func TestDeniedCallsDidNothing(t *testing.T) {
	t.Parallel()
	failed := agent.Sign{Kind: agent.SignDone, ID: "a", Tool: &belay.ToolCall{Name: "Bash", Command: "make; sed -i s/a/b/ x", Failed: true}}
	denied := agent.Sign{Kind: agent.SignDone, ID: "a", Tool: &belay.ToolCall{Name: "Bash", Command: "make; sed -i s/a/b/ x", Failed: true, Denied: true}}
	other := agent.Sign{Kind: agent.SignDone, ID: "b", Tool: failed.Tool}
	for name, c := range map[string]struct {
		signs []agent.Sign
		want  bool
	}{
		"failed":                    {[]agent.Sign{failed}, true},
		"denied, told at the end":   {[]agent.Sign{failed, denied}, false},
		"denied":                    {[]agent.Sign{denied}, false},
		"one denied, another ended": {[]agent.Sign{failed, other, denied}, true},
	} {
		var w Witness
		for _, s := range c.signs {
			w.Hear(s)
		}
		w.Over()
		if got := !reflect.DeepEqual(*w.Own(agent.Claude), worktree.Doings{}); got != c.want {
			t.Errorf("%s: may have changed files: %v", name, got)
		}
	}
}
