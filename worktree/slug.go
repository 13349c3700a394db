package worktree

import (
	"strconv"
	"strings"

	"github.com/belay-run/belay"
)

const (
	maxSlug    = 60     // characters
	somePrefix = "feat" // where the given prefix has nothing that git would take
)

// Slug makes a part of a branch name out of any text: small letters, digits,
// and _ . - only, everything else a hyphen, no two hyphens in a row, 60
// characters at most, no hyphen or dot at the end. It can be empty.
func Slug(text string) string {
	var b strings.Builder
	hyphen := false
	for _, r := range strings.TrimSpace(text) { // a newline is a hyphen like any other blank
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		plain := r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' || r == '.'
		if plain {
			b.WriteRune(r)
		} else if !hyphen {
			b.WriteByte('-')
		}
		hyphen = !plain
	}
	s := b.String()
	return strings.TrimRight(s[:min(len(s), maxSlug)], "-.")
}

// Branch is a name for a branch on which a task is worked: {prefix}/issue-{n}-{slug},
// or {prefix}/{slug} without an issue. A text that leaves nothing that git would
// take gets a fallback, so that no text ever stands in the way of a run.
func Branch(text, prefix string, issue int, run belay.RunID) string {
	name := branchName(Slug(text), prefix, issue)
	if name == "" || !sound(name) {
		return fallback(prefix, issue, run)
	}
	return name
}

// branchName is the name for a slug; "" when the slug is empty.
func branchName(slug, prefix string, issue int) string {
	switch {
	case slug == "":
		return ""
	case issue > 0:
		return cleanPrefix(prefix) + "/issue-" + strconv.Itoa(issue) + "-" + slug
	}
	return cleanPrefix(prefix) + "/" + slug
}

// fallback is a name that git always takes.
func fallback(prefix string, issue int, run belay.RunID) string {
	if issue > 0 {
		return cleanPrefix(prefix) + "/issue-" + strconv.Itoa(issue) + "-task"
	}
	name := cleanPrefix(prefix) + "/task"
	if id := name + "-" + Slug(string(run)); Slug(string(run)) != "" && sound(id) {
		return id
	}
	return name
}

// cleanPrefix is the prefix as one part of a name.
func cleanPrefix(prefix string) string {
	p := Slug(prefix)
	if p == "" || !sound(p) {
		return somePrefix
	}
	return p
}

// sound tells whether git takes a name made of the characters of slugs and
// slashes: its other rules are about characters that are not among them.
func sound(name string) bool {
	if strings.HasPrefix(name, "-") || strings.Contains(name, "..") {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") || strings.HasSuffix(part, ".") {
			return false
		}
	}
	return true
}
