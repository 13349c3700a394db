package worktree

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay"
)

func (r rig) since(base belay.TreeState, tools ...belay.ToolCall) belay.Evidence {
	r.t.Helper()
	e := Tree{Dir: r.dir}.Since(r.t.Context(), base, r.look(), tools)
	if e.Error != "" {
		r.t.Fatalf("evidence: %s", e.Error)
	}
	return e
}

// promise: H3
func TestSinceTellsTheChanges(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("old/name.txt", strings.Repeat("the same line\n", 20))
	r.write("pkg/x_test.go", "package pkg\n")
	r.commit("more")
	base := r.look()
	r.write("a.txt", "one\nTWO\nthree\nfour\n")
	r.write("new\nname", "1\n")
	r.write("bin", "\x00\x01")
	r.write("pkg/x_test.go", "package pkg\n\n// nothing left\n")
	r.write(".github/workflows/ci.yml", "on: push\n")
	r.remove("src")
	r.must(os.Rename(r.path("old"), r.path("neu")))
	e := r.since(base)
	want := []belay.FileChange{
		{Path: ".github/workflows/ci.yml", Change: belay.FileAdded, Added: 1},
		{Path: "a.txt", Change: belay.FileModified, Added: 2, Deleted: 1},
		{Path: "bin", Change: belay.FileAdded},
		{Path: "neu/name.txt", Change: belay.FileRenamed},
		{Path: `"new\nname"`, Change: belay.FileAdded, Added: 1},
		{Path: "pkg/x_test.go", Change: belay.FileModified, Added: 2},
		{Path: "src/main.go", Change: belay.FileDeleted, Deleted: 3},
	}
	if !slices.Equal(e.Changed, want) || e.Files != 7 || e.Added != 6 || e.Deleted != 4 || len(e.Commits) != 0 {
		t.Errorf("%+v\nwant %+v", e, want)
	}
	guards := []belay.FileChange{want[0], want[5]}
	guards[0].Sha = r.git("hash-object", ".github/workflows/ci.yml")
	guards[1].Sha = r.git("hash-object", "pkg/x_test.go")
	if !slices.Equal(e.Guards, guards) {
		t.Errorf("guards %+v\nwant %+v", e.Guards, guards)
	}
	r.commit("done")
	if c := r.since(base); !slices.Equal(c.Changed, want) || len(c.Commits) != 1 || c.Commits[0] != r.git("rev-parse", "HEAD") {
		t.Errorf("after the commit: %+v", c)
	}
}

func TestSinceIsBounded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	base := r.look()
	for i := range 300 {
		r.write(filepath.Join("tests", strings.Repeat("x", i%60+1), strings.Repeat("y", i/60+1)), "1\n")
	}
	e := r.since(base)
	if e.Files != 300 || e.Added != 300 || len(e.Changed) != maxChanged || len(e.Guards) != maxGuards {
		t.Errorf("%d files, %d lines, %d told, %d guards", e.Files, e.Added, len(e.Changed), len(e.Guards))
	}
	if e := r.since(r.look()); e.Files != 0 || e.Changed != nil {
		t.Errorf("nothing changed: %+v", e)
	}
}

// promise: H3
func TestSinceTellsTheCommits(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.git("checkout", "-q", "-b", "old")
	r.git("checkout", "-q", "main")
	base := r.look()
	r.git("checkout", "-q", "-b", "side")
	r.write("side.txt", "s")
	side := r.commit("on a side")
	r.git("checkout", "-q", "main")
	if e := r.since(base); !slices.Equal(e.Commits, []string{side}) {
		t.Errorf("on another branch: %v, want %s", e.Commits, side)
	}
	r.write("main.txt", "m")
	head := r.commit("on main")
	if e := r.since(base); !slices.Equal(e.Commits, []string{head, side}) {
		t.Errorf("on both: %v, want %s %s", e.Commits, head, side)
	}
}

// What was only checked out, or was committed in another worktree, was not made
// here.
func TestSinceTellsNoCommitsOfOthers(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.git("checkout", "-q", "-b", "old")
	if out, err := r.try("-c", "user.name=x", "commit", "--allow-empty", "-q", "-m", "old"); err != nil {
		t.Fatal(out)
	}
	tree := r.git("rev-parse", "HEAD^{tree}")
	dated := git{dir: r.dir}.with(author("@1000000000 +0000")...)
	id, err := commitTree(t.Context(), dated, tree, "", "long ago")
	r.must(err)
	r.git("update-ref", "refs/heads/ancient", id)
	r.git("checkout", "-q", "main")
	other := r.in(filepath.Join(t.TempDir(), "other"))
	r.git("worktree", "add", "-q", other.dir, "-b", "other")
	base := r.look()
	other.commit("by somebody else")
	r.git("checkout", "-q", "ancient")
	r.git("checkout", "-q", "main")
	if e := r.since(base); len(e.Commits) != 0 {
		t.Errorf("commits %v", e.Commits)
	}
}

func TestSinceWithoutTheTree(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	now := r.look()
	lost := now
	lost.Tree = strings.Repeat("1", 40)
	if e := (Tree{Dir: r.dir}).Since(t.Context(), lost, now, nil); e.Error == "" || e.After != now {
		t.Errorf("%+v", e)
	}
}

func TestOutside(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	away := rig{t, t.TempDir()}
	away.write("w", "x")
	away.write("r", "x")
	away.write("linked", "x")
	r.must(os.Symlink(away.path("linked"), r.path("link.log")))
	base := r.look()
	real, err := filepath.EvalSymlinks(away.dir)
	r.must(err)
	e := r.since(base,
		belay.ToolCall{Name: "Write", Path: away.path("w")},
		belay.ToolCall{Name: "Write", Path: away.path("w")},
		belay.ToolCall{Name: "Read", Path: away.path("r")},
		belay.ToolCall{Name: "Edit", Path: away.path("gone")},
		belay.ToolCall{Name: "Edit", Path: away.path("r"), Denied: true},
		belay.ToolCall{Name: "write_file", Path: "a.txt"},
		belay.ToolCall{Name: "write_file", Path: r.path("a.txt")},
		belay.ToolCall{Name: "write_file", Path: "link.log"},
	)
	if want := []string{filepath.Join(real, "w"), filepath.Join(real, "linked")}; !slices.Equal(e.Outside, want) {
		t.Errorf("%q, want %q", e.Outside, want)
	}
}

func TestGuard(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"x_test.go", "a/b/x_test.go", "test_x.py", "a/x.test.ts", "x.spec.js", "spec/x.rb", "a/tests/data.json", "__tests__/a.js",
		".github/workflows/ci.yml", "sub/.github/workflows/ci.yml", ".gitlab-ci.yml", "Makefile", "src/test/java/FooTest.java", "conftest.py", "Jenkinsfile",
	} {
		if !Guard(name) {
			t.Errorf("%s is no guard", name)
		}
	}
	for _, name := range []string{"main.go", "latest.go", "contest/x.py", "attest.md", "src/testing.go", ".github/FUNDING.yml", "specification.md"} {
		if Guard(name) {
			t.Errorf("%s is a guard", name)
		}
	}
	for name, settings := range map[string]bool{"conftest.py": true, "tests/conftest.py": true, "a/.mocharc.yml": true, "tests/test_a.py": false} {
		if IsTestSettings(name) != settings || IsTest(name) == settings {
			t.Errorf("%s: settings of tests %v, a test %v", name, IsTestSettings(name), IsTest(name))
		}
	}
	for _, list := range [][]string{testNames, testSettings, otherGuards, {"x"}} {
		for _, p := range list {
			if _, err := path.Match(p, "x"); err != nil {
				t.Errorf("%q: %v", p, err)
			}
		}
	}
}
