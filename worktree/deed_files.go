package worktree

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// files takes in a program whose words say which files it writes.
func (s *shellReader) files(name string, rest, given []string) bool {
	v := plainWords(rest)
	switch name {
	case "rm", "unlink", "trash", "shred":
		s.all(v, gone)
	case "touch":
		s.all(v, made)
	case "mv", "cp", "install", "ln", "rsync":
		s.moved(name, rest, v)
	case "chmod", "chown", "chgrp":
		s.all(v[min(1, len(v)):], within)
	case "truncate":
		s.all(v[max(0, len(v)-1):], written)
	case "dd", "wget":
		s.writes, s.afar = true, name == "wget"
		s.outputs(rest)
	case "patch":
		s.writes = true
		s.all(v[:min(1, len(v))], written)
		s.texts = append(s.texts, given...)
	case "apply_patch", "applypatch":
		s.writes, s.texts = true, slices.Concat(s.texts, rest, given)
	case "sed", "gsed":
		return s.sed(rest, v)
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
	s.texts = append(s.texts, given...)
	for _, p := range v {
		if p != "." && !strings.HasSuffix(p, "...") && !strings.HasSuffix(p, "/") && !oneOf(p, rule.with) { // a whole folder names no file
			s.name(p, written)
		}
	}
	return true
}

// moved takes in a program that puts files at its last word, or into it.
func (s *shellReader) moved(name string, rest, v []string) {
	s.writes, s.afar = true, s.afar || name == "rsync"
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
		s.name(to, within)
	} else {
		s.name(to, written)
	}
	for _, f := range from {
		if f != to {
			s.name(path.Join(to, path.Base(f)), within)
		}
		if name == "mv" {
			s.name(f, gone)
		}
	}
}

var sedWrites = regexp.MustCompile(`(^|[;{}/\d$])w\s+\S`)

// sed takes in a sed: it only looks, unless it is told to write.
func (s *shellReader) sed(rest, v []string) bool {
	place, script := false, false
	var files []string
	for i := 0; i < len(rest); i++ {
		switch w := rest[i]; {
		case oneOf(w, []string{"-e", "-f", "--expression", "--file"}):
			script = true
			i++
		case strings.HasPrefix(w, "--expression=") || strings.HasPrefix(w, "--file="):
			script = true
		case strings.HasPrefix(w, "--in-place"), flags(w) && strings.Contains(w, "i"):
			place = true
			script = script || strings.HasSuffix(w, "e") && !strings.HasPrefix(w, "--")
			if strings.HasSuffix(w, "e") && !strings.HasPrefix(w, "--") {
				i++
			}
		case flags(w) && strings.HasSuffix(w, "e"):
			script = true
			i++
		case strings.HasPrefix(w, "-") && w != "-":
		default:
			files = append(files, w)
		}
	}
	if !place {
		s.writes = s.writes || slices.ContainsFunc(v, sedWrites.MatchString)
		return true
	}
	s.writes = true
	if !script {
		files = files[min(1, len(files)):]
	}
	s.all(files, written)
	return true
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

// languages are programs that take a text in a language of their own, by flag.
var languages = map[string][]string{
	"python": {"-c"}, "python3": {"-c"}, "python2": {"-c"}, "perl": {"-e", "-E"}, "ruby": {"-e"}, "node": {"-e", "--eval", "-p"}, "nodejs": {"-e"},
	"php": {"-r"}, "deno": {"eval"}, "bun": {"-e"}, "lua": {"-e"}, "Rscript": {"-e"}, "julia": {"-e"}, "osascript": {"-e"}, "tsx": {"-e"}, "awk": nil, "gawk": nil, "mawk": nil,
}

// language takes in a program in another language: what it names, it may write.
func (s *shellReader) language(name string, rest, given []string) bool {
	byFlag, ok := languages[name]
	if !ok {
		return false
	}
	v := plainWords(rest)
	switch {
	case strings.HasSuffix(name, "awk"):
		s.awk(rest, v)
		return true
	case name == "perl" || name == "ruby":
		if slices.ContainsFunc(rest, func(w string) bool { return flags(w) && strings.Contains(w, "i") && !strings.HasPrefix(w, "-I") }) {
			s.writes = true
			s.all(v, written) // the text of the program among them is the name of no file
			return true
		}
	}
	s.writes, s.afar = true, true
	s.texts = append(s.texts, given...)
	for i, w := range rest {
		if i+1 < len(rest) && (slices.Contains(byFlag, w) || flags(w) && len(w) > 2 && strings.HasSuffix(w, "e")) {
			s.texts = append(s.texts, rest[i+1:]...) // its arguments are names that it may be given
			break
		}
	}
	if len(given) > 0 {
		s.texts = append(s.texts, v...)
	}
	return true
}

func (s *shellReader) awk(rest, v []string) {
	if slices.Contains(rest, "inplace") {
		s.writes = true
		s.all(v, written)
		return
	}
	script := firstOf(v)
	if strings.Contains(script, "system(") || strings.Contains(script, "|") {
		s.writes, s.afar = true, true
	}
	if strings.Contains(script, "> \"") || strings.Contains(script, ">\"") || strings.Contains(script, ">> ") {
		s.writes = true
		s.texts = append(s.texts, script)
	}
}
