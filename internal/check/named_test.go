package check

import (
	"os"
	"path/filepath"
	"testing"
)

// A new dependency is no other command; a new script is.
func TestSameOrders(t *testing.T) {
	t.Parallel()
	was, now := t.TempDir(), t.TempDir()
	write := func(dir, name, text string) {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(was, "package.json", `{"scripts": {"test": "node test.js"}}`)
	write(was, "sub/package.json", `{"scripts": {"test": "node test.js"}}`)
	write(now, "package.json", `{"dependencies": {"a": "1"}, "scripts": {"test": "node test.js"}}`)
	write(now, "sub/package.json", `{"scripts": {"test": "true"}}`)
	write(was, "Makefile", "test:\n\ttrue\n")
	write(now, "Makefile", "test:\n\ttrue\n")
	for name, want := range map[string]bool{"package.json": true, "sub/package.json": false, "Makefile": false} {
		if got := sameOrders(now, was, name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	begun := Begun{Tests: Find(was, was, os.Getenv("PATH"))}
	if !begun.had((level{now}).sum("package.json")) {
		t.Error("the same scripts are not known")
	}
	if begun.had((level{filepath.Join(now, "sub")}).sum("package.json")) {
		t.Error("other scripts are taken for those that were there")
	}
	if got := begun.lost(now); len(got) != 0 {
		t.Errorf("lost %q, want none", got)
	}
	if got := begun.lost(filepath.Join(now, "sub")); len(got) != 2 {
		t.Errorf("lost %q, want package.json and the Makefile that is not there", got)
	}
}
