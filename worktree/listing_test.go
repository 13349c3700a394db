package worktree

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// A listing tells what changed by content; a file that is only touched did not.
func TestListing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list := func() Listing {
		t.Helper()
		l, err := ListFiles(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		return ReadListing(l.Bytes())
	}
	for _, name := range []string{"same", "touched", "gone", "other", "with a\ttab"} {
		write(name, name)
	}
	before := list()
	if err := os.Chtimes(filepath.Join(dir, "touched"), time.Unix(1, 0), time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "gone")); err != nil {
		t.Fatal(err)
	}
	write("other", "rehto")
	write("new", "")
	if got, want := list().Since(before), []string{"gone", "new", "other"}; !slices.Equal(got, want) {
		t.Errorf("changed: %q, want %q", got, want)
	}
	if got := list().Gone(before); !slices.Equal(got, []string{"gone"}) {
		t.Errorf("gone: %q", got)
	}
	if alike("100644 1 5 ", "100644 1 6 100644aa") || !alike("100644 1 5 ", "100644 1 5 100644aa") {
		t.Error("without a content, size and time decide")
	}
}
