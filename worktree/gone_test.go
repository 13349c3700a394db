package worktree

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
)

// What a directory that is gone is told by is its own name: the system says of the program
// that it is not there.
func TestADirectoryThatIsGone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/moved"
	_, err := Create(t.Context(), dir, Options{Run: "r", Branch: "b", Root: t.TempDir()})
	if err == nil || !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "the directory is gone: stat "+dir) || strings.Contains(err.Error(), "exec") {
		t.Errorf("%v", err)
	}
}
