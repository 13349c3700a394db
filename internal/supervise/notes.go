package supervise

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/redact"
)

const (
	maxNoteText = 2 << 10  // bytes
	maxNoteFile = 64 << 20 // what is read of a file of notes
)

// room is how many notes of a kind an attempt has. All together are no more
// than its driver makes records of, so that none is lost that another attempt
// needs; a kind that repeats is thinned out before its room is used up.
func room(k effect.NoteKind) int {
	switch k {
	case effect.NoteBase:
		return 2
	case effect.NoteSession:
		return 22
	case effect.NoteInterrupt, effect.NoteResume, effect.NoteKill:
		return 8
	case effect.NoteQuiet, effect.NoteRetry:
		return 6
	}
	return 0
}

// due tells whether the nth note of a kind is written. What the agent can make
// happen as often as it likes is written at first, then ever less often.
func due(k effect.NoteKind, n, written int) bool {
	all := room(k)
	switch k {
	case effect.NoteSession, effect.NoteQuiet, effect.NoteRetry:
		return written < all && (n <= all/2 || n&(n-1) == 0)
	case effect.NoteBase, effect.NoteInterrupt, effect.NoteResume, effect.NoteKill:
	}
	return written < all
}

// Note is one line of the file of notes.
type Note struct {
	effect.AgentNote
	Base *belay.TreeState `json:"base,omitempty"` // of a NoteBase
}

// notebook is the file of notes: one write for each line, so that a reader who
// follows it never sees half of two.
type notebook struct {
	mu      sync.Mutex
	file    *os.File // nil: it could not be opened
	hide    *redact.Redactor
	kept    []effect.AgentNote
	came    map[effect.NoteKind]int
	written map[effect.NoteKind]int
	failed  error // the first
}

// openNotebook begins the notes. A disk that is full stops no agent: the report
// holds the notes too, and says that the file lacks them.
func openNotebook(path string, hide *redact.Redactor) *notebook {
	n := &notebook{hide: hide, came: map[effect.NoteKind]int{}, written: map[effect.NoteKind]int{}}
	n.file, n.failed = os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	return n
}

// add notes something.
func (n *notebook) add(what effect.NoteKind, text string, base *belay.TreeState) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.came[what]++
	if !due(what, n.came[what], n.written[what]) {
		return
	}
	n.written[what]++
	text = n.hide.String(agent.Short(text, maxNoteText, n.hide.String))
	note := Note{AgentNote: effect.AgentNote{At: time.Now().UTC(), What: what, Text: text}, Base: base}
	n.kept = append(n.kept, note.AgentNote)
	if n.file == nil {
		return
	}
	b, err := json.Marshal(note)
	if err == nil {
		_, err = n.file.Write(append(b, '\n'))
	}
	if err != nil && n.failed == nil {
		n.failed = err
	}
}

// close is all notes, and why the file lacks some.
func (n *notebook) close() (notes []effect.AgentNote, lost string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.file != nil {
		n.failed = errors.Join(n.failed, n.file.Close())
	}
	if n.failed != nil {
		lost = n.failed.Error()
	}
	return n.kept, lost
}

// ReadNotes is the notes that begin at the offset, and the offset of the next
// one. A line that is being written is left for later; a file that is not there
// yet has no notes.
func ReadNotes(path string, offset int64) ([]Note, int64, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, offset, nil
	}
	if err != nil {
		return nil, offset, fmt.Errorf("read notes: %w", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.NewSectionReader(f, offset, maxNoteFile))
	if err != nil {
		return nil, offset, fmt.Errorf("read notes: %w", err)
	}
	var notes []Note
	for {
		at := bytes.IndexByte(b, '\n')
		if at < 0 {
			return notes, offset, nil
		}
		var n Note
		if json.Unmarshal(b[:at], &n) == nil { // half a line of a full disk must not stop a run: the report has them too
			notes = append(notes, n)
		}
		offset += int64(at) + 1
		b = b[at+1:]
	}
}
