package worktree

import (
	"path"
	"slices"
	"strings"
)

// looksOnly are programs that change no file, each with the flags by which it
// does all the same.
var looksOnly = map[string][]string{
	"cat": nil, "bat": {"--pager"}, "ls": nil, "dir": nil, "exa": nil, "eza": nil, "grep": nil, "egrep": nil, "fgrep": nil, "zgrep": nil, "rg": {"--pre", "--hostname-bin"}, "ag": nil, "ack": nil,
	"head": nil, "tail": nil, "wc": nil, "cut": nil, "tr": nil, "nl": nil, "od": nil, "rev": nil, "tac": nil, "paste": nil, "join": nil, "comm": nil,
	"fold": nil, "column": nil, "expand": nil, "strings": nil, "hexdump": nil, "base64": {"-o", "--output"}, "base32": nil,
	"md5sum": nil, "sha1sum": nil, "sha256sum": nil, "sha512sum": nil, "b2sum": nil, "cksum": nil, "sum": nil, "shasum": nil,
	"true": nil, "false": nil, ":": nil, "echo": nil, "printf": nil, "pwd": nil, "test": nil, "[": nil, "[[": nil, "sleep": nil, "seq": nil, "expr": nil, "yes": nil, "wait": nil,
	"stat": nil, "file": {"-C"}, "which": nil, "whereis": nil, "type": nil, "hash": {"-p"}, "basename": nil, "dirname": nil, "realpath": nil, "readlink": nil, "nproc": nil,
	"date": nil, "whoami": nil, "id": nil, "groups": nil, "uname": nil, "hostname": nil, "printenv": nil, "locale": nil, "tty": nil, "uptime": nil,
	"ps": nil, "pgrep": nil, "top": nil, "free": nil, "df": nil, "du": nil, "lsof": nil, "lscpu": nil, "env": nil, "set": nil, "export": nil, "unset": nil, "local": nil,
	"declare": nil, "readonly": nil, "shopt": nil, "ulimit": nil, "umask": nil, "return": nil, "exit": nil, "break": nil, "continue": nil, "shift": nil,
	"alias": nil, "jobs": nil, "read": nil, "mapfile": {"-C"}, "getopts": nil, "pushd": nil, "popd": nil, "cd": nil, "diff": nil, "cmp": nil, "diffstat": nil, "less": {"-o", "-O", "--log-file", "--LOG-FILE"}, "more": nil,
	"jq": nil, "xmllint": {"--output"}, "man": {"-P", "--pager"}, "help": nil, "history": {"-w", "-a"}, "nm": nil, "objdump": nil, "ldd": nil, "cloc": nil, "py_compile": nil, "compileall": nil, "tokei": nil, "mkdir": nil, "rmdir": nil,
	"sort": {"-o", "--output"}, "tree": {"-o"}, "yq": {"-i", "--inplace", "--in-place"},
	"find": {"-delete", "-exec", "-execdir", "-ok", "-okdir", "-fprint", "-fprintf", "-fls"}, "fd": {"-x", "-X", "--exec"}, "fdfind": {"-x", "-X", "--exec"},
}

// versions are words after which most programs only tell something.
var versions = []string{"--version", "version", "-V", "--help", "help"}

// inPlace are programs that write the files that are named behind a flag, or
// always where there is none, unless another flag makes them look only.
var inPlace = map[string]struct{ with, without []string }{
	"tee": {}, "dos2unix": {}, "unix2dos": {}, "ed": {}, "ex": {}, "vim": {}, "vi": {}, "nano": {}, "rustfmt": {nil, []string{"--check"}},
	"gofmt": {[]string{"-w"}, nil}, "gofumpt": {[]string{"-w"}, nil}, "goimports": {[]string{"-w"}, nil}, "gci": {[]string{"write"}, nil},
	"prettier": {[]string{"--write", "-w"}, nil}, "eslint": {[]string{"--fix"}, nil}, "stylelint": {[]string{"--fix"}, nil}, "biome": {[]string{"--write", "--apply"}, nil},
	"black": {nil, []string{"--check", "--diff"}}, "isort": {nil, []string{"--check", "--check-only", "-c", "--diff"}}, "ruff": {[]string{"--fix", "format"}, []string{"--check", "--diff"}},
	"clang-format": {[]string{"-i"}, nil}, "shfmt": {[]string{"-w"}, nil}, "autopep8": {[]string{"-i", "--in-place"}, nil}, "yapf": {[]string{"-i", "--in-place"}, nil},
	"yq": {[]string{"-i", "--inplace"}, nil}, "setfacl": {}, "crudini": {},
}

// checks are programs that work on the tree and nowhere else: they look at the
// work, or build it.
var checks = map[string][]string{
	"go": {"build", "vet", "test", "generate", "fmt", "fix"}, "cargo": {"build", "check", "clippy", "test", "fmt", "bench"}, "golangci-lint": nil, "staticcheck": nil,
	"tsc": nil, "mypy": nil, "pyright": nil, "pylint": nil, "flake8": nil, "shellcheck": nil, "gcc": nil, "g++": nil, "cc": nil, "clang": nil, "javac": nil, "rustc": nil,
	"ruff": nil, "eslint": nil, "prettier": nil, "stylelint": nil, "biome": nil, "sed": nil, "gofmt": nil, "goimports": nil, "gofumpt": nil,
	"unzip": nil, "tar": nil, "gzip": nil, "gunzip": nil, "xz": nil, "zip": nil, "touch": nil, "xxd": nil, "split": nil,
}

// command takes in one simple command and what it is given to read.
func (s *shellReader) command(words, given []string) {
	name := strings.TrimSuffix(path.Base(words[0]), ".exe")
	rest := words[1:]
	switch name {
	case "git":
		s.git(rest, given)
		return
	case "xargs":
		if len(s.fed) == 0 || !s.runs(rest, s.fed) {
			s.each(rest)
		}
		return
	case "find":
		if s.found(rest) {
			return
		}
		if i := slices.IndexFunc(rest, func(w string) bool { return strings.HasPrefix(w, "-exec") || strings.HasPrefix(w, "-ok") }); i >= 0 && !slices.Contains(rest, "-delete") {
			s.each(rest[i+1:])
			return
		}
	}
	switch {
	case len(rest) == 1 && oneOf(rest[0], versions):
	case s.files(name, rest, given):
	case s.language(name, rest, given):
	case s.local(name, words):
	default:
		s.guess(rest, given)
	}
}

// runs takes in a command that another one runs with names that are known.
func (s *shellReader) runs(words, names []string) bool {
	if len(words) == 0 || strings.HasPrefix(words[0], "-") {
		return false
	}
	all := words
	words, _ = program(words)
	if len(words) == 0 || len(moves(all[:len(all)-len(words)])) > 0 || oneOf(path.Base(words[0]), append([]string{"xargs", "find", "eval", "cd"}, shellNames...)) {
		return false
	}
	s.many = true
	s.command(slices.Concat(words, names), nil)
	return true
}

// found takes in a find from here that does something to files of one name.
func (s *shellReader) found(rest []string) bool {
	if len(rest) > 3 && rest[1] == "-type" && rest[2] == "f" {
		rest = slices.Concat(rest[:1], rest[3:])
	}
	if len(rest) < 4 || rest[0] != "." || rest[1] != "-name" || strings.ContainsAny(rest[2], "*?[$`") {
		return false
	}
	name, does := rest[2], rest[3:]
	last := len(does) - 1
	switch {
	case len(does) == 1 && does[0] == "-delete":
		s.name(name, gone)
		return true
	case does[0] == "-exec" && last > 2 && oneOf(does[last], []string{"+", ";"}) && does[last-1] == "{}":
		return s.runs(does[1:last-1], []string{name})
	}
	return false
}

// each takes in a command that another one runs with names that nobody sees.
func (s *shellReader) each(words []string) {
	for len(words) > 0 && (strings.HasPrefix(words[0], "-") || strings.Trim(words[0], "0123456789{}%") == "") {
		words = words[1:]
	}
	words, _ = program(words)
	if len(words) == 0 {
		return
	}
	inner := newShellReader(nil, false)
	inner.vars, inner.bodies, inner.own, inner.at, inner.branches = s.vars, s.bodies, false, somewhere, 1
	inner.spent, inner.steps, inner.shells = s.spent, s.steps, maxShells-1
	if script, ok := shellScript(words); ok {
		inner.inner(script, false, false)
	} else {
		inner.command(words, nil)
	}
	s.writes, s.afar, s.many, s.undone = s.writes || inner.writes, s.afar || inner.afar, true, s.undone || inner.undone
	s.spent, s.steps, s.broken = inner.spent, inner.steps, s.broken || inner.broken
}

// local takes in a program that only looks, or that has no effect elsewhere.
func (s *shellReader) local(name string, words []string) bool {
	rest := words[1:]
	flags, ok := looksOnly[name]
	if ok && !slices.ContainsFunc(rest, func(w string) bool { return flagged(w, flags) }) {
		return true
	}
	verbs, known := checks[name]
	v := operands(name, rest)
	switch {
	case ok, known && verbs == nil, runsSuite(words), known && len(v) > 0 && slices.Contains(verbs, v[0]):
		s.writes = true
	case name == "go" && len(v) > 0 && oneOf(v[0], []string{"env", "list", "doc", "version", "help", "tool"}):
	case name == "gh" && !slices.Contains(rest, "checkout") && !slices.Contains(rest, "clone") && !slices.Contains(rest, "download"),
		name == "ssh", name == "ping":
		s.afar = true
	default:
		return false
	}
	s.outputs(rest)
	return true
}

// guess takes in a program that nobody knows: it may do anything, and a text
// that it is given, or a file that is told as its output, may be what it writes.
func (s *shellReader) guess(rest, given []string) {
	s.writes, s.afar = true, true
	s.tell(given...)
	s.outputs(rest)
}

// flagged tells whether a word is one of some flags, alone or with a value.
func flagged(w string, flags []string) bool {
	return slices.ContainsFunc(flags, func(f string) bool {
		return w == f || strings.HasPrefix(w, f+"=") || len(f) == 2 && f[0] == '-' && len(w) > 2 && w[0] == '-' && w[1] != '-' && strings.HasPrefix(w, f)
	})
}

// plainWords are the words that are no flags.
func plainWords(words []string) []string {
	var out []string
	for i, w := range words {
		if w == "--" {
			return append(out, words[i+1:]...)
		}
		if !strings.HasPrefix(w, "-") || w == "-" {
			out = append(out, w)
		}
	}
	return out
}

func lastOf(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}

func firstOf(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return words[0]
}
