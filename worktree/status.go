package worktree

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// status is what "git status --porcelain=v2 --branch -z" says.
type status struct {
	head, branch string
	entries      []entry
}

// entry is one path that is not as committed.
type entry struct {
	path      string // ends in / for a repository inside this one that is not tracked
	staged    bool   // the file is as in the index
	between   bool   // what is staged is neither as committed nor as the file
	submodule bool
}

// parseStatus reads the records; kinds it does not know are left alone.
func parseStatus(out string) status {
	var s status
	for rec := range strings.SplitSeq(out, "\x00") {
		kind, rest, _ := strings.Cut(rec, " ")
		switch kind {
		case "#":
			s.header(rest)
		case "?":
			s.entries = append(s.entries, entry{path: rest})
		case "1": // XY sub mH mI mW hH hI path
			if f := strings.SplitN(rest, " ", 8); len(f) == 8 && len(f[0]) == 2 {
				s.entries = append(s.entries, entry{path: f[7], staged: f[0][1] == '.', between: f[0][0] != '.' && f[0][1] != '.', submodule: f[1] != "N..."})
			}
		case "u": // XY sub m1 m2 m3 mW h1 h2 h3 path
			if f := strings.SplitN(rest, " ", 10); len(f) == 10 {
				s.entries = append(s.entries, entry{path: f[9], submodule: f[1] != "N..."})
			}
		}
	}
	return s
}

func (s *status) header(text string) {
	key, value, _ := strings.Cut(text, " ")
	switch {
	case key == "branch.oid" && value != "(initial)":
		s.head = value
	case key == "branch.head" && value != "(detached)":
		s.branch = value
	}
}

// fileMode is git's mode of a regular file.
func fileMode(fi os.FileInfo) string {
	if fi.Mode()&0o100 != 0 {
		return "100755"
	}
	return "100644"
}

// readable tells whether the file can be opened.
func readable(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	_ = f.Close() // nothing was written
	return true
}

// behindLink tells whether a folder on the way to the path is a symbolic link:
// then the path names a file that is not in this tree.
func behindLink(top, path string) bool {
	for dir := filepath.Dir(strings.TrimSuffix(path, "/")); dir != "."; dir = filepath.Dir(dir) {
		if fi, err := os.Lstat(filepath.Join(top, dir)); err == nil && fi.Mode()&os.ModeSymlink != 0 {
			return true
		}
	}
	return false
}

// quoted is a path as git reads it from a list of lines.
func quoted(path string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(path) {
		switch c := path[i]; {
		case c == '"' || c == '\\':
			b.WriteString(`\` + string(c))
		case c < ' ' || c >= 0x7f:
			b.WriteString(`\` + octal(c))
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func octal(c byte) string {
	s := "00" + strconv.FormatUint(uint64(c), 8)
	return s[len(s)-3:]
}

// shown is a path as it stands in a record: itself, or quoted when it is no
// text that can be stored and told apart.
func shown(path string) string {
	if utf8.ValidString(path) && strings.IndexFunc(path, unicode.IsControl) < 0 {
		return path
	}
	return strconv.Quote(path)
}

// realPath is the absolute path without symbolic links.
func realPath(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// joined is a path that git told, seen from a folder.
func joined(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// below tells whether a clean path is the folder or inside of it.
func below(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
