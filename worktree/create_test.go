package worktree

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/belay-run/belay"
)

func (r rig) options() Options {
	r.t.Helper()
	return Options{Run: "k3f9q", Step: "build", Branch: "feat/x", Root: filepath.Join(filepath.Dir(r.dir), "trees")}
}

func (r rig) create(o Options) Made {
	r.t.Helper()
	m, err := Create(r.t.Context(), r.dir, o)
	r.must(err)
	return m
}

// whole checks that there is one worktree with its branch, and nothing else.
func (r rig) whole(m Made) {
	r.t.Helper()
	in := r.in(m.Path)
	if got := in.git("rev-parse", "--abbrev-ref", "HEAD"); got != m.Branch {
		r.t.Errorf("on branch %q, want %q", got, m.Branch)
	}
	if got := in.git("status", "--short"); got != "" {
		r.t.Errorf("not clean: %s", got)
	}
	if in.read("a.txt") != "one\ntwo\nthree\n" {
		r.t.Error("a file is not as committed")
	}
	if got := strings.Count(r.git("worktree", "list"), "\n"); got != 1 {
		r.t.Errorf("%d worktrees besides the first", got)
	}
	if got := r.git("branch", "--format=%(refname:short)"); got != m.Branch+"\nmain" {
		r.t.Errorf("branches %q", got)
	}
}

func TestCreate(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	first := r.create(r.options())
	if !first.New || first.Branch != "feat/x" || first.Start != r.git("rev-parse", "HEAD") {
		t.Errorf("%+v", first)
	}
	r.whole(first)
	again := r.create(r.options())
	if again.New {
		t.Error("it was made twice")
	}
	again.New = true
	if again != first {
		t.Errorf("%+v, want %+v", again, first)
	}
	other := r.options()
	other.Step = "test"
	if m := r.create(other); m.Path == first.Path || m.Branch != "feat/x-2" {
		t.Errorf("for another step: %+v", m)
	}
	other.Run, other.Base, other.Branch = "other", "main~0", "feat/y"
	if m := r.create(other); m.Branch != "feat/y" || m.Path == first.Path {
		t.Errorf("for another run: %+v", m)
	}
}

func TestCreateKeepsTheWork(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	m := r.create(r.options())
	in := r.in(m.Path)
	in.write("a.txt", "work")
	in.write("new", "work")
	in.git("branch", "-m", "renamed")
	again := r.create(r.options())
	if again.Path != m.Path || again.Branch != "renamed" || in.read("a.txt") != "work" || in.read("new") != "work" {
		t.Errorf("%+v", again)
	}
	in.remove(".git")
	if healed := r.create(r.options()); healed.Path != m.Path || in.read("new") != "work" || !strings.Contains(in.git("status", "--short"), "new") {
		t.Errorf("without its .git: %+v", healed)
	}
}

func TestCreateAfterItsFolderWasDeleted(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	m := r.create(r.options())
	in := r.in(m.Path)
	in.write("done", "x")
	done := in.commit("done")
	in.remove(".")
	again := r.create(r.options())
	if !again.New || again.Branch != m.Branch || in.git("rev-parse", "HEAD") != done {
		t.Errorf("%+v", again)
	}
}

func TestCreateTakesNothingFromOthers(t *testing.T) {
	t.Parallel()
	t.Run("taken names", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		r.git("branch", "feat/x")
		r.git("branch", "feat/x-2")
		if m := r.create(r.options()); m.Branch != "feat/x-3" {
			t.Errorf("%+v", m)
		}
	})
	t.Run("all names taken", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		r.git("branch", "feat/x")
		for n := 2; n <= maxNames; n++ {
			r.git("branch", fmt.Sprintf("feat/x-%d", n))
		}
		o := r.options()
		r.git("branch", "feat/x-"+string(o.Run)) // the last name that is tried
		if m, err := Create(t.Context(), r.dir, o); err == nil {
			t.Errorf("%+v", m)
		}
		if marks, err := (git{dir: r.dir}).owners(t.Context()); err != nil || len(marks) != 0 {
			t.Errorf("marks left: %v %v", marks, err)
		}
	})
	t.Run("folder is a branch", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		r.git("branch", "feat")
		if m := r.create(r.options()); m.Branch != "feat-x" {
			t.Errorf("%+v", m)
		}
	})
	t.Run("branch is a folder", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		r.git("branch", "feat/x/y")
		if m := r.create(r.options()); m.Branch != "feat/x-2" {
			t.Errorf("%+v", m)
		}
	})
	t.Run("checked out elsewhere", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		m := r.create(r.options())
		r.in(m.Path).git("checkout", "-q", "--detach")
		r.git("checkout", "-q", "feat/x")
		_, err := Create(t.Context(), r.dir, r.options())
		var no *Unsafe
		if !errors.As(err, &no) || no.Why[0] != ReasonElsewhere {
			t.Errorf("%v", err)
		}
	})
	t.Run("made between the mark and the branch", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		o := r.options()
		r.must(git{dir: r.dir}.mark(t.Context(), o.Branch, owner{Run: o.Run, Step: o.Step, Path: o.Root, Start: r.git("rev-parse", "HEAD")}))
		r.git("checkout", "-q", "-b", "feat/x")
		theirs := r.commit("of somebody else")
		r.git("checkout", "-q", "main")
		if m := r.create(o); m.Branch != "feat/x-2" || r.git("rev-parse", "feat/x") != theirs {
			t.Errorf("%+v", m)
		}
	})
	t.Run("no commit", func(t *testing.T) {
		t.Parallel()
		r := emptyRig(t)
		if m, err := Create(t.Context(), r.dir, r.options()); err == nil {
			t.Errorf("%+v", m)
		}
	})
	t.Run("bad name", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		for _, name := range []string{"", "-x", "a..b", "@{-1}", "a b"} {
			o := r.options()
			o.Branch = name
			if m, err := Create(t.Context(), r.dir, o); err == nil {
				t.Errorf("%q: %+v", name, m)
			}
		}
	})
}

// Every call of git is once the last that Belay made before it died: before the
// call, and after it. The next Create must end with one branch and one worktree.
func TestCreateAfterACrashAnywhere(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"before", "after"} {
		for n := 1; ; n++ {
			r := newRig(t)
			o := r.options()
			o.Git = dyingGit(t, n, when)
			m, err := Create(t.Context(), r.dir, o)
			if err == nil {
				if n < 5 {
					t.Errorf("%s: only %d calls of git: nothing was tried", when, n)
				}
				r.whole(m)
				break
			}
			m = r.create(r.options())
			r.whole(m)
			if m.Branch != "feat/x" {
				t.Errorf("%s call %d: branch %s", when, n, m.Branch)
			}
			if t.Failed() {
				t.Fatalf("died %s call %d", when, n)
			}
		}
	}
}

// dyingGit is git, dead from the nth call on; with "after" that call is still done.
func dyingGit(t *testing.T, n int, when string) string {
	t.Helper()
	count := filepath.Join(t.TempDir(), "count")
	last := ""
	if when == "after" {
		last = fmt.Sprintf("[ $n -eq %d ] && git \"$@\" >/dev/null 2>&1\n", n)
	}
	return script(t, fmt.Sprintf("echo x >>%s\nn=$(wc -l <%s)\n[ $n -lt %d ] && exec git \"$@\"\n%sexit 137", count, count, n, last))
}

// A git that is killed in the middle of its work leaves half a worktree.
func TestCreateAfterHalfAWorktree(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		do   func(r rig, path string)
	}{
		{"locked as git does while it works", func(r rig, path string) { r.git("worktree", "lock", "--reason", "initializing", path) }},
		{"files missing", func(r rig, path string) { r.must(os.Remove(filepath.Join(path, "a.txt"))) }},
		{"no .git file", func(r rig, path string) { r.must(os.Remove(filepath.Join(path, ".git"))) }},
		{"no folder", func(r rig, path string) { r.must(os.RemoveAll(path)) }},
		{"git forgot it", func(r rig, _ string) { r.remove(".git/worktrees") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			m := r.create(r.options())
			r.must(git{dir: r.dir}.mark(t.Context(), m.Branch, owner{Run: m.Run, Step: m.Step, Path: m.Path, Start: m.Start}))
			c.do(r, m.Path)
			r.whole(r.create(r.options()))
		})
	}
}

func TestCreateAtTheSameTime(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const many = 6
	made, errs := make([]Made, many), make([]error, many)
	var all sync.WaitGroup
	for i := range many {
		all.Go(func() {
			o := r.options()
			o.Step = belay.Path(fmt.Sprintf("s%d", i/2)) // two for each step
			made[i], errs[i] = Create(t.Context(), r.dir, o)
		})
	}
	all.Wait()
	r.must(errors.Join(errs...))
	seen := map[string]bool{}
	for i := 0; i < many; i += 2 {
		if made[i].Path != made[i+1].Path || made[i].Branch != made[i+1].Branch || made[i].New == made[i+1].New || seen[made[i].Branch] {
			t.Errorf("%+v\n%+v", made[i], made[i+1])
		}
		seen[made[i].Branch] = true
	}
}

// A name that a remote has is somebody else's: work that is published must not go there. And
// there are refs that git takes where a branch of their name is meant.
func TestNameOfAnotherRefIsTaken(t *testing.T) {
	t.Parallel()
	for _, ref := range []string{"refs/remotes/origin/feat/x", "refs/tags/feat/x", "refs/feat/x"} {
		for name, more := range map[string]string{"loose": "", "packed": "git pack-refs --all"} {
			r := newRig(t)
			r.sh("git update-ref " + ref + " HEAD; " + more)
			if m := r.create(r.options()); m.Branch != "feat/x-2" {
				t.Errorf("%s, %s: %+v", ref, name, m)
			}
		}
	}
}
