package worktree

import (
	"os"
	"path/filepath"
	"strings"
)

// readMarks are the texts of the marks by branch, as they stand in the settings of
// the repository. It is sure or says no, as readRef: it knows the form in which git
// writes them, and no other.
func (p place) readMarks() (marks map[string]string, sure bool) {
	b, err := os.ReadFile(filepath.Join(p.all, "config"))
	if err != nil || strings.Contains(strings.ReplaceAll(string(b), "\r", ""), "\\\n") {
		return nil, false
	}
	marks = map[string]string{}
	branch, known := "", false
	for line := range strings.Lines(string(b)) {
		text := strings.TrimSpace(line)
		if strings.HasPrefix(text, "[") {
			branch, known = sectionOfBranch(text)
		}
		if !strings.Contains(strings.ToLower(text), ownerKey) {
			continue
		}
		value, ours := strings.CutPrefix(text, ownerKey+" = ")
		if value, ours = plainValue(value, ours); !ours || !known {
			return nil, false
		}
		marks[branch] = value // of several the last counts
	}
	return marks, true
}

// sectionOfBranch is the branch that a head such as [branch "x"] is about.
func sectionOfBranch(head string) (string, bool) {
	name, ok := strings.CutPrefix(head, `[branch "`)
	name, end := strings.CutSuffix(name, `"]`)
	return name, ok && end && !strings.ContainsAny(name, `"\]`)
}

// plainValue takes the backslashes off a value that git wrote without quotes.
func plainValue(value string, ok bool) (string, bool) {
	var out strings.Builder
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case c == '"' || c == '#' || c == ';':
			return "", false
		case c != '\\':
			out.WriteByte(c)
		case i+1 < len(value) && (value[i+1] == '"' || value[i+1] == '\\'):
			i++
			out.WriteByte(value[i])
		default:
			return "", false
		}
	}
	return out.String(), ok
}
