package worktree

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// pullsPath is where pull requests of a repository are made.
var pullsPath = regexp.MustCompile(`^/?repos/[^/]+/[^/]+/pulls$`)

// makesPR tells whether a simple command makes a pull request, if it ends well.
func makesPR(words []string) bool {
	name, rest := path.Base(words[0]), words[1:]
	if slices.ContainsFunc(rest, noPR) {
		return false
	}
	v := operands(name, rest)
	if len(v) < 2 {
		return false
	}
	switch {
	case name == "gh" && v[0] == "pr", name == "glab" && v[0] == "mr":
		return v[1] == "create" || v[1] == "new"
	case name == "gh" && v[0] == "api":
		return pullsPath.MatchString(v[1]) && posts(rest)
	}
	return false
}

// noPR tells whether a word keeps a pull request from being made: it is only
// shown, or a person is to make it in a browser.
func noPR(word string) bool {
	name, value, _ := strings.Cut(word, "=")
	switch name {
	case "--help", "-h", "--dry-run", "--web":
		return value != "false"
	}
	return flags(word) && strings.Contains(word, "w") && strings.Trim(word[1:], "dfew") == "" // short flags without values
}

// posts tells whether a call of the interface hands in a new pull request: one
// with fields does, unless another method is named.
func posts(words []string) bool {
	given := false
	for i, w := range words {
		next := firstOf(words[min(i+1, len(words)):])
		switch flag, value, joined := strings.Cut(w, "="); {
		case oneOf(w, []string{"-X", "--method"}):
			if next != "POST" {
				return false
			}
		case joined && flag == "--method", strings.HasPrefix(w, "-X"):
			if value != "POST" && w != "-XPOST" {
				return false
			}
		case oneOf(w, []string{"-f", "-F", "--field", "--raw-field"}):
			given = given || strings.HasPrefix(next, "head=")
		case w == "--input", flag == "--input":
			given = true
		}
	}
	return given
}
