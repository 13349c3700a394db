// Package branchname makes names for branches and folders out of any text. It
// knows what git takes as a name; it asks nobody and makes nothing.
package branchname

import (
	"strconv"
	"strings"
)

// MaxSlug is how many characters a slug has at most.
const MaxSlug = 60

// somePrefix is where the given prefix has nothing that git would take.
const somePrefix = "feat"

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
	return strings.TrimRight(s[:min(len(s), MaxSlug)], "-.")
}

// Of is a name for a branch on which a task is worked: {prefix}/issue-{n}-{slug},
// or {prefix}/{slug} without an issue. A text that leaves nothing that git would
// take gets a fallback, so that no text ever stands in the way of a run.
func Of(text, prefix string, issue int, run string) string {
	name := join(Slug(text), prefix, issue)
	if name == "" || !Sound(name) {
		return Fallback(prefix, issue, run)
	}
	return name
}

// join is the name for a slug; "" when the slug is empty.
func join(slug, prefix string, issue int) string {
	switch {
	case slug == "":
		return ""
	case issue > 0:
		return cleanPrefix(prefix) + "/issue-" + strconv.Itoa(issue) + "-" + slug
	}
	return cleanPrefix(prefix) + "/" + slug
}

// Fallback is a name that git always takes.
func Fallback(prefix string, issue int, run string) string {
	if issue > 0 {
		return cleanPrefix(prefix) + "/issue-" + strconv.Itoa(issue) + "-task"
	}
	name := cleanPrefix(prefix) + "/task"
	if id := name + "-" + Slug(run); Slug(run) != "" && Sound(id) {
		return id
	}
	return name
}

// cleanPrefix is the prefix as one part of a name.
func cleanPrefix(prefix string) string {
	p := Slug(prefix)
	if p == "" || !Sound(p) {
		return somePrefix
	}
	return p
}

// Sound tells whether git takes a name made of the characters of slugs and
// slashes: its other rules are about characters that are not among them.
func Sound(name string) bool {
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
