//go:build linux

package attend

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/belay-run/belay"
)

// Half a line, of a full disk or of somebody else, costs that line and not the
// run; a line that is being written is left for later.
func TestReadNotesPastABadLine(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "notes")
	const good = `{"at":"2026-01-02T03:04:05Z","what":"session","text":"S"}` + "\n"
	whole := good + `{"at":"2026-01-02T03:0` + good + "\x00\xff\n" + good
	if err := os.WriteFile(path, []byte(whole+`{"at":`), 0o600); err != nil {
		t.Fatal(err)
	}
	notes, offset, err := ReadNotes(path, 0)
	if err != nil || len(notes) != 2 || offset != int64(len(whole)) {
		t.Fatalf("%d notes, next at %d of %d, %v", len(notes), offset, len(whole), err)
	}
	for _, n := range notes {
		if n.What != belay.NoteSession || n.Text != "S" {
			t.Errorf("%+v", n)
		}
	}
}
