package main_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// agentExample is how an example with agents is run, and what must come of it.
type agentExample struct {
	args   []string // of belay run, over what all get
	env    []string
	repo   bool // it needs a repository with a commit
	code   int
	talk   string   // what the screen must say
	then   []string // the command after the run
	answer string   // and what it must print
}

// agentExamples is the table of the examples with agents.
func agentExamples() map[string]agentExample {
	return map[string]agentExample{
		"13-agent-evidence": {
			talk: "agents: 2 starts, 1.3k tokens, $0.004", then: []string{"logs", "x", "report"},
			answer: "the agent said: The haiku is in haiku.txt.\n4 stars: it has three lines\n" +
				"a knot holds the night\nthe rope remembers each hand\nmorning, still hanging\n",
		},
		"14-hollow-caught": {
			code: 6, talk: "nothing changed in the working tree", then: []string{"judge", "x", "fix"},
			answer: "hollow (95 % sure; expected: change)\n" +
				"  nothing changed in the working tree\n" +
				"  hint              this step must change a file or make a commit; if it need not, give it expect: none\n" +
				"  evidence for      1 tool call ended well\n  evidence for      an answer of 50 characters\n" +
				"  evidence against  nothing changed in the working tree\n",
		},
		"15-hang-and-resume": {
			env: []string{"BELAY_AGENTS_SILENCE=2s"}, talk: "its session is continued",
			then: []string{"logs", "x", "report"}, answer: "one\ntwo\nthree\n",
		},
		"16-own-agent": {then: []string{"logs", "x", "report"}, answer: "the parrot says sentence?\n"},
		"17-worktree": {
			repo: true, talk: "(branch belay/on-its-own-branch-x): unpushed", then: []string{"logs", "x", "report"},
			answer: "on branch belay/on-its-own-branch-x\nadd a note\n",
		},
		"18-budget": {
			args: []string{"--max-agents", "1"}, code: 11, talk: "1 of 1 agent starts are used",
			then: []string{"answer", "x", "second", "again", "--why", "one more is fine"}, answer: "*",
		},
		"19-repair": {
			talk: "exit 1: --- FAIL: Test_subtract; next: an agent is asked to fix it",
			then: []string{"logs", "x", "report"}, answer: "one and one is two\ntwo less one is one\n",
		},
		"20-failover": {
			args: []string{"--staff", "understudy"}, talk: "the account is used up: usage limit reached (HTTP 429) (scripted, no change); next: understudy takes over, attempt 2",
			then: []string{"logs", "x", "report"}, answer: "it is called Ariadne\n",
		},
		"21-fallback": {
			talk: "step from-cache instead", then: []string{"logs", "x", "report"}, answer: "we have the data of yesterday\n",
		},
		"22-split": {
			talk: "2 parts instead",
			then: []string{"logs", "x", "report"}, answer: "It was a dark night.\nThen came the morning.\n",
		},
		"23-recovered-sub-recipe": {
			talk: "1 done, 1 answered (not checked), 1 recovered", then: []string{"logs", "x", "report"}, answer: "this release has notes\n",
		},
		"24-ask-a-person": {
			code: 11, talk: "not logged in (HTTP 401)",
			then: []string{"answer", "x", "greet", "again", "--why", "I have logged in"}, answer: "*",
		},
	}
}

// TestAgentExamples runs every example with agents and checks its exit code,
// what it says, and what it left.
// promise: H3, F2, G4
func TestAgentExamples(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs(filepath.Join("..", "..", "examples"))
	if err != nil {
		t.Fatal(err)
	}
	for name, e := range agentExamples() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runAgentExample(t, filepath.Join(root, name), e)
		})
	}
}

func runAgentExample(t *testing.T, dir string, e agentExample) {
	t.Helper()
	p := newStage(t)
	if e.repo {
		newRepo(t, p.dir)
	}
	args := []string{"run", filepath.Join(dir, "recipe.yaml"), "-C", p.dir, "--id", "x"}
	if script := filepath.Join(dir, "script.yaml"); fileThere(script) {
		args = append(args, "--agent", "scripted:"+script)
	}
	env := append(e.env, "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	if settings := filepath.Join(dir, "settings.yaml"); fileThere(settings) {
		env = append(env, "BELAY_CONFIG="+settings)
	}
	out, talk, code := p.typed(t, env, append(args, e.args...)...)
	if code != e.code || !strings.Contains(out+talk, e.talk) {
		t.Errorf("exit %d, want %d; must say %q:\n%s%s", code, e.code, e.talk, out, talk)
	}
	if got, _, _ := p.typed(t, env, e.then...); e.answer != "*" && got != e.answer {
		t.Errorf("belay %v printed\n%s\nwant\n%s", e.then, got, e.answer)
	}
}

// TestExampleBudgetGoesOn answers for the held example and sees it through.
// promise: G4
func TestExampleBudgetGoesOn(t *testing.T) {
	t.Parallel()
	dir, err := filepath.Abs(filepath.Join("..", "..", "examples", "18-budget"))
	if err != nil {
		t.Fatal(err)
	}
	p := newStage(t)
	if _, talk, code := p.typed(t, nil, "run", filepath.Join(dir, "recipe.yaml"), "-C", p.dir, "--id", "x",
		"--max-agents", "1", "--agent", "scripted:"+filepath.Join(dir, "script.yaml")); code != 11 {
		t.Fatalf("exit %d:\n%s", code, talk)
	}
	p.belay(t, "answer", "x", "second", "again", "--why", "one more is fine")
	if out := p.belay(t, "resume", "x"); !strings.Contains(out, "\nrun x ACHIEVED") {
		t.Errorf("summary: %s", out)
	}
	if got := p.belay(t, "logs", "x", "report"); got != "rope and rope\n" {
		t.Errorf("report: %q", got)
	}
}

// TestExamplePersonIsAsked finds the held example in the inbox, answers, and
// sees it through.
// promise: X
func TestExamplePersonIsAsked(t *testing.T) {
	t.Parallel()
	dir, err := filepath.Abs(filepath.Join("..", "..", "examples", "24-ask-a-person"))
	if err != nil {
		t.Fatal(err)
	}
	p := newStage(t)
	if _, talk, code := p.typed(t, nil, "run", filepath.Join(dir, "recipe.yaml"), "-C", p.dir, "--id", "x",
		"--agent", "scripted:"+filepath.Join(dir, "script.yaml")); code != 11 {
		t.Fatalf("exit %d:\n%s", code, talk)
	}
	if out := p.belay(t, "inbox"); !strings.Contains(out, " answer x greet done|again|fail|skip --why TEXT") {
		t.Errorf("inbox: %s", out)
	}
	p.belay(t, "answer", "x", "greet", "again", "--why", "I have logged in")
	if out := p.belay(t, "resume", "x"); !strings.Contains(out, "\nrun x ACHIEVED") {
		t.Errorf("summary: %s", out)
	}
	if got := p.belay(t, "logs", "x", "report"); got != "the agent says hello\n" {
		t.Errorf("report: %q", got)
	}
	if out := p.belay(t, "history", "x", "--json"); !strings.Contains(out, "I have logged in") {
		t.Errorf("the reason is not on record: %s", out)
	}
}

// TestExampleRecoveryIsChecked takes the check away from the example with a
// recovered sub-recipe: then nobody knows, and the run is PARTIAL.
// promise: A6
func TestExampleRecoveryIsChecked(t *testing.T) {
	t.Parallel()
	dir, err := filepath.Abs(filepath.Join("..", "..", "examples", "23-recovered-sub-recipe"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "recipe.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	p := newStage(t)
	bare := strings.Replace(string(text), "    verify: test -s notes.txt\n", "", 1)
	if err := os.WriteFile(filepath.Join(p.dir, "bare.yaml"), []byte(bare), 0o600); err != nil || bare == string(text) {
		t.Fatalf("no check was taken away: %v", err)
	}
	args := []string{"run", filepath.Join(p.dir, "bare.yaml"), "-R", dir, "-C", p.dir, "--agent", "scripted:" + filepath.Join(dir, "script.yaml")}
	if out, talk, code := p.typed(t, nil, args...); code != 5 || !strings.Contains(out, "unverified: nothing in the recipe checks the work") {
		t.Errorf("without a check: exit %d:\n%s%s", code, out, talk)
	}
	if err := os.Remove(filepath.Join(p.dir, "notes.txt")); err != nil {
		t.Fatal(err)
	}
	if out, talk, code := p.typed(t, nil, append(args, "--recovery", "off")...); code != 1 {
		t.Errorf("with nobody asked: exit %d:\n%s%s", code, out, talk)
	}
}

// TestExampleWorktreeIsTidied merges the work of the example and sees gc remove
// the worktree, and not before.
func TestExampleWorktreeIsTidied(t *testing.T) {
	t.Parallel()
	dir, err := filepath.Abs(filepath.Join("..", "..", "examples", "17-worktree"))
	if err != nil {
		t.Fatal(err)
	}
	p := newStage(t)
	newRepo(t, p.dir)
	p.belay(t, "run", filepath.Join(dir, "recipe.yaml"), "-C", p.dir, "--id", "x", "--agent", "scripted:"+filepath.Join(dir, "script.yaml"))
	if fileThere(filepath.Join(p.dir, "notes.txt")) {
		t.Error("the file is in the user's own checkout")
	}
	if out := p.belay(t, "gc", "--yes"); !strings.Contains(out, "kept: its commits are not merged or pushed") {
		t.Errorf("before the merge: %s", out)
	}
	gitIn(t, p.dir, "merge", "-q", "belay/on-its-own-branch-x")
	if out := p.belay(t, "gc", "--yes"); !strings.Contains(out, "removed") {
		t.Errorf("after the merge: %s", out)
	}
	if !fileThere(filepath.Join(p.dir, "notes.txt")) {
		t.Error("the work is gone")
	}
}

// typed runs a command and gives its answer, its talk and its exit code.
func (p stage) typed(t *testing.T, env []string, args ...string) (out, talk string, code int) {
	t.Helper()
	var o, e strings.Builder
	cmd := exec.Command(program, append([]string{"--state", p.state}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = &o, &e
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return o.String(), e.String(), cmd.ProcessState.ExitCode()
}

func newRepo(t *testing.T, dir string) {
	t.Helper()
	gitIn(t, dir, "init", "-q", "-b", "main")
	gitIn(t, dir, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "--allow-empty", "-m", "first")
}

func gitIn(t *testing.T, dir string, args ...string) {
	t.Helper()
	if out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func fileThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
