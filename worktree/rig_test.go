package worktree

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/belay-run/belay"
)

// rig is a real repository in a temporary folder.
type rig struct {
	t   *testing.T
	dir string
}

// pattern is the repository that every other one is a copy of: most tests begin with
// one, and git makes it by six programs.
var pattern sync.Once

const (
	emptyPattern  = "empty"
	filledPattern = "filled"
)

// newRig makes a repository with one commit of three files.
func newRig(t *testing.T) rig {
	t.Helper()
	r := copiedRig(t, filledPattern)
	r.git("update-index", "-q", "--refresh") // the files are other ones than git saw
	return r
}

func emptyRig(t *testing.T) rig {
	t.Helper()
	return copiedRig(t, emptyPattern)
}

func copiedRig(t *testing.T, of string) rig {
	t.Helper()
	pattern.Do(func() { makePattern(t) })
	r := rig{t, filepath.Join(realTemp(t), "repo")}
	r.must(os.CopyFS(r.dir, os.DirFS(filepath.Join(models, of))))
	return r
}

func makePattern(t *testing.T) {
	t.Helper()
	r := rig{t, filepath.Join(models, filledPattern)}
	r.mkdir(".")
	r.git("init", "-q", "-b", "main", "--template=")
	r.mkdir(".git/info")
	r.must(os.CopyFS(filepath.Join(models, emptyPattern), os.DirFS(r.dir)))
	r.write("a.txt", "one\ntwo\nthree\n")
	r.write("src/main.go", "package main\n\nfunc main() {}\n")
	r.write(".gitignore", "*.log\nout/\n")
	r.commit("first")
}

func realTemp(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// in is the same rig seen in another folder.
func (r rig) in(dir string) rig { return rig{r.t, dir} }

func (r rig) path(name string) string { return filepath.Join(r.dir, name) }

func (r rig) try(args ...string) (string, error) {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), "git", append([]string{"-c", "protocol.file.allow=always"}, args...)...)
	cmd.Dir = r.dir
	cmd.Env = r.env()
	out, err := cmd.CombinedOutput()
	return strings.TrimSuffix(string(out), "\n"), err
}

// env keeps git from starting its housekeeping, which is another program at every
// commit.
func (r rig) env() []string {
	return append(cleaned(os.Environ()), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=maintenance.auto", "GIT_CONFIG_VALUE_0=false",
		"GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.com", "GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.com")
}

// sh runs lines of shell in the repository; each must end well.
func (r rig) sh(script string) {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), "bash", "-ec", script)
	cmd.Dir, cmd.Env = r.dir, r.env()
	if out, err := cmd.CombinedOutput(); err != nil {
		r.t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

func (r rig) git(args ...string) string {
	r.t.Helper()
	out, err := r.try(args...)
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func (r rig) commit(message string) string {
	r.t.Helper()
	r.git("add", "-A")
	r.git("commit", "-q", "--allow-empty", "-m", message)
	return r.git("rev-parse", "HEAD")
}

func (r rig) mkdir(name string) {
	r.t.Helper()
	r.must(os.MkdirAll(r.path(name), 0o755))
}

func (r rig) write(name, text string) {
	r.t.Helper()
	r.mkdir(filepath.Dir(name))
	r.must(os.WriteFile(r.path(name), []byte(text), 0o644))
}

func (r rig) read(name string) string {
	r.t.Helper()
	b, err := os.ReadFile(r.path(name))
	r.must(err)
	return string(b)
}

func (r rig) remove(name string) {
	r.t.Helper()
	r.must(os.RemoveAll(r.path(name)))
}

func (r rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// look takes a print that must be one of a repository, without its time: that is
// another one at every look.
func (r rig) look() belay.TreeState {
	r.t.Helper()
	p := r.timed()
	p.At = 0
	return p
}

func (r rig) timed() belay.TreeState {
	r.t.Helper()
	p := Tree{Dir: r.dir}.State(r.t.Context())
	if p.Error != "" || !p.Repo || p.Tree == "" {
		r.t.Fatalf("print: %+v", p)
	}
	return p
}

// asAdded is the tree that "git add -A" in a copy of the repository gives: what
// a print has to be, told by git itself.
func (r rig) asAdded() string {
	r.t.Helper()
	tree, out := r.tryAdded()
	if tree == "" {
		r.t.Fatalf("git add: %s", out)
	}
	return tree
}

// tryAdded is asAdded; "" when git itself cannot add, and what it says.
func (r rig) tryAdded() (tree, out string) {
	r.t.Helper()
	twin := r.in(filepath.Join(r.t.TempDir(), "twin"))
	if out, err := exec.CommandContext(r.t.Context(), "cp", "-a", r.dir, twin.dir).CombinedOutput(); err != nil {
		r.t.Fatalf("copy: %v\n%s", err, out)
	}
	twin.remove(".git/index.lock")
	if out, err := twin.try("add", "-A"); err != nil {
		return "", out
	}
	return twin.git("write-tree"), ""
}

// state is everything of a repository that a look must leave alone.
func (r rig) state() string {
	r.t.Helper()
	var b strings.Builder
	fi, err := os.Stat(r.path(".git/index"))
	if err == nil {
		fmt.Fprintln(&b, "index", fi.ModTime().UnixNano(), fi.Size(), r.read(".git/index"))
	}
	fmt.Fprintln(&b, r.read(".git/HEAD"), r.git("for-each-ref"), r.read(".git/config"))
	r.must(filepath.WalkDir(r.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.Name() == ".git" && d.IsDir() {
			return filepath.SkipDir
		}
		info, err := d.Info()
		if err == nil {
			fmt.Fprintln(&b, path, info.Mode(), info.Size(), info.ModTime().UnixNano())
		}
		return err
	}))
	return b.String()
}
