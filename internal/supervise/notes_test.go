//go:build linux

package supervise

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/redact"
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
		if n.What != effect.NoteSession || n.Text != "S" {
			t.Errorf("%+v", n)
		}
	}
}

// Notes that cannot be written cost a good attempt nothing, and the report says
// so.
func TestNotesOnAFullDisk(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*Order){
		"no space left": func(o *Order) { o.Notes = "/dev/full" },
		"no file":       func(o *Order) { o.Notes = o.Dir },
	} {
		r := newRig(t).script("- answer: x\n")
		spoil(&r.order)
		d := r.run()
		if d.code != 0 || d.out != "x" || d.Lost == "" || !strings.HasPrefix(d.told(), "base session") {
			t.Errorf("%s: exit %d, said %q, lost %q, notes %q: %s", name, d.code, d.out, d.Lost, d.told(), d.talk)
		}
	}
}

// However often an agent does what is noted, the notes stay few, and what the
// next attempt needs is among them.
func TestNotesAreBounded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "notes")
	n := openNotebook(path, redact.New(nil))
	for i := range 100_000 {
		n.add(effect.NoteRetry, "529", nil)
		n.add(effect.NoteQuiet, strings.Repeat("q", 1<<10), nil)
		n.add(effect.NoteSession, fmt.Sprint("s-", i), nil)
	}
	for range 3 {
		n.add(effect.NoteKill, "k", nil)
		n.add(effect.NoteInterrupt, "i", nil)
		n.add(effect.NoteResume, "r", nil)
	}
	n.add(effect.NoteBase, "tree", &belay.TreeState{Tree: "tree"})
	kept, lost := n.close()
	notes, _, err := ReadNotes(path, 0)
	if err != nil || lost != "" || len(kept) != len(notes) || len(notes) > 60 {
		t.Fatalf("%d notes, %d kept, lost %q, %v", len(notes), len(kept), lost, err)
	}
	count := map[effect.NoteKind]int{}
	for _, n := range notes {
		count[n.What]++
	}
	if count[effect.NoteKill] != 3 || count[effect.NoteInterrupt] != 3 || count[effect.NoteResume] != 3 ||
		count[effect.NoteBase] != 1 || count[effect.NoteSession] < 10 || count[effect.NoteRetry] == 0 || count[effect.NoteQuiet] == 0 {
		t.Fatalf("%v", count)
	}
	total := 0
	for _, k := range []effect.NoteKind{effect.NoteSession, effect.NoteQuiet, effect.NoteInterrupt, effect.NoteResume, effect.NoteKill, effect.NoteRetry, effect.NoteBase} {
		total += room(k)
	}
	if total > 60 {
		t.Fatalf("room for %d notes: a driver makes records of 60", total)
	}
}
