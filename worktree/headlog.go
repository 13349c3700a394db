package worktree

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Limits of what is read of the log of HEAD.
const (
	maxLog   = 1 << 20 // bytes
	maxMoves = 1000
)

// move is one line of the log of HEAD or of a branch: from where to where, by
// what, and when.
type move struct {
	from, to string
	message  string
	at       int64 // in seconds, as git wrote it down
}

// parseLog reads the lines of a log; what is no line of one is left alone.
func parseLog(text string) []move {
	var list []move
	for line := range strings.Lines(text) {
		who, message, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		f := strings.Fields(who) // from to name... time zone
		if len(f) < 4 || !isID(f[0]) || !isID(f[1]) {
			continue
		}
		at, _ := strconv.ParseInt(f[len(f)-2], 10, 64) // 0 = long ago
		list = append(list, move{f[0], f[1], message, at})
	}
	return list
}

func isID(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

// makers are the acts of git that make a commit.
var makers = []string{"commit", "cherry-pick", "revert", "merge", "rebase", "am", "pull"}

// makes tells whether a move of HEAD was the making of a commit. A checkout, a
// reset and a fast-forward only go to one that is there.
func (m move) makes() bool {
	act, subject, ok := strings.Cut(m.message, ":")
	words := strings.Fields(act)
	if !ok || len(words) == 0 || !slices.Contains(makers, words[0]) {
		return false
	}
	switch words[len(words)-1] { // of a rebase: its own ways
	case "(start)", "(finish)", "(abort)", "finished":
		return false
	}
	subject = strings.ToLower(strings.TrimSpace(subject))
	forward := subject == "fast-forward" || strings.HasPrefix(subject, "fast-forward (no commit")
	return !forward || words[0] == "commit"
}

// sorted are the commits that were made, in their order, and the others that
// HEAD was at.
func sorted(moves []move) (made, visited []string) {
	moves = moves[:min(len(moves), maxMoves)]
	for _, m := range moves {
		if m.makes() && !slices.Contains(made, m.to) {
			made = append(made, m.to)
		}
	}
	for _, m := range moves {
		for _, id := range []string{m.from, m.to} {
			if !slices.Contains(made, id) && !slices.Contains(visited, id) {
				visited = append(visited, id)
			}
		}
	}
	return made, visited
}

// newLog is what the log of HEAD has gained since it had a length. A log that
// is shorter now was cleaned up, and tells nothing.
func newLog(own string, from int64) string {
	return readLog(filepath.Join(own, "logs", "HEAD"), from)
}

// readLog is what a log has from a length on.
func readLog(path string, from int64) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // only read
	fi, err := f.Stat()
	if err != nil || fi.Size() <= from {
		return ""
	}
	b := make([]byte, min(fi.Size()-from, maxLog))
	n, _ := f.ReadAt(b, from) // what could be read is what is known
	return string(b[:n])
}

// logSize is the length of the log that git keeps of where HEAD was. It tells
// a later look which moves are new; 0 when no log is kept.
func logSize(own string) int64 {
	fi, err := os.Stat(filepath.Join(own, "logs", "HEAD"))
	if err != nil {
		return 0
	}
	return fi.Size()
}
