package cli

import (
	"os"
	"strconv"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/tui"
	"github.com/belay-run/belay/journal"
)

// tailSize is how much of a log is read for its last line.
const tailSize = 4 << 10

// tailOf gives the last line that an attempt of the run printed so far. A log
// grows into further files with a number behind its name; which one is the last
// is remembered.
func tailOf(folder journal.Folder) func(belay.Key) string {
	last := map[belay.Key]int{}
	return func(k belay.Key) string {
		path := folder.LogPath(k)
		n := last[k]
		for {
			if _, err := os.Lstat(path + "." + strconv.Itoa(n+1)); err != nil {
				break
			}
			n++
		}
		last[k] = n
		if n > 0 {
			path += "." + strconv.Itoa(n)
		}
		return tui.LastLine(readTail(path))
	}
}

// readTail is the end of a file; nothing when there is none to be read, because
// a step that printed nothing has no log.
func readTail(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // opened for reading: nothing can be lost
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	from := max(0, info.Size()-tailSize)
	b := make([]byte, tailSize)
	n, _ := f.ReadAt(b, from) // io.EOF is the rule here, and half a line is better than none
	return string(b[:n])
}
