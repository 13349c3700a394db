package worktree

import (
	"slices"
	"strings"
)

// ended are the names of what ends a shell: what it runs then keeps its code.
var ended = []string{"EXIT", "0", "INT", "TERM", "HUP", "QUIT", "SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"}

// tidiers are programs that people have a shell run at its end, beside those
// that only look and those that are silent.
var tidiers = []string{"docker", "podman", "git", "tput", "stty", "deactivate"}

// tidies tells whether a trap leaves the code of its shell as it is: all that it
// runs is known, and nothing of it ends a shell.
func (m *shellMode) tidies(words []string) bool {
	if len(words) < 2 || slices.ContainsFunc(words[1:], func(w string) bool { return !slices.Contains(ended, w) }) {
		return false
	}
	if words[0] == "-" {
		return true
	}
	if strings.ContainsAny(words[0], "`()") { // a substitution, a function, a group
		return false
	}
	if strings.Contains(strings.ReplaceAll(words[0], "$$", ""), "$") && strings.Count(m.text, "trap '") != strings.Count(m.text, "trap") {
		return false // a value that is put in before may be commands
	}
	return !slices.ContainsFunc(split(words[0]), func(c simple) bool { return !m.tidy(c.words) })
}

// tidy tells it of one command of a trap.
func (m *shellMode) tidy(words []string) bool {
	for len(words) > 0 && (oneOf(words[0], openers) || oneOf(words[0], hiders)) {
		words = words[1:]
	}
	if len(words) == 0 {
		return true
	}
	name := words[0]
	if m.shadows[name] || slices.Contains([]string{"exit", "return", "kill", "set", "shopt", "alias", "hash", "export", "declare", "local", "readonly", "unset"}, name) {
		return false
	}
	_, looks := looksOnly[name]
	return looks && name != "env" || slices.Contains(silent, name) || slices.Contains(tidiers, name)
}
