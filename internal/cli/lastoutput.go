package cli

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/journal"
)

// tailSize is how much of a log is read for its last line; records of agents are
// longer than lines.
const (
	tailSize  = 4 << 10
	agentTail = 32 << 10
)

// firstKept is how many files of a log are kept for ever; of those behind them
// only the last ones are.
const firstKept = 4

// tailOf gives the last line that an attempt of the run printed so far. A log
// grows into further files with a number behind its name; which one is the last
// is remembered.
func tailOf(folder journal.Folder) func(belay.Key) string {
	last := map[belay.Key]int{}
	agents := map[belay.Key]*agentLine{}
	return func(k belay.Key) string {
		path := folder.LogPath(k)
		n := newest(path, last[k])
		last[k] = n
		text := readTail(segment(path, n), tailSize)
		if text == "" {
			return ""
		}
		if _, known := agents[k]; !known {
			agents[k] = agentLineOf(folder, k)
		}
		if a := agents[k]; a != nil {
			return a.last(readTail(segment(path, n), agentTail))
		}
		return readable.LastLine(text)
	}
}

// agentLine is the last thing that an agent said or did.
type agentLine struct {
	kind  agent.Kind
	shown string // stays while there is nothing new to say
}

// agentLineOf is nil for an attempt that is not an agent's.
func agentLineOf(folder journal.Folder, k belay.Key) *agentLine {
	kind := kindOf(folder, k, "")
	if newTranscript(io.Discard, kind) == nil {
		return nil
	}
	return &agentLine{kind: kind}
}

// last makes the end of a log readable. What may begin in the middle of a record
// is left out, and so is a record that is being written.
func (a *agentLine) last(text string) string {
	if len(text) == agentTail {
		_, text, _ = strings.Cut(text, "\n")
	}
	var b strings.Builder
	_, _ = newTranscript(&b, a.kind).Write([]byte(text)) // a builder takes everything
	if line := readable.LastLine(b.String()); line != "" {
		a.shown = line
	}
	return a.shown
}

func segment(path string, n int) string {
	if n == 0 {
		return path
	}
	return path + "." + strconv.Itoa(n)
}

// newest is the number of the last file of a log, from the one that was the last
// before. Up to firstKept there are no gaps; beyond, the folder is listed only
// when the file behind is not the next one or the one that was known is gone.
func newest(path string, n int) int {
	for there(segment(path, n+1)) {
		n++
	}
	if n < firstKept-1 || n >= firstKept && there(segment(path, n)) {
		return n
	}
	names, err := filepath.Glob(escapeGlob(path) + ".*")
	if err != nil {
		return n // the pattern is good by its making
	}
	for _, name := range names {
		if k, err := strconv.Atoi(name[len(path)+1:]); err == nil {
			n = max(n, k)
		}
	}
	return n
}

func there(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// escapeGlob makes a path mean itself in a pattern.
func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// readTail is the end of a file; nothing when there is none to be read, because
// a step that printed nothing has no log.
func readTail(path string, size int64) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // opened for reading: nothing can be lost
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	from := max(0, info.Size()-size)
	b := make([]byte, size)
	n, _ := f.ReadAt(b, from) // io.EOF is the rule here, and half a line is better than none
	return string(b[:n])
}
