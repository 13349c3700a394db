package main_test

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// olderPlace is a repository with the recipes of testdata/older in the folder where the
// older runner looks for them, an origin, and the programs that the recipes call.
func olderPlace(t *testing.T) *place {
	t.Helper()
	p := newPlace(t)
	from, err := filepath.Abs("testdata/older")
	if err != nil {
		t.Fatal(err)
	}
	gitIn(t, p.root, "init", "-q", "--bare", "-b", "main", "origin.git")
	newRepo(t, p.dir)
	gitIn(t, p.dir, "config", "user.name", "a")
	gitIn(t, p.dir, "config", "user.email", "a@example.org")
	gitIn(t, p.dir, "remote", "add", "origin", filepath.Join(p.root, "origin.git"))
	p.put(".gitignore", "worktrees/\namplifier-bundle/\n.claude/\n")
	p.put("src/limit.txt", "the limit is 3\n")
	gitIn(t, p.dir, "add", "-A")
	gitIn(t, p.dir, "commit", "-q", "-m", "a limit")
	gitIn(t, p.dir, "push", "-q", "origin", "main")
	if err := os.CopyFS(filepath.Join(p.dir, "amplifier-bundle", "recipes"), os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	p.env[0] = "PATH=" + filepath.Join(from, "bin") + string(os.PathListSeparator) + strings.TrimPrefix(p.env[0], "PATH=")
	p.env = append(p.env, "TREE="+filepath.Join(p.root, "tree"), "GH_CALLS="+filepath.Join(p.root, "gh"), "GIT_HOST=github", "GIT_CONFIG_NOSYSTEM=1")
	return p
}

// older runs one of the recipes with --compat.
func (p *place) older(code int, name string, sets ...string) {
	p.t.Helper()
	recipes := filepath.Join(p.dir, "amplifier-bundle", "recipes")
	args := []string{"--compat", "--agent", "scripted:" + filepath.Join(recipes, "agents.yaml")}
	for _, s := range sets {
		args = append(args, "--set", s)
	}
	p.start(code, filepath.Join(recipes, name+".yaml"), args...)
}

// strictly is refused: what makes these recipes run is --compat.
func (p *place) strictly(name string) {
	p.t.Helper()
	p.belay(65, "validate", filepath.Join(p.dir, "amplifier-bundle", "recipes", name+".yaml"))
}

// ends are how all steps of the last run ended, those of sub-recipes too: the ids that
// came to each phase.
func (p *place) ends() map[string][]string {
	p.t.Helper()
	p.belay(0, "show", p.id(), "--json")
	ends := map[string][]string{}
	for line := range strings.Lines(p.out) {
		var o struct{ Step, Phase string }
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			p.t.Fatalf("%v: %s", err, line)
		}
		if o.Step != "" {
			ends[o.Phase] = append(ends[o.Phase], o.Step)
		}
	}
	return ends
}

// endsWith holds the steps of a phase against a list.
func (p *place) endsWith(phase string, want ...string) {
	p.t.Helper()
	ends := p.ends()
	got := ends[phase]
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		p.t.Errorf("%s:\n got %q\nwant %q\nphases: %q", phase, got, want, slices.Sorted(maps.Keys(ends)))
	}
}

// lastly holds an output of the last run against a text.
func (p *place) lastly(path, want string) {
	p.t.Helper()
	p.belay(0, "logs", p.id(), path)
	if got := strings.TrimSpace(p.out); got != want {
		p.t.Errorf("%s: %q, want %q", path, got, want)
	}
}

func (p *place) git(args ...string) string {
	p.t.Helper()
	out, err := exec.Command("git", append([]string{"-C", p.dir}, args...)...).Output()
	if err != nil {
		p.t.Fatalf("git %v: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}

// unused are the steps of the older default-workflow that a plain good day leaves out.
var unused = []string{
	"step-02c-resolve-ambiguity", "step-05b-api", "step-05c-database", "step-06c-doc-refinement", "step-09-integration",
	"step-10b-optimise", "step-14b-lockfiles", "step-16c-outside-in-fix", "step-17d-blocking", "step-18-feedback",
	"step-18b-push", "step-18c-comments", "step-20c-push-cleanup", "enforce-final",
}

const olderBranch = "feat/issue-7-add-a-limit"

// wasPublished looks at what the older default-workflow leaves behind.
func (p *place) wasPublished() {
	p.t.Helper()
	if a, b := p.git("rev-parse", olderBranch), p.git("ls-remote", "origin", "refs/heads/"+olderBranch); !strings.HasPrefix(b, a) {
		p.t.Errorf("%s is at %s, and %q is pushed", olderBranch, a, b)
	}
	if got := p.git("show", olderBranch+":limit.txt"); got != "3\nrequests" {
		p.t.Errorf("limit.txt is %q", got)
	}
	if got := p.git("status", "--porcelain"); got != "" && got != "?? cache/" {
		p.t.Errorf("the user's tree has %q", got)
	}
	calls, err := os.ReadFile(filepath.Join(p.root, "gh"))
	if err != nil {
		p.t.Fatal(err)
	}
	for _, want := range []string{"issue create --title add a limit", "## Requirements\na limit of 3", "pr create --draft --title add a limit --body Closes #7", "pr ready 8"} {
		if !strings.Contains(string(calls), want) {
			p.t.Errorf("gh was not called with %q:\n%s", want, calls)
		}
	}
}

// A recipe of the shape of the older default-workflow: nine sub-recipes, a worktree, an
// issue, a pull request. Its limit of 80 steps counted skipped ones there; here it does not.
// promise: L
func TestOlderDefaultWorkflow(t *testing.T) {
	t.Parallel()
	p := olderPlace(t)
	p.older(0, "default-workflow", "task_description=add a limit")
	p.endsWith("not_taken", unused...)
	p.endsWith("failed")
	if done := len(p.ends()["done"]); done != 72 {
		t.Errorf("%d steps are done", done)
	}
	p.wasPublished()
	p.lastly("workflow-finalize/step-22-status", "add a limit: pull request 8\nbranch "+olderBranch+" of add a limit")
	p.lastly("workflow-finalize/workflow-complete", "complete: IMPLEMENTED_VERIFIED")

	// What it validates is looked at before anything starts; the code is Belay's.
	p.strictly("default-workflow")
	p.older(65, "default-workflow", "task_description=add a limit", "repo_path=nowhere")
	p.says(`"repo_path" is the path nowhere`)
}

// The older investigation-workflow: four sub-recipes with 26 steps.
// promise: L
func TestOlderInvestigationWorkflow(t *testing.T) {
	t.Parallel()
	p := olderPlace(t)
	p.older(0, "investigation-workflow", "task_description=find out where the limit is")
	if done := len(p.ends()["done"]); done != 24 {
		t.Errorf("%d steps are done", done)
	}
	p.endsWith("failed", "inv-efficiency") // it is not fatal
	p.endsWith("not_taken", "inv-clarify", "inv-history", "inv-specialist", "inv-patterns-kept", "inv-transition")
	p.lastly("report/inv-final", "report: The limit is in src/limit.txt.")
	notes, err := os.ReadFile(filepath.Join(p.dir, ".investigation", "notes.md"))
	if want := "# find out where the limit is\n1. Fine.\n2. Fine.\n3. Fine.\nFine.\n"; err != nil || string(notes) != want {
		t.Errorf("the notes are %q, %v", notes, err)
	}
	p.strictly("investigation-workflow")
	p.older(65, "investigation-workflow", "task_description=")
	p.says(`"task_description" is required`)
}

// The older smart-orchestrator routes each type of task to who does it, and all steps
// that are not for it are left out.
// promise: L
func TestOlderOrchestrator(t *testing.T) {
	t.Parallel()
	routes := []string{
		"handle-qa", "handle-ops-agent", "ops-file-change-check", "execute-single-round-1-development",
		"execute-single-round-1-investigation", "create-workstreams-config", "launch-parallel-round-1",
		"execute-single-fallback-blocked-development", "execute-single-fallback-blocked-investigation", "detect-execution-gap",
		"file-routing-bug", "adaptive-execute-development", "adaptive-execute-investigation",
		"execute-round-2", "reflect-round-2", "execute-round-3", "validate-outside-in-testing",
	}
	for task, c := range map[string]struct {
		taken []string // of those above
		left  []string // beside them
	}{
		"which limit is it?": {taken: []string{"handle-qa"}},
		"clean the cache":    {taken: []string{"handle-ops-agent", "ops-file-change-check"}},
		"find out where the limit is": {
			taken: []string{"execute-single-round-1-investigation"},
			left:  []string{"inv-clarify", "inv-history", "inv-specialist", "inv-patterns-kept", "inv-transition"},
		},
		"look at the limit, with an answer that is JSON alone": {
			taken: []string{"execute-single-round-1-investigation"},
			left:  []string{"inv-clarify", "inv-history", "inv-specialist", "inv-patterns-kept", "inv-transition"},
		},
		"add a limit":                         {taken: []string{"execute-single-round-1-development", "validate-outside-in-testing"}, left: unused},
		"add two parts":                       {taken: []string{"create-workstreams-config", "launch-parallel-round-1", "validate-outside-in-testing"}},
		"which limit is it, and leave a gap?": {taken: []string{"handle-qa", "execute-round-2", "reflect-round-2"}},
	} {
		t.Run(task, func(t *testing.T) {
			t.Parallel()
			p := olderPlace(t)
			p.put("cache/x", "")
			p.older(0, "smart-orchestrator", "task_description="+task)
			want := slices.DeleteFunc(slices.Clone(routes), func(s string) bool { return slices.Contains(c.taken, s) })
			p.endsWith("not_taken", append(want, c.left...)...)
			if failed := p.ends()["failed"]; len(failed) == 0 || failed[len(failed)-1] != "cleanup-helper" {
				t.Errorf("%q failed; one that is not fatal was to", failed)
			}
			p.lastly("validate-summarize/complete-session", "session complete")
			tree, err := os.ReadFile(filepath.Join(p.root, "tree"))
			if err != nil || !strings.HasSuffix(string(tree), "complete orch\n") || p.exists(".claude/runtime/locks/.workflow_active") {
				t.Errorf("the session is not over: %q, %v", tree, err)
			}
			switch task {
			case "add a limit":
				p.strictly("smart-orchestrator")
				p.wasPublished()
			case "add two parts":
				p.lastly("execute-routing/launch-parallel-round-1", "workstream one: done\nworkstream two: done")
			}
			if gone := !p.exists("cache/x"); gone != (task == "clean the cache") {
				t.Errorf("the cache is gone: %v", gone)
			}
			if there := p.exists("second.txt"); there != strings.Contains(task, "gap") {
				t.Errorf("what the second round makes is there: %v", there)
			}
		})
	}
}
