package worktree

import (
	"path"
	"slices"
	"strings"
)

// files takes in a program whose words say which files it writes.
func (s *shellReader) files(name string, rest, given []string) bool {
	v := plainWords(rest)
	if asks(name, rest) {
		return true
	}
	switch name {
	case "rm", "unlink", "trash", "shred":
		s.all(v, gone)
	case "touch":
		s.all(v, made)
	case "mv", "cp", "install", "ln", "rsync":
		s.moved(name, rest, v)
	case "chmod":
		s.writes = true
		s.all(v[min(1, len(v)):], moded)
	case "chown", "chgrp": // nobody looks at owners
		s.writes = true
	case "truncate":
		s.all(v[max(0, len(v)-1):], written)
	case "dd", "wget":
		s.writes, s.afar = true, name == "wget"
		s.outputs(rest)
	case "curl":
		s.curl(rest)
	case "uniq":
		s.uniq(rest)
	case "patch":
		s.patch(rest, v, given)
	case "apply_patch", "applypatch":
		s.patched(slices.Concat(rest, given)...)
	case "sort":
		s.sort(rest)
	case "sed", "gsed":
		return s.sed(rest)
	case "npm", "pnpm", "yarn", "bun", "go", "cargo", "uv", "poetry", "composer", "bundle":
		return s.packages(name, v)
	default:
		return s.listed(name, rest, v, given)
	}
	return true
}

func (s *shellReader) all(paths []string, how manner) {
	for _, p := range paths {
		s.name(p, how)
	}
}

// listed takes in the programs of the list of writers.
func (s *shellReader) listed(name string, rest, v, given []string) bool {
	rule, ok := inPlace[name]
	has := func(flags []string) bool {
		return slices.ContainsFunc(rest, func(w string) bool { return flagged(w, flags) })
	}
	if !ok || len(rule.with) > 0 && !has(rule.with) || has(rule.without) {
		return false
	}
	s.writes = true
	s.tell(given...)
	for _, p := range v {
		if p != "." && !strings.HasSuffix(p, "...") && !strings.HasSuffix(p, "/") && !oneOf(p, rule.with) { // a whole folder names no file
			s.name(p, written)
		}
	}
	return true
}

// patch takes in a patch, which reads from a file or from what it is given. Given
// nothing it writes nothing.
func (s *shellReader) patch(rest, v, given []string) {
	s.writes = true
	for i, w := range rest {
		if oneOf(w, []string{"-i", "--input"}) && i+1 < len(rest) {
			v = slices.DeleteFunc(slices.Clone(v), func(p string) bool { return p == rest[i+1] })
			if text, ok := s.kept.get(s.spot(rest[i+1])); ok {
				given = append(given, text)
			}
		}
	}
	if len(given) > 0 && strings.TrimSpace(strings.Join(given, "")) == "" {
		return
	}
	if len(v) > 0 { // the patch tells others, and is for this one
		s.name(v[0], written)
		return
	}
	s.patched(given...)
}

// keepers are flags with which a file that is there is left as it is, or may be.
var keepers = []string{"--no-clobber", "--update", "--ignore-existing", "--existing"}

// asks tells whether a program that writes files is only asked something, or to
// tell what it would do.
func asks(name string, rest []string) bool {
	_, known := inPlace[name]
	if !known && !oneOf(name, []string{"rm", "unlink", "touch", "mv", "cp", "install", "ln", "rsync", "chmod", "truncate", "dd", "patch", "sed", "gsed", "sort", "shred"}) {
		return false
	}
	if i := slices.Index(rest, "--"); i >= 0 {
		rest = rest[:i]
	}
	return slices.ContainsFunc(rest, func(w string) bool {
		return w == "--help" || w == "--version" || w == "--dry-run" || name == "rsync" && flags(w) && strings.Contains(w, "n")
	})
}

// moved takes in a program that puts files at its last word, or into it.
func (s *shellReader) moved(name string, rest, v []string) {
	s.writes, s.afar = true, s.afar || name == "rsync"
	file, folder := written, within
	if slices.ContainsFunc(rest, func(w string) bool {
		return flagged(w, keepers) || flags(w) && strings.ContainsAny(w, "nu") && name != "install"
	}) {
		file, folder = made, made
	}
	to := ""
	for i, w := range rest {
		switch {
		case w == "-t" && i+1 < len(rest):
			to = rest[i+1]
		case strings.HasPrefix(w, "--target-directory="):
			to = strings.TrimPrefix(w, "--target-directory=")
		}
	}
	from := v
	if to == "" {
		if len(v) == 0 {
			return
		}
		to, from = v[len(v)-1], v[:len(v)-1]
	}
	if path.Clean(to) == "." {
		to = ""
	} else if name == "mv" || slices.ContainsFunc(rest, func(w string) bool { return flags(w) && strings.ContainsAny(w, "rRa") }) {
		s.name(to, folder)
	} else {
		s.name(to, file)
	}
	for _, f := range from {
		if f != to {
			s.name(path.Join(to, path.Base(f)), folder)
		}
		if name == "mv" {
			s.name(f, gone)
		}
	}
}

// manifests are the files that a command of a package manager writes.
var manifests = map[string][]string{
	"npm": {"package.json", "package-lock.json"}, "pnpm": {"package.json", "pnpm-lock.yaml"}, "yarn": {"package.json", "yarn.lock"},
	"bun": {"package.json", "bun.lock", "bun.lockb"}, "go": {"go.mod", "go.sum", "go.work", "go.work.sum"}, "cargo": {"Cargo.toml", "Cargo.lock"},
	"uv": {"pyproject.toml", "uv.lock"}, "poetry": {"pyproject.toml", "poetry.lock"}, "composer": {"composer.json", "composer.lock"}, "bundle": {"Gemfile", "Gemfile.lock"},
}

// packages takes in a package manager that changes what a project needs.
func (s *shellReader) packages(name string, v []string) bool {
	verbs := []string{"install", "i", "add", "remove", "rm", "uninstall", "update", "upgrade", "up", "get", "mod", "work", "require", "init", "lock", "set", "pkg", "version"}
	if len(v) == 0 || !slices.Contains(verbs, v[0]) || name == "go" && !oneOf(v[0], []string{"get", "mod", "work"}) {
		return false
	}
	s.afar = true
	s.all(manifests[name], written)
	return true
}
