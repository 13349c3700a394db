package worktree

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay"
)

// Each of these changes the tree, and taking it back gives the first print.
// promise: H3
func TestPrintSeesEveryChange(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		do   func(r rig)
	}{
		{"modified", func(r rig) { r.write("a.txt", "one\ntwo\nfour!\n") }},
		{"same size and time", func(r rig) {
			fi, err := os.Stat(r.path("a.txt"))
			r.must(err)
			r.write("a.txt", "one\ntwo\nTHREE\n")
			r.must(os.Chtimes(r.path("a.txt"), fi.ModTime(), fi.ModTime()))
		}},
		{"staged", func(r rig) { r.write("a.txt", "x"); r.git("add", "a.txt") }},
		{"untracked", func(r rig) { r.write("new.txt", "new") }},
		{"untracked in a new folder", func(r rig) { r.write("deep/er/new.txt", "new") }},
		{"empty file", func(r rig) { r.write("empty", "") }},
		{"deleted", func(r rig) { r.remove("a.txt") }},
		{"deleted with git", func(r rig) { r.git("rm", "-q", "a.txt") }},
		{"mode", func(r rig) { r.must(os.Chmod(r.path("a.txt"), 0o755)) }},
		{"file to link", func(r rig) { r.remove("a.txt"); r.must(os.Symlink("src/main.go", r.path("a.txt"))) }},
		{"file to folder", func(r rig) { r.remove("a.txt"); r.write("a.txt/b", "b") }},
		{"folder to file", func(r rig) { r.remove("src"); r.write("src", "s") }},
		{"folder to link", func(r rig) {
			r.must(os.Rename(r.path("src"), r.path("kept")))
			r.must(os.Symlink("kept", r.path("src")))
		}},
		{"file to pipe", func(r rig) { r.remove("a.txt"); r.must(syscall.Mkfifo(r.path("a.txt"), 0o644)) }},
		{"intent to add", func(r rig) { r.write("n.txt", "n"); r.git("add", "-N", "n.txt") }},
		{"odd name", func(r rig) { r.write("a\nb\t\"c\"", "x") }},
		{"name that is no text", func(r rig) { r.write("caf\xe9\xff", "x") }},
		{"name like a flag", func(r rig) { r.write("--all", "x"); r.write(":(top)x", "x") }},
		{"nested repository", func(r rig) {
			r.mkdir("inner")
			in := r.in(r.path("inner"))
			in.git("init", "-q")
			in.write("f", "f")
			in.commit("inner")
		}},
		{"nested repository without a commit", func(r rig) {
			r.mkdir("inner")
			in := r.in(r.path("inner"))
			in.git("init", "-q")
			in.write("f", "f")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			before := r.look()
			c.do(r)
			state := r.state()
			after := r.look()
			if after.Tree == before.Tree {
				t.Error("the tree is the same")
			}
			if want, _ := r.tryAdded(); want != "" && want != after.Tree {
				t.Errorf("tree %s, git says %s", after.Tree, want)
			}
			if !after.Dirty || before.Dirty || after.Head != before.Head || after.Branch != "main" {
				t.Errorf("before %+v\nafter %+v", before, after)
			}
			if again := r.look(); again != after {
				t.Errorf("a second look differs: %+v, %+v", after, again)
			}
			if r.state() != state {
				t.Error("the look changed the repository")
			}
		})
	}
}

// promise: H3
func TestPrintIsWhatGitWouldAdd(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for seed := range uint64(6) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		for range 8 {
			name := "d" + strconv.Itoa(rnd.IntN(3)) + "/f" + strconv.Itoa(rnd.IntN(4))
			switch rnd.IntN(5) {
			case 0:
				r.remove(name)
			case 1:
				r.git("add", "-A")
			case 2:
				r.write("x.log", "ignored")
			default:
				r.write(name, strings.Repeat("line\n", rnd.IntN(9)))
			}
		}
		if got, want := r.look().Tree, r.asAdded(); got != want {
			t.Fatalf("seed %d: tree %s, git says %s\n%s", seed, got, want, r.git("status", "--short"))
		}
		if seed%2 == 1 {
			r.commit("some")
		}
	}
}

func TestPrintIgnoresWhatIsNoChange(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	before := r.look()
	r.mkdir("empty/folder")
	r.write("noise.log", "ignored")
	r.write("out/x", "ignored")
	old := time.Now().Add(-time.Hour)
	r.must(os.Chtimes(r.path("a.txt"), old, old))
	if after := r.look(); after != before {
		t.Errorf("before %+v\nafter %+v", before, after)
	}
	r.write("a.txt", "changed")
	unstaged := r.look()
	r.git("add", "a.txt")
	if staged := r.look(); staged != unstaged {
		t.Errorf("unstaged %+v\nstaged %+v", unstaged, staged)
	}
	r.write("a.txt", "changed again")
	r.git("add", "a.txt")
	r.write("a.txt", "changed")
	if both := r.look(); both.Tree != unstaged.Tree {
		t.Errorf("staged and changed back: %+v, want %+v", both, unstaged)
	}
}

// An entry that is as old as the index may have changed after it was read. The
// copy of the index must keep its time, or git takes the entry's word.
func TestPrintSeesARacyChange(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.git("config", "core.trustctime", "false")
	r.git("config", "core.checkStat", "minimal")
	at := time.Now().Add(-time.Minute).Truncate(time.Second)
	r.must(os.Chtimes(r.path("a.txt"), at, at))
	r.git("update-index", "--refresh")
	r.must(os.Chtimes(r.path(".git/index"), at, at))
	before := r.look()
	r.write("a.txt", "ONE\ntwo\nthree\n")
	r.must(os.Chtimes(r.path("a.txt"), at, at))
	if after := r.look(); after.Tree == before.Tree {
		t.Error("a change of the same size and second was not seen")
	}
}

func TestPrintWhileTheIndexIsLocked(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	before := r.look()
	r.write(".git/index.lock", "")
	r.write("b.txt", "b")
	want := r.asAdded()
	if after := r.look(); after.Tree != want || after.Tree == before.Tree {
		t.Errorf("tree %s, want %s", after.Tree, want)
	}
	if r.read(".git/index.lock") != "" {
		t.Error("the lock was touched")
	}
}

func TestPrintInOddRepositories(t *testing.T) {
	t.Parallel()
	t.Run("unborn", func(t *testing.T) {
		t.Parallel()
		r := emptyRig(t)
		empty := r.look()
		if empty.Head != "" || empty.Branch != "main" || empty.Dirty || empty.Tree != r.git("hash-object", "-t", "tree", "/dev/null") {
			t.Errorf("empty: %+v", empty)
		}
		r.write("f", "f")
		if p := r.look(); !p.Dirty || p.Tree != r.asAdded() {
			t.Errorf("with a file: %+v", p)
		}
	})
	t.Run("no index", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		want := r.look().Tree
		r.remove(".git/index")
		if p := r.look(); p.Tree != want || exists(r.path(".git/index")) {
			t.Errorf("%+v, want the tree %s and still no index", p, want)
		}
	})
	t.Run("conflict", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		r.git("checkout", "-q", "-b", "side")
		r.write("a.txt", "side")
		r.commit("side")
		r.git("checkout", "-q", "main")
		r.write("a.txt", "main")
		r.commit("main")
		if out, err := r.try("merge", "side"); err == nil {
			t.Fatalf("no conflict: %s", out)
		}
		if p := r.look(); p.Tree != r.asAdded() || !p.Dirty {
			t.Errorf("%+v", p)
		}
	})
	t.Run("detached, in a folder inside", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		r.git("checkout", "-q", "--detach")
		r.write("b.txt", "b")
		if p := r.in(r.path("src")).look(); p.Branch != "" || p != r.look() {
			t.Errorf("%+v", p)
		}
	})
	t.Run("sha256", func(t *testing.T) {
		t.Parallel()
		r := emptyRig(t)
		r.remove(".git")
		r.git("init", "-q", "--object-format=sha256")
		r.write("f", "f")
		r.commit("one")
		r.remove("f")
		if p := r.look(); len(p.Tree) != 64 || p.Tree != r.asAdded() {
			t.Errorf("%+v", p)
		}
	})
	t.Run("sparse", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		want := r.look().Tree
		r.git("sparse-checkout", "set", "nothing")
		if exists(r.path("src")) {
			t.Fatal("the checkout is not sparse")
		}
		if p := r.look(); p.Tree != want {
			t.Errorf("%+v, want the tree %s", p, want)
		}
		r.write("new", "n")
		if p := r.look(); p.Tree == want || !strings.Contains(r.git("ls-tree", "-r", p.Tree), "src/main.go") {
			t.Errorf("%+v", p)
		}
	})
}

func TestPrintOfSubmodules(t *testing.T) {
	t.Parallel()
	lib, r := newRig(t), newRig(t)
	r.git("submodule", "add", "-q", lib.dir, "lib")
	r.commit("with lib")
	sub := r.in(r.path("lib"))
	seen := map[string]string{r.look().Tree: "clean"}
	note := func(what string) {
		t.Helper()
		tree := r.look().Tree
		if old, ok := seen[tree]; ok {
			t.Errorf("%s: the same tree as %s", what, old)
		}
		seen[tree] = what
		if again := r.look().Tree; again != tree {
			t.Errorf("%s: a second look differs", what)
		}
	}
	sub.write("a.txt", "changed")
	note("changed file in it")
	sub.write("new.txt", "n")
	note("new file in it")
	sub.commit("inside")
	note("commit in it")
	r.remove("lib")
	note("gone")
}

func TestPrintWithFilters(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write(".gitattributes", "*.up filter=up\n*.bad filter=bad\n*.txt text eol=crlf\n")
	r.git("config", "filter.up.clean", "tr a-z A-Z")
	r.commit("filters")
	r.git("config", "core.safecrlf", "true")
	r.write("x.up", "hello")
	r.write("b.txt", "mixed\r\nends\n")
	p := r.look()
	if got := r.git("cat-file", "blob", p.Tree+":x.up"); got != "HELLO" {
		t.Errorf("the filter was not used: %q", got)
	}
	r.git("config", "filter.bad.clean", "false")
	r.git("config", "filter.bad.required", "true")
	r.write("x.bad", "raw")
	bad := r.look()
	if got := r.git("cat-file", "blob", bad.Tree+":x.bad"); got != "raw" {
		t.Errorf("content behind a broken filter: %q", got)
	}
	if again := r.look(); again != bad {
		t.Errorf("a second look differs: %+v, %+v", bad, again)
	}
}

func TestPrintWithoutARepository(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := rig{t, dir}
	look := func() belay.TreeState {
		t.Helper()
		p := Tree{Dir: dir}.State(t.Context())
		if p.Repo || p.Error != "" || p.Tree == "" {
			t.Fatalf("%+v", p)
		}
		return p
	}
	r.write("a/b", "1")
	first := look()
	if look() != first {
		t.Error("a second look differs")
	}
	r.write("c", "")
	second := look()
	r.must(os.Rename(r.path("c"), r.path("d")))
	third := look()
	r.write("a/b", "22")
	if fourth := look(); first == second || second == third || third == fourth {
		t.Error("a change was not seen")
	}
	if p := (Tree{Dir: filepath.Join(dir, "nowhere")}).State(t.Context()); p.Error == "" {
		t.Errorf("of nothing: %+v", p)
	}
}

func TestWalkIsBounded(t *testing.T) {
	t.Parallel()
	r := rig{t, t.TempDir()}
	for _, name := range []string{"a", "b", "c"} {
		r.write(name, "x")
	}
	whole, err := walk(t.Context(), r.dir, 3, nil)
	r.must(err)
	part, err := walk(t.Context(), r.dir, 2, nil)
	if !errors.Is(err, errMany) || part.Tree == "" || part == whole {
		t.Errorf("%+v, %v", part, err)
	}
}

func TestPrintWhenTheRepositoryGoes(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	before := r.look()
	r.remove(".git")
	after := Tree{Dir: r.dir}.State(t.Context())
	if after.Repo || after.Tree == "" || after.Error != "" {
		t.Errorf("%+v", after)
	}
	if e := (Tree{Dir: r.dir}).Since(t.Context(), before, after, nil); !strings.HasPrefix(e.After.Error, "the repository is gone") {
		t.Errorf("error %q", e.After.Error)
	}
}

// Git must not be led elsewhere by the environment, and runs no hook of the
// repository.
func TestGitIsCalledAlone(t *testing.T) {
	r := newRig(t)
	other := newRig(t)
	want := r.look()
	t.Setenv("GIT_DIR", other.path(".git"))
	t.Setenv("GIT_WORK_TREE", other.dir)
	t.Setenv("GIT_INDEX_FILE", other.path("nowhere"))
	if got := r.look(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	hook := r.path(".git/hooks/reference-transaction")
	r.must(os.MkdirAll(filepath.Dir(hook), 0o755))
	r.must(os.WriteFile(hook, []byte("#!/bin/sh\necho ran >>"+r.dir+"/ran.log\n"), 0o755))
	if _, err := (Tree{Dir: r.dir}).Snapshot(t.Context(), want, SnapshotRef("r", "s", 1), "m"); err != nil {
		t.Fatal(err)
	}
	if exists(r.path("ran.log")) {
		t.Error("a hook ran")
	}
}

func TestOutputIsBounded(t *testing.T) {
	t.Parallel()
	script := filepath.Join(t.TempDir(), "git")
	syscall.ForkLock.RLock() // a child of another test that is born now would hold the file open, and nobody could run it
	err := os.WriteFile(script, []byte("#!/bin/sh\nexec cat /dev/zero\n"), 0o755)
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	out, err := git{program: script, dir: t.TempDir()}.run(t.Context(), "status")
	if len(out) != maxOutput || err == nil {
		t.Errorf("%d bytes, error %v", len(out), err)
	}
	c := &capped{max: 3}
	if n, err := c.Write([]byte("abcdef")); n != 6 || err != nil || !bytes.Equal(c.buf.Bytes(), []byte("abc")) {
		t.Errorf("%d, %v, %q", n, err, c.buf.String())
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatalf("these tests need git: %v", err)
	}
}
