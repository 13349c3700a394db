package worktree

import (
	"slices"
	"strings"
)

// gitLooks are the commands of git that change nothing that counts as work.
var gitLooks = []string{
	"status", "diff", "log", "show", "blame", "annotate", "grep", "ls-files", "ls-tree", "ls-remote", "rev-parse", "rev-list", "cat-file",
	"describe", "shortlog", "reflog", "version", "help", "name-rev", "merge-base", "for-each-ref", "count-objects", "var", "check-ignore",
	"check-attr", "whatchanged", "show-ref", "show-branch", "diff-tree", "diff-index", "diff-files", "fetch", "range-diff", "cherry", "fsck", "gc", "config", "remote", "add", "bundle",
}

// gitHere are those that change the tree or its history, and nothing elsewhere.
var gitHere = []string{
	"commit", "checkout", "switch", "restore", "reset", "rm", "mv", "apply", "am", "stash", "merge", "rebase", "cherry-pick", "revert",
	"clean", "init", "tag", "branch", "worktree", "bisect", "update-index", "update-ref", "read-tree", "checkout-index", "notes", "replace", "pull", "clone", "submodule", "sparse-checkout",
}

// git takes in a command of git.
func (s *shellReader) git(words, given []string) {
	verb, rest := gitVerb(words)
	v := plainWords(rest)
	switch {
	case verb == "" || slices.Contains(gitLooks, verb),
		verb == "branch" && (len(v) == 0 || !slices.ContainsFunc(rest, func(w string) bool { return !strings.HasPrefix(w, "-") })),
		verb == "tag" && len(v) == 0, oneOf(verb, []string{"stash", "worktree"}) && oneOf(firstOf(v), []string{"list", "show"}):
		s.outputs(rest)
		return
	case verb == "push":
		s.afar = true
		return
	case !slices.Contains(gitHere, verb):
		s.writes, s.afar = true, true
		return
	}
	s.writes = true
	switch verb {
	case "mv":
		s.moved("mv", rest, v)
	case "rm":
		s.all(v, gone)
	case "checkout", "restore":
		if i := slices.Index(rest, "--"); i >= 0 {
			v = rest[i+1:]
		} else if verb == "checkout" {
			v = v[min(1, len(v)):] // the first may be a branch
		}
		s.all(slices.DeleteFunc(slices.Clone(v), func(p string) bool { return p == "." }), within)
	case "apply", "am":
		s.texts = append(s.texts, given...)
	}
}
