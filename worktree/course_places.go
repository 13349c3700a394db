package worktree

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// moved runs a command where the programs before it put it: env -C leads only
// what it runs elsewhere. So it is with a CDPATH that is set for one command.
func (c *course) moved(n *syntax.CallExpr, o order) fate {
	at, adrift := c.at, c.adrift
	before := o.raw[:len(o.raw)-len(o.words)]
	dirs := moves(before)
	for _, dir := range dirs {
		c.at = stood(c.at, dir)
	}
	lent := slices.ContainsFunc(before, func(w string) bool { return strings.HasPrefix(w, "CDPATH=") }) ||
		slices.ContainsFunc(n.Assigns, func(a *syntax.Assign) bool { return a.Name != nil && a.Name.Value == "CDPATH" && a.Value != nil })
	c.adrift = c.adrift || lent
	f := c.run(o)
	if len(dirs) > 0 {
		c.at = at
	}
	if lent {
		c.adrift = adrift
	}
	return f
}

// goes takes in a change of the directory.
func (c *course) goes(words []string) {
	to := firstOf(plainWords(words[1:]))
	there := stood(c.at, to)
	turned := strings.HasPrefix(to, "+") || to == "" // the list of folders is turned
	named := path.IsAbs(to) || oneOf(to, []string{".", ".."}) || strings.HasPrefix(to, "./") || strings.HasPrefix(to, "../")
	if c.adrift && !named {
		there = somewhere
	}
	switch last := len(c.dirs) - 1; {
	case words[0] == "cd":
		c.at = there
	case words[0] == "popd" && (len(words) > 1 || last < 0), turned && words[0] == "pushd":
		c.at, c.dirs = somewhere, nil
	case words[0] == "popd":
		c.at, c.dirs = c.dirs[last], c.dirs[:last]
	case slices.Contains(words, "-n"): // only the list is longer
		c.dirs = append(slices.Clone(c.dirs), there)
	default:
		c.dirs, c.at = append(slices.Clone(c.dirs), c.at), there
	}
}

// spot is where a path lies for this shell.
func (c *course) spot(p string) string {
	if path.IsAbs(p) || strings.HasPrefix(p, "$") || strings.HasPrefix(p, "~") {
		return path.Clean(p)
	}
	return path.Join(c.at, p)
}

var (
	heres    = []string{"$PWD", "${PWD}", "$(pwd)", "`pwd`"} // ways to write where a shell stands
	toplevel = regexp.MustCompile("^(?:\\$\\(|`)git rev-parse --show-toplevel(?: 2>/dev/null)?(?:\\)|`)(/.*)?$")
)

// here takes the place where a shell stands off the front of a path.
func here(at, p string) string {
	for _, h := range heres {
		if rest, ok := strings.CutPrefix(p, h); ok && (rest == "" || rest[0] == '/') {
			return "." + rest
		}
	}
	if m := toplevel.FindStringSubmatch(p); m != nil && at == "" {
		return strings.TrimPrefix(m[1], "/")
	}
	return p
}

// stood is where a shell stands after a change of its directory.
func stood(at, to string) string {
	if m := toplevel.FindStringSubmatch(to); m != nil && !path.IsAbs(at) && at != somewhere { // of the tree that it stands in
		if at, to = "", "."+m[1]; m[1] == "" {
			return ""
		}
	}
	to = here(at, to)
	switch {
	case strings.ContainsAny(to, "$`~*") || to == "-" || to == "":
		return somewhere
	case strings.HasPrefix(to, "/"):
		return path.Clean(to)
	case at == somewhere:
		return at
	}
	return path.Join(at, to)
}
