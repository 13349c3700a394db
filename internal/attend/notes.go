package attend

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
	"github.com/belay-run/belay/redact"
)

const (
	maxNotes    = 200      // what the report holds of them
	maxNoteText = 2 << 10  // bytes
	maxNoteFile = 64 << 20 // what is read of a file of notes
)

// Note is one line of the file of notes.
type Note struct {
	belay.AgentNote
	Base *belay.Print `json:"base,omitempty"` // of a NoteBase
}

// notebook is the file of notes: one write for each line, so that a reader who
// follows it never sees half of two.
type notebook struct {
	mu     sync.Mutex
	file   *os.File
	hide   *redact.Redactor
	kept   []belay.AgentNote
	failed error // the first
}

func openNotebook(path string, hide *redact.Redactor) (*notebook, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open notes: %w", err)
	}
	return &notebook{file: f, hide: hide}, nil
}

// add notes something. A disk that is full does not stop the agent: the report
// holds the notes too.
func (n *notebook) add(what belay.NoteKind, text string, base *belay.Print) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(text) > maxNoteText {
		text = text[:maxNoteText]
	}
	note := Note{AgentNote: belay.AgentNote{At: time.Now().UTC(), What: what, Text: n.hide.String(text)}, Base: base}
	if len(n.kept) < maxNotes {
		n.kept = append(n.kept, note.AgentNote)
	}
	b, err := json.Marshal(note)
	if err == nil {
		_, err = n.file.Write(append(b, '\n'))
	}
	if err != nil && n.failed == nil {
		n.failed = fmt.Errorf("write note: %w", err)
	}
}

func (n *notebook) close() ([]belay.AgentNote, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.kept, errors.Join(n.failed, n.file.Close())
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
