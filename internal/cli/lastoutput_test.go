package cli

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/belay-run/belay/journal"
)

// The files between the first and the last ones of a big log are deleted while
// it grows, also while nobody looks.
func TestTailFindsTheNewestFile(t *testing.T) {
	t.Parallel()
	folder := journal.Folder(filepath.Join(t.TempDir(), "a[b*c"))
	must(t, os.MkdirAll(folder.Logs(), 0o700))
	path := folder.LogPath("r:a.1")
	put := func(numbers ...int) {
		t.Helper()
		for _, n := range numbers {
			must(t, os.WriteFile(segment(path, n), []byte("line of "+strconv.Itoa(n)+"\n"), 0o600))
		}
	}
	tail := tailOf(folder)
	want := func(text string) {
		t.Helper()
		if got := tail("r:a.1"); got != text {
			t.Errorf("got %q, want %q", got, text)
		}
	}
	want("")
	put(0)
	want("line of 0")
	put(1, 2, 3)
	want("line of 3")
	put(36, 37, 38, 39)
	want("line of 39")
	put(40)
	must(t, os.Remove(segment(path, 36)))
	want("line of 40")
	for n := 37; n <= 40; n++ {
		must(t, os.Remove(segment(path, n)))
	}
	put(97, 98, 99, 100)
	want("line of 100")
}
