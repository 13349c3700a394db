package worktree

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The tests of each step count as it left them: a later round has the last word, and two
// workstreams have one each.
// promise: S1
func TestFormsOfWrittenTests(t *testing.T) {
	t.Parallel()
	dir, store := t.TempDir(), t.TempDir()
	keep := func(round int, item string, files ...string) {
		t.Helper()
		var names []string
		for _, f := range files {
			name, text, _ := strings.Cut(f, "=")
			names = append(names, name)
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := KeepTests(t.Context(), dir, store, append(names, "gone_test.go"), WrittenTests{Round: round, Run: "r", Item: item}); err != nil {
			t.Fatal(err)
		}
	}
	forms := func() (list []string) {
		t.Helper()
		kept, err := ReadWrittenTests(store)
		if err != nil {
			t.Fatal(err)
		}
		all, broken := TestForms(kept)
		for _, form := range all {
			var names []string
			for name, f := range form {
				names = append(names, name+"="+string(f.Text))
			}
			slices.Sort(names)
			list = append(list, fmt.Sprint(names))
		}
		return append(list, fmt.Sprint(broken))
	}
	same := func(want ...string) {
		t.Helper()
		if got := forms(); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	same("[]")
	keep(1, "a", "a_test.go=1", "sub/c_test.go=1")
	same("[a_test.go=1 sub/c_test.go=1]", "[]")
	keep(1, "b", "a_test.go=2")
	same("[a_test.go=1 sub/c_test.go=1]", "[a_test.go=2 sub/c_test.go=1]", "[]")
	keep(1, "b", "a_test.go=3")
	same("[a_test.go=1 sub/c_test.go=1]", "[a_test.go=3 sub/c_test.go=1]", "[]")
	keep(2, "c", "a_test.go=4")
	same("[a_test.go=4 sub/c_test.go=1]", "[]")
	if err := os.Remove(filepath.Join(store, "0001", testsFolder, "sub/c_test.go")); err != nil {
		t.Fatal(err)
	}
	if got := forms(); got[len(got)-1] != "[sub/c_test.go]" {
		t.Errorf("a file that is gone: %q", got)
	}
}

// What is in the way of a test goes, and a link leads nowhere else.
func TestWrittenTestsAreBack(t *testing.T) {
	t.Parallel()
	root, outside := t.TempDir(), t.TempDir()
	at := func(name string) string { return filepath.Join(root, "tree", name) }
	if err := os.MkdirAll(at("moved"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"spec": "in the way", "same_test.sh": "same", "b_test.sh": "other"} {
		if err := os.WriteFile(at(name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(outside, "there"), at("link_test.sh")); err != nil {
		t.Fatal(err)
	}
	files := map[string]TestFile{"spec/a_test.sh": {Text: []byte("a")}, "same_test.sh": {Text: []byte("same")}, "b_test.sh": {Text: []byte("b")}, "link_test.sh": {Text: []byte("l")}}
	tree := Throwaway{Root: root, Dir: at("")}
	if got := tree.Unlike(files); !slices.Equal(got, []string{"b_test.sh", "link_test.sh", "spec/a_test.sh"}) {
		t.Errorf("unlike: %q", got)
	}
	if err := tree.WithTests(t.Context(), files); err != nil {
		t.Fatal(err)
	}
	if got := tree.Unlike(files); got != nil {
		t.Errorf("not back: %q", got)
	}
	if info, err := os.Stat(at("b_test.sh")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v, %v", info, err)
	}
	if _, err := os.Lstat(filepath.Join(outside, "there")); err == nil {
		t.Error("a link was followed")
	}
}
