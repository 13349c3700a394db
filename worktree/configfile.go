package worktree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// readSettings lists the settings in a file as "git config --list -z" does. It is sure
// or says no, as readRef: it knows the form in which git writes them, and no other.
func readSettings(file string) (list string, sure bool) {
	b, err := os.ReadFile(file)
	if err != nil {
		return "", errors.Is(err, fs.ErrNotExist)
	}
	var out strings.Builder
	section := ""
	for line := range strings.Lines(string(b)) {
		text := strings.TrimSpace(line)
		if text == "" || text[0] == '#' || text[0] == ';' {
			continue
		}
		if text[0] == '[' {
			if section, sure = sectionName(text); !sure {
				return "", false
			}
			continue
		}
		key, value, ok := strings.Cut(text, " = ")
		value, ok = plainValue(value, ok)
		if !ok || section == "" || !plainKey(key) || strings.ContainsAny(value, "\t\r") || strings.Contains(value, "  ") {
			return "", false
		}
		out.WriteString(section + "." + strings.ToLower(key) + "\n" + value + "\x00")
	}
	return out.String(), true
}

// sectionName is the name that a head such as [core] or [remote "x"] gives to its keys.
func sectionName(head string) (string, bool) {
	text, ok := strings.CutPrefix(head, "[")
	text, end := strings.CutSuffix(text, "]")
	name, sub, below := strings.Cut(text, ` "`)
	if !ok || !end || !plainKey(name) {
		return "", false
	}
	name = strings.ToLower(name)
	if !below {
		return name, true
	}
	sub, end = strings.CutSuffix(sub, `"`)
	return name + "." + sub, end && !strings.ContainsAny(sub, `"\]`)
}

// plainKey tells whether a text is a name of settings without anything special.
func plainKey(s string) bool {
	for i := range len(s) {
		c := s[i] | 0x20
		if (c < 'a' || c > 'z') && (s[i] < '0' || s[i] > '9') && s[i] != '-' {
			return false
		}
	}
	return s != ""
}

// readGlobal lists the settings of the user, as readSettings does.
func readGlobal() (list string, sure bool) {
	if file, set := os.LookupEnv("GIT_CONFIG_GLOBAL"); set {
		return readSettings(file)
	}
	home := os.Getenv("HOME")
	more := os.Getenv("XDG_CONFIG_HOME")
	if more == "" {
		more = filepath.Join(home, ".config")
	}
	if home == "" || exists(filepath.Join(more, "git", "config")) {
		return "", false // which of two counts is for git to say
	}
	return readSettings(filepath.Join(home, ".gitconfig"))
}
