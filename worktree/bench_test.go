package worktree

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// bigRepository is a repository of many small files in one commit.
func bigRepository(b *testing.B, files int) string {
	b.Helper()
	dir := b.TempDir()
	call := func(args ...string) {
		b.Helper()
		cmd := exec.CommandContext(b.Context(), "git", args...)
		cmd.Dir = dir
		cmd.Env = append(cleaned(os.Environ()), author("")...)
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	call("init", "-q")
	for i := range files {
		path := filepath.Join(dir, fmt.Sprintf("d%03d/e%02d/f%d.txt", i/500, i/50%10, i))
		if i%50 == 0 {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				b.Fatal(err)
			}
		}
		if err := os.WriteFile(path, fmt.Appendf(nil, "file %d\n", i), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	call("add", "-A")
	call("commit", "-q", "-m", "all")
	call("status") // fills the stat cache, as daily use does
	return dir
}

// BenchmarkPrint measures one git status against one print, of a clean tree and
// of one with some work in it, in a repository of 50,000 files.
func BenchmarkPrint(b *testing.B) {
	dir := bigRepository(b, 50_000)
	tree := Tree{Dir: dir}
	status := func(b *testing.B) {
		b.Helper()
		for b.Loop() {
			if _, err := (git{dir: dir}).run(b.Context(), "status", "--porcelain", "--untracked-files=all"); err != nil {
				b.Fatal(err)
			}
		}
	}
	look := func(b *testing.B) {
		b.Helper()
		for b.Loop() {
			if p := tree.State(b.Context()); p.Error != "" {
				b.Fatal(p.Error)
			}
		}
	}
	b.Run("clean/status", status)
	b.Run("clean/print", look)
	for i := range 100 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("d%03d/new", i)), fmt.Appendf(nil, "new %d\n", i), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("dirty/status", status)
	b.Run("dirty/print", look)
}
