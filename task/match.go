package task

import (
	"path"
	"slices"
	"strings"
)

// matches tells whether a file is one of those that patterns name: ** stands for
// any folders, a pattern of a folder for all that is in it, and one without a slash
// for a name in any folder.
func matches(patterns []string, file string) bool {
	file = path.Clean(file)
	return slices.ContainsFunc(patterns, func(p string) bool {
		p = path.Clean(p)
		if p == file || strings.HasPrefix(file, p+"/") {
			return true
		}
		if !strings.Contains(p, "/") && p != "**" {
			ok, err := path.Match(p, path.Base(file))
			return err == nil && ok
		}
		return matchParts(strings.Split(p, "/"), strings.Split(file, "/"))
	})
}

// matchParts matches folder by folder. It keeps which beginnings of the pattern fit
// what was read so far, so that no pattern makes it slow.
func matchParts(pattern, parts []string) bool {
	fits := make([]bool, len(pattern)+1)
	fits[0] = true
	skip(fits, pattern)
	for _, part := range parts {
		next := make([]bool, len(pattern)+1)
		for i, p := range pattern {
			switch {
			case !fits[i]:
			case p == "**":
				next[i] = true
			default:
				ok, err := path.Match(p, part)
				next[i+1] = next[i+1] || err == nil && ok
			}
		}
		skip(next, pattern)
		fits = next
	}
	return fits[len(pattern)]
}

// skip lets ** stand for no folder at all.
func skip(fits []bool, pattern []string) {
	for i, p := range pattern {
		if fits[i] && p == "**" {
			fits[i+1] = true
		}
	}
}
