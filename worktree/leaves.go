package worktree

import (
	"slices"
	"strconv"
	"strings"
)

// leaves tells whether a command of a list may end or replace the shell so that
// nothing after it runs, and the whole exits with 0 all the same. An exit with
// another code is no such: nobody takes it for a success. Nor is the exit of
// "cd x || exit": it is that of what failed.
func leaves(list []simple, i, depth int) bool {
	words := list[i].words
	first := true // no word of the shell stands before it
	for len(words) > 0 && (assignment(words[0]) || oneOf(words[0], openers) || oneOf(words[0], hiders) ||
		oneOf(words[0], []string{"command", "builtin", "time"})) {
		first = first && words[0] == "{"
		words = words[1:]
	}
	if len(words) == 0 {
		return false
	}
	name, rest := words[0], words[1:]
	switch name {
	case "exit", "return", "logout":
		if len(rest) == 0 {
			return !first || i == 0 || list[i-1].after != "||"
		}
		code, err := strconv.Atoi(rest[0])
		return err != nil || code%256 == 0
	case "exec": // alone, it only redirects
		return len(rest) > 0
	case "kill":
		return slices.ContainsFunc(rest, func(w string) bool { return w == "$$" || w == "0" || strings.Contains(w, "BASHPID") })
	case "eval":
		return depth < maxShells && leavesAny(split(strings.Join(rest, " ")), depth+1)
	}
	return strings.HasPrefix(name, "$") && !strings.Contains(name, "/") // it may be any of them
}

// leavesAny tells it of a whole list.
func leavesAny(list []simple, depth int) bool {
	for i := range list {
		if leaves(list, i, depth) {
			return true
		}
	}
	return false
}
