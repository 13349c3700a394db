package worktree

import (
	"path"
	"slices"
	"strings"
)

// gitLooks are the commands of git that change nothing that counts as work.
var gitLooks = []string{
	"status", "diff", "log", "show", "blame", "annotate", "grep", "ls-files", "ls-tree", "ls-remote", "rev-parse", "rev-list", "cat-file",
	"describe", "shortlog", "reflog", "version", "help", "name-rev", "merge-base", "for-each-ref", "count-objects", "var", "check-ignore",
	"check-attr", "whatchanged", "show-ref", "show-branch", "diff-tree", "diff-index", "diff-files", "fetch", "range-diff", "cherry", "fsck", "gc", "config", "remote", "add",
}

// gitHere are those that change the tree or its history, and nothing elsewhere.
var gitHere = []string{
	"commit", "checkout", "switch", "restore", "reset", "rm", "mv", "apply", "am", "stash", "merge", "rebase", "cherry-pick", "revert",
	"clean", "init", "tag", "branch", "worktree", "bisect", "update-index", "update-ref", "read-tree", "checkout-index", "notes", "replace", "pull", "clone", "submodule", "sparse-checkout",
}

// git takes in a command of git.
func (s *shellReader) git(words, given []string) {
	verb, rest, dirs := gitVerb(words)
	v := plainWords(rest)
	at := s.at
	defer func() { s.at = at }()
	for _, dir := range dirs {
		s.at = stood(s.at, dir)
	}
	s.apartFrom(words)
	makes := makesCommit(append([]string{"git"}, words...))
	switch {
	case takesBack(verb, rest), makes && verb == "revert" && len(s.commits) > 0:
		s.commits, s.undone = nil, true
	case makes:
		s.commits, s.reverts = append(s.commits, making{s.at, subjectOf(verb, rest)}), s.reverts || verb == "revert"
	}
	if makes {
		s.tried = append(s.tried, s.at)
	}
	switch {
	case verb == "fetch" && slices.ContainsFunc(v[min(1, len(v)):], func(w string) bool { return strings.Contains(w, ":") }): // into a branch
		s.writes = true
		return
	case verb == "bundle":
		if firstOf(v) == "create" {
			s.all(v[1:min(2, len(v))], written)
		}
		return
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
	if leavesFiles(verb, rest) {
		return
	}
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
		for _, p := range v {
			if text, ok := s.kept.get(s.spot(p)); ok {
				given = append(given, text)
			}
		}
		s.patched(given...)
	}
}

// leavesFiles tells whether the flags of a command of git keep it from touching
// files: it changes the index alone, or tells what it would do.
func leavesFiles(verb string, rest []string) bool {
	if i := slices.Index(rest, "--"); i >= 0 {
		rest = rest[:i]
	}
	has := func(letters string, long ...string) bool {
		return slices.ContainsFunc(rest, func(w string) bool {
			return oneOf(w, long) || flags(w) && strings.ContainsAny(w, letters)
		})
	}
	switch verb {
	case "restore":
		return has("S", "--staged") && !has("W", "--worktree")
	case "rm":
		return has("n", "--cached", "--dry-run")
	case "mv":
		return has("n", "--dry-run")
	case "apply":
		return has("", "--check", "--stat", "--numstat", "--summary", "--cached")
	}
	return false
}

// takesBack tells whether a command of git can leave commits without a branch
// that leads to them.
func takesBack(verb string, rest []string) bool {
	if i := slices.Index(rest, "--"); i >= 0 {
		rest = rest[:i]
	}
	has := func(words ...string) bool {
		return slices.ContainsFunc(rest, func(w string) bool { return oneOf(w, words) })
	}
	switch verb {
	case "reset": // to another commit: a word that is none names files, which needs no mode
		to := plainWords(rest)
		return len(to) > 0 && to[0] != "HEAD" && (strings.ContainsAny(to[0], "~^@") || has("--hard", "--soft", "--mixed", "--keep", "--merge"))
	case "branch":
		return has("-D", "-f", "--force", "-M") || slices.ContainsFunc(rest, func(w string) bool { return flags(w) && strings.Contains(w, "D") })
	case "checkout":
		return has("-B")
	case "switch":
		return has("-C", "--force-create")
	case "update-ref":
		return true
	}
	return false
}

// makesCommit tells whether a simple command makes a commit when it ends well:
// one that also ends well where there is nothing to do, as a merge or am does, is none.
func makesCommit(words []string) bool {
	if path.Base(words[0]) != "git" {
		return false
	}
	elsewhere := func(w string) bool { return flagged(w, []string{"--git-dir", "--work-tree"}) }
	verb, rest, _ := gitVerb(words[1:])
	idle := []string{"--allow-empty", "--amend", "--help", "-h", "--abort", "--quit", "--skip"}
	switch verb {
	case "commit":
		idle = append(idle, "--dry-run", "--short", "--porcelain", "--long")
	case "cherry-pick", "revert":
		idle = append(idle, "--no-commit", "-n", "--keep-redundant-commits")
	default:
		return false
	}
	return !slices.ContainsFunc(words, elsewhere) && !slices.ContainsFunc(rest, func(w string) bool { return flagged(w, idle) })
}

// gitVerb is the command of git in its arguments, what follows it, and where it
// was told to go first.
func gitVerb(words []string) (verb string, rest, dirs []string) {
	for i := 0; i < len(words); i++ {
		switch w := words[i]; {
		case w == "-C" && i+1 < len(words):
			i++
			dirs = append(dirs, words[i])
		case oneOf(w, []string{"-c", "--git-dir", "--work-tree", "--namespace"}):
			i++
		case strings.HasPrefix(w, "-"):
		default:
			return w, words[i+1:], dirs
		}
	}
	return "", nil, dirs
}
