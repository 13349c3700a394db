package worktree

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/belaytest/scratch"
	"github.com/belay-run/belay/internal/failpoint"
)

// victimKey names the variable that makes the test binary a process which does
// one thing of this room and can be killed at its failpoints.
const victimKey = "WORKTREE_VICTIM"

// deadly is what a victim is asked to do.
type deadly struct {
	Create   *Options
	Merge    *MergeOrder
	Conflict *MergeOrder
	Dir      string
}

func TestMain(m *testing.M) {
	if os.Getenv("BELAY_SWEEPS") != "all" { // else with files as big as they are
		maxContent = 3 << 20
	}
	if text := os.Getenv(victimKey); text != "" {
		var d deadly
		err := json.Unmarshal([]byte(text), &d)
		switch ctx := context.Background(); {
		case err != nil:
		case d.Create != nil:
			_, err = Create(ctx, d.Dir, *d.Create)
		case d.Merge != nil:
			_, err = Merge(ctx, *d.Merge)
		case d.Conflict != nil:
			_, err = Conflict(ctx, *d.Conflict)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	flag.Parse()
	if err := scratch.SideBySide(); err != nil { // tests wait for git and for clocks
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(scratch.Use(func() int { return withModels(m.Run) }))
}

// models is where repositories are that tests copy.
var models string

func withModels(run func() int) int {
	dir, err := os.MkdirTemp("", "belay-models-")
	if err == nil {
		defer os.RemoveAll(dir)
		models, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return run()
}

// armed builds a victim that has failpoints.
func armed(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "victim")
	cmd := exec.CommandContext(t.Context(), "go", "test", "-c", "-tags", "failpoints", "-o", file, ".")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build the victim: %v\n%s", err, out)
	}
	return file
}

// killed runs a victim that is to die at a point, and tells whether it did.
func (p pair) killed(victim, point string, d deadly) bool {
	p.t.Helper()
	b, err := json.Marshal(d)
	p.must(err)
	cmd := exec.CommandContext(p.t.Context(), victim)
	cmd.Env = append(p.env(), victimKey+"="+string(b), "BELAY_FP="+point+":kill")
	out, err := cmd.CombinedOutput()
	if err != nil && !strings.Contains(err.Error(), "killed") {
		p.t.Fatalf("the victim of %s: %v\n%s", point, err, out)
	}
	return err != nil
}

// All deaths share one victim: building it takes most of the time.
func TestLongDeaths(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	victim := armed(t)
	t.Run("of a merge", func(t *testing.T) { t.Parallel(); mergeIsKilledAnywhere(t, victim) })
	t.Run("of a merge, and files change", func(t *testing.T) { t.Parallel(); filesOfAHalfMergeChange(t, victim) })
	t.Run("of a making", func(t *testing.T) { t.Parallel(); makingIsKilledAnywhere(t, victim) })
}

// Death at any moment of a merge, and the same call again: what an undisturbed
// merge gives. On a change every point is hit in the merges that come first to it,
// and with BELAY_SWEEPS=all in each of them.
func mergeIsKilledAnywhere(t *testing.T, victim string) {
	t.Helper()
	reached := map[string]bool{}
	for _, c := range []struct{ name, before, work, after string }{
		{"commits", "", "echo one > one; rm src/main.go; git add -A; git commit -qm c; echo 4 >> a.txt", "echo u > u; git add u"},
		{"replayed commits", "", "echo one > one; git add -A; git commit -qm c", "echo u > u; git add u; git commit -qm u"},
		{"changes", "echo n > n; echo m > m; git add m", "rm -r src; echo f > src; echo 4 >> a.txt", "sed -i 1s/^/0\\\\n/ a.txt"},
	} {
		start := func(t *testing.T) pair {
			t.Helper()
			p := newPair(t)
			p.sh(c.before)
			p.step("s").sh(c.work)
			p.sh(c.after)
			return p
		}
		whole := start(t)
		answer := whole.merge("s")
		want := whole.files() + whole.git("log", "--format=%T %s") + whole.users()[:len(whole.git("diff", "--cached"))]
		for _, name := range failpoint.Names() {
			if !strings.HasPrefix(name, "worktree.merge_") || reached[name] && os.Getenv("BELAY_SWEEPS") != "all" {
				continue
			}
			for n := 1; ; n++ {
				p := start(t)
				point := fmt.Sprintf("%s=%d", name, n)
				o := p.order("s")
				if !p.killed(victim, point, deadly{Merge: &o}) {
					break
				}
				reached[name] = true
				got := p.merge("s")
				if got.Outcome != answer.Outcome || got.Count != answer.Count || len(got.Commits) != len(answer.Commits) {
					t.Errorf("%s, %s: %+v, want %+v", c.name, point, got, answer)
				}
				if is := p.files() + p.git("log", "--format=%T %s") + p.users()[:len(p.git("diff", "--cached"))]; is != want {
					t.Errorf("%s, %s: the tree is\n%s\nwant\n%s", c.name, point, is, want)
				}
				if again := p.merge("s"); len(again.Commits) != len(answer.Commits) || again.Outcome != answer.Outcome {
					t.Errorf("%s, %s: once more: %+v", c.name, point, again)
				}
				if left, _ := filepath.Glob(p.path(".git/belay-merge*")); len(left) > 0 {
					t.Errorf("%s, %s: %s is left", c.name, point, left)
				}
			}
		}
	}
	for _, name := range failpoint.Names() {
		if strings.HasPrefix(name, "worktree.merge_") && !reached[name] && !strings.HasSuffix(name, "replan") && !strings.HasSuffix(name, "undo") {
			t.Errorf("%s is not reached", name)
		}
	}
}

// After a death in the middle of the files somebody changes one: what can be
// merged with it is, and what cannot takes the whole merge back.
func filesOfAHalfMergeChange(t *testing.T, victim string) {
	t.Helper()
	for _, c := range []struct {
		name, edit, point string
		want              Outcome
	}{
		{"other lines", "sed -i 's/^1$/user/' l", "", OutcomeMerged},
		{"other lines of a written file", "sed -i 's/^1$/user/' b", "", OutcomeMerged},
		{"the same line", "sed -i 's/^20$/user/' l", "", OutcomeConflict},
		{"the same line, and death at the undoing", "sed -i 's/^20$/user/' l", "worktree.merge_after_undo=1", OutcomeConflict},
		{"the same line, and death in the undoing", "sed -i 's/^20$/user/' l", "worktree.merge_before_file=1", OutcomeConflict},
		{"other lines, and death at the new plan", "sed -i 's/^1$/user/' l", "worktree.merge_before_replan=1", OutcomeMerged},
		{"an ignored file appears", "echo u > z.log", "", OutcomeConflict},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPair(t)
			p.sh("seq 20 > b; seq 20 > l; git add -A; git commit -qm l; echo work > mine")
			p.step("s").sh("sed -i 's/^20$/step/' l; sed -i 's/^20$/step/' b; echo z > z.log; git add -f z.log")
			clean := p.files()
			o := p.order("s")
			if !p.killed(victim, "worktree.merge_before_file=2", deadly{Merge: &o}) { // b is written, l is not
				t.Fatal("not killed")
			}
			if !strings.HasSuffix(p.read("b"), "step\n") || p.read("l") != p.git("show", "HEAD:l")+"\n" {
				t.Fatalf("no half merge: %s", p.files())
			}
			p.sh(c.edit)
			if c.point != "" && !p.killed(victim, c.point, deadly{Merge: &o}) {
				t.Fatal("not killed for the second time")
			}
			got := p.merge("s")
			if got.Outcome != c.want {
				t.Fatalf("merge: %+v", got)
			}
			if c.want == OutcomeMerged {
				if both := p.read("l") + p.read("b"); strings.Count(both, "step\n") != 2 || strings.Count(both, "user\n") != 1 {
					t.Errorf("l and b: %s", both)
				}
				return
			}
			now := p.files()
			p.sh("git checkout -q l; rm -f z.log")
			if p.files() != clean {
				t.Errorf("a conflict left\n%s", now)
			}
		})
	}
}

// A worktree is made, and a conflict put into it, though its maker dies anywhere.
func makingIsKilledAnywhere(t *testing.T, victim string) {
	t.Helper()
	start := func(t *testing.T) pair {
		t.Helper()
		p := newPair(t)
		p.write("u", "u\n")
		p.write(".env", "secret\n")
		p.sh("echo .env >> .gitignore")
		return p
	}
	for _, name := range failpoint.Names() {
		p := start(t)
		o := p.order("s")
		create := Options{Run: "r1", Step: "s", Branch: "belay/s", Root: p.root, From: FromState, Include: Include{Patterns: []string{".env"}}}
		switch {
		case strings.HasPrefix(name, "worktree.conflict_"):
			p.step("s").sh("sed -i s/two/step/ a.txt; echo more > more")
			p.sh("sed -i s/two/user/ a.txt; echo other > other")
			if !p.killed(victim, name+"=1", deadly{Conflict: &o}) {
				t.Fatalf("not killed at %s", name)
			}
			got, err := Conflict(t.Context(), o)
			s := p.in(p.worktree())
			if err != nil || got.Outcome != OutcomeConflict || marks(s.read("a.txt")) != 3 || s.read("other") != "other\n" {
				t.Errorf("%s: %+v, %v", name, got, err)
			}
			s.write("a.txt", "one\nboth\nthree\n")
			o.Key += "/2"
			if got, err := Merge(t.Context(), o); err != nil || got.Outcome != OutcomeMerged || p.read("a.txt") != "one\nboth\nthree\n" {
				t.Errorf("%s: %+v, %v", name, got, err)
			}
		case strings.HasPrefix(name, "worktree.before_"):
			if !p.killed(victim, name+"=1", deadly{Create: &create, Dir: p.dir}) {
				t.Fatalf("not killed at %s", name)
			}
			m, err := Create(t.Context(), p.dir, create)
			if err != nil || p.in(m.Path).read(".env") != "secret\n" || p.in(m.Path).read("u") != "u\n" {
				t.Errorf("%s: %+v, %v", name, m, err)
			}
		}
	}
}

// worktree is the path of the one worktree there is.
func (p pair) worktree() string {
	p.t.Helper()
	list, err := git{dir: p.dir}.worktrees(p.t.Context())
	p.must(err)
	return list[len(list)-1].path
}
