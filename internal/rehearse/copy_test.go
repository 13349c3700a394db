package rehearse

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/journal"
)

func file(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func sh(t *testing.T, dir, script string) string {
	t.Helper()
	cmd := exec.Command("bash", "-ec", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", script, err, out)
	}
	return string(out)
}

// A copy of a repository has what is there now, committed or not, and no way
// back to where it came from.
func TestCopyRepository(t *testing.T) {
	t.Parallel()
	from := filepath.Join(t.TempDir(), "repo")
	file(t, filepath.Join(from, "sub/a.txt"), "old\n")
	file(t, filepath.Join(from, "gone.txt"), "x\n")
	file(t, filepath.Join(from, ".gitignore"), "*.log\n")
	sh(t, from, `git init -q -b work; git config user.name ann; git config user.email ann@x; git add -A; git commit -qm first`)
	file(t, filepath.Join(from, "sub/a.txt"), "new\n")
	file(t, filepath.Join(from, "loose.txt"), "loose\n")
	file(t, filepath.Join(from, "big.log"), "ignored\n")
	sh(t, from, `rm gone.txt; echo staged > staged.txt; git add staged.txt; ln -s loose.txt link`)
	before := sh(t, from, "git status --short; git rev-parse HEAD")

	folder := filepath.Join(from, "tmp", "rehearsal") // even inside of it
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	dir, err := Copy(t.Context(), filepath.Join(from, "sub"), filepath.Join(folder, "work"))
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Base(dir) != "sub" {
		t.Errorf("the copy of sub is %s", dir)
	}
	got := sh(t, dir, `cd ..; cat sub/a.txt loose.txt staged.txt link; git branch --show-current; git config user.name; git remote; ls; git log --format=%s`)
	const want = "new\nloose\nstaged\nloose\nwork\nann\nlink\nloose.txt\nstaged.txt\nsub\nfirst\n"
	if got != want {
		t.Errorf("the copy holds\n%s\nwant\n%s", got, want)
	}
	sh(t, dir, `echo spoilt > a.txt; git commit -qam spoilt`)
	if err := journal.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	if after := sh(t, from, "rmdir tmp; git status --short; git rev-parse HEAD"); after != before {
		t.Errorf("it was\n%s\nand is\n%s", before, after)
	}
}

func TestCopyPlain(t *testing.T) {
	t.Parallel()
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "work")
	file(t, filepath.Join(from, "a/b.txt"), "b")
	if dir, err := Copy(t.Context(), from, to); err != nil || dir != to {
		t.Fatalf("%s, %v", dir, err)
	}
	if b, err := os.ReadFile(filepath.Join(to, "a/b.txt")); err != nil || string(b) != "b" {
		t.Errorf("%q, %v", b, err)
	}
	template, alone := filepath.Join(t.TempDir(), "template"), filepath.Join(t.TempDir(), "alone")
	if err := errors.Join(Template(t.Context(), from, template), CopyTemplate(t.Context(), template, alone)); err != nil {
		t.Fatal(err)
	}
	if out := sh(t, alone, "git status --short; git log --format=%s; cat a/b.txt"); out != "before the rehearsal\nb" {
		t.Errorf("%q", out)
	}
	big, err := os.Create(filepath.Join(from, "big"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(big.Truncate(maxCopy+1), big.Close()); err != nil {
		t.Fatal(err)
	}
	var tooBig *TooBig
	if _, err := Copy(t.Context(), from, filepath.Join(t.TempDir(), "work")); !errors.As(err, &tooBig) || !strings.Contains(err.Error(), "200 MB") {
		t.Errorf("%v", err)
	}
}

// What a step closed is removed as well.
func TestClear(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "folder")
	file(t, filepath.Join(dir, "closed/file"), "x")
	if err := os.Chmod(filepath.Join(dir, "closed"), 0o500); err != nil {
		t.Fatal(err)
	}
	if err := journal.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}
