package worktree

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// promise: K5
func TestSize(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	big := filepath.Join(dir, "a", "big")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll(filepath.Dir(big), 0o755))
	must(os.WriteFile(big, []byte(strings.Repeat("x", 1<<20)), 0o600))
	one, whole := Size(t.Context(), dir)
	if one < 1<<20 || one > 2<<20 || !whole {
		t.Errorf("%d %v", one, whole)
	}
	must(os.Link(big, filepath.Join(dir, "again")))
	if two, _ := Size(t.Context(), dir); two-one > 1<<19 {
		t.Errorf("a second name counts: %d, then %d", one, two)
	}
	if part, whole := sizeOf(t.Context(), dir, 2); part >= 1<<20 || whole {
		t.Errorf("more than the first two: %d %v", part, whole)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, whole := Size(ctx, dir); whole {
		t.Error("counted after the end")
	}
	if n, _ := Size(t.Context(), filepath.Join(dir, "none")); n != 0 {
		t.Errorf("of nothing: %d", n)
	}
}
