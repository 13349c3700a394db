package worktree

import (
	"path"
	"slices"
	"strings"
)

// wrapper is a program that runs another one.
type wrapper struct {
	verb   []string // words that must follow: "bundle exec"
	values string   // short flags that take the next word
	longs  []string // long ones
	moves  []string // those of both whose value is where it runs the program
	args   int      // words of its own before the program
}

var wrappers = map[string]wrapper{
	"time": {}, "nohup": {}, "exec": {values: "a"}, "command": {}, "builtin": {}, "setsid": {}, "chronic": {}, "unbuffer": {}, "xvfb-run": {},
	"env": {values: "uCaS", longs: []string{"--unset", "--chdir", "--argv0", "--split-string"}, moves: []string{"-C", "--chdir"}}, "nice": {values: "n"}, "ionice": {values: "cn"}, "sudo": {values: "ugCD", longs: []string{"--user", "--group", "--chdir"}, moves: []string{"-D", "--chdir"}}, "doas": {values: "u"},
	"stdbuf": {values: "ioe"}, "timeout": {values: "sk", args: 1}, "gtimeout": {values: "sk", args: 1},
	"npx": {values: "p"}, "pnpx": {}, "bunx": {},
	"bundle": {verb: []string{"exec"}}, "poetry": {verb: []string{"run"}}, "uv": {verb: []string{"run"}, longs: []string{"--directory", "--project"}, moves: []string{"--directory"}}, "pipenv": {verb: []string{"run"}},
	"pdm": {verb: []string{"run"}}, "hatch": {verb: []string{"run"}}, "rye": {verb: []string{"run"}}, "coverage": {verb: []string{"run"}},
	"conda": condaRun, "mamba": condaRun, "micromamba": condaRun,
	"php": {}, "ruby": {}, "python": {values: "WX"}, "python3": {values: "WX"},
}

var condaRun = wrapper{verb: []string{"run"}, values: "np", longs: []string{"--name", "--prefix", "--cwd"}, moves: []string{"--cwd"}}

// hiders are words of the shell before a command that take its exit away;
// openers leave it alone.
var (
	hiders  = []string{"if", "elif", "while", "until", "!"}
	openers = []string{"then", "else", "do", "{", "("}
)

// maxWrappers is how many wrappers around each other are taken off.
const maxWrappers = 8

// program takes off what stands before the real program of a simple command:
// assignments, words of the shell, and programs that run others. It also tells
// whether the exit of the program is taken away.
func program(words []string) (rest []string, hidden bool) {
	for range maxWrappers {
		for len(words) > 0 && (assignment(words[0]) || oneOf(words[0], openers) || oneOf(words[0], hiders)) {
			hidden = hidden || oneOf(words[0], hiders)
			words = words[1:]
		}
		if len(words) == 0 {
			return nil, hidden
		}
		inner, ok := unwrap(words)
		if !ok || len(inner) == 0 {
			return words, hidden
		}
		words = inner
	}
	return words, hidden
}

// unwrap takes one wrapper off.
func unwrap(words []string) ([]string, bool) {
	name := path.Base(words[0])
	w, ok := wrappers[name]
	if !ok {
		return nil, false
	}
	rest := words[1:]
	if len(w.verb) > 0 {
		if len(rest) == 0 || !slices.Contains(w.verb, rest[0]) {
			return nil, false
		}
		rest = rest[1:]
	}
	for len(rest) > 0 && strings.HasPrefix(rest[0], "-") {
		flag := rest[0]
		rest = rest[1:]
		if flag == "-m" || flag == "--" { // python -m pytest
			return rest, true
		}
		if ownText(name, flag) || tells(name, flag) { // a program in its own language, or none
			return nil, false
		}
		if _, _, next := w.flag(flag); next && len(rest) > 0 {
			rest = rest[1:]
		}
	}
	return rest[min(w.args, len(rest)):], true
}

// flag is the flag with a value in a word, and the value, where there is one:
// next tells that it is the next word.
func (w wrapper) flag(word string) (name, value string, next bool) {
	if strings.HasPrefix(word, "--") {
		name, value, joined := strings.Cut(word, "=")
		for _, long := range w.longs {
			if len(name) > 2 && strings.HasPrefix(long, name) { // a long flag may be cut short
				return long, value, !joined
			}
		}
		return "", "", false
	}
	i := strings.IndexAny(word, w.values)
	if i < 1 || i > 1 && len(w.moves) == 0 { // flags that stand together
		return "", "", false
	}
	return "-" + word[i:i+1], word[i+1:], i+1 == len(word)
}

// moves are the folders to which the programs before another one lead it. What
// one of them is told in a text of its own nobody reads.
func moves(words []string) (dirs []string) {
	w := wrapper{}
	for i, word := range words {
		if known, ok := wrappers[path.Base(word)]; ok {
			w = known
			continue
		}
		name, value, next := w.flag(word)
		if next && i+1 < len(words) {
			value = words[i+1]
		}
		switch {
		case !strings.HasPrefix(word, "-"):
		case oneOf(name, w.moves):
			dirs = append(dirs, value)
		case name == "-S" || name == "--split-string":
			dirs = append(dirs, "$")
		}
	}
	return dirs
}

// tells tells whether a flag of a wrapper has it tell something, and run nothing.
func tells(name, flag string) bool {
	return flag == "--help" || flag == "--version" || oneOf(flag, asking[name])
}

var asking = map[string][]string{
	"command": {"-v", "-V", "-pv", "-pV"}, "npx": {"-v", "-h"}, "python": {"-V", "-VV", "-h"}, "python3": {"-V", "-VV", "-h"}, "ruby": {"-c", "-v", "-h"},
	"php": {"-l", "-v", "-i", "-h"}, "sudo": {"-l", "-v", "-V", "-h"},
}

// assignment tells whether a word is NAME=value.
func assignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// shellScript is the text that a shell is given to run.
func shellScript(words []string) (string, bool) {
	switch path.Base(words[0]) {
	case "sh", "bash", "zsh", "dash", "ksh":
	case "eval":
		return strings.Join(words[1:], " "), len(words) > 1
	default:
		return "", false
	}
	prefix := ""
	for i, w := range words[1:] {
		if flags(w) && strings.ContainsAny(w, "nt") || w == "noexec" {
			prefix += "set -n\n"
		}
		if flags(w) && strings.Contains(w, "e") || w == "errexit" {
			prefix += "set -e\n"
		}
		switch {
		case w == "pipefail":
			prefix += "set -o pipefail\n"
		case flags(w) && strings.HasSuffix(w, "c") && i+2 < len(words):
			return prefix + words[i+2], true
		}
	}
	return "", false
}

// flags tells whether a word is short flags.
func flags(w string) bool { return strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--") }

// valueFlags are flags that take the next word, by program.
var valueFlags = map[string][]string{
	"go": {"-C"}, "make": {"-C", "-f", "-o", "-W", "-I"}, "npm": {"--prefix", "-w", "--workspace"}, "yarn": {"--cwd"},
	"pnpm": {"-C", "--dir", "-F", "--filter"}, "bun": {"--cwd"}, "cargo": {"--manifest-path", "--config"}, "mvn": {"-f", "-pl", "-P"},
	"gradle": {"-p", "-b", "-x"}, "gradlew": {"-p", "-b", "-x"}, "just": {"-f", "-d"}, "ninja": {"-C"}, "dotnet": nil,
	"gh": {"-R", "--repo", "--hostname", "-X", "--method"}, "glab": {"-R", "--repo"},
}

// operands are the words that are no flags, nor values of flags.
func operands(name string, words []string) []string {
	var out []string
	for i := 0; i < len(words); i++ {
		switch w := words[i]; {
		case oneOf(w, valueFlags[name]):
			i++
		case strings.HasPrefix(w, "-"), strings.HasPrefix(w, "+"), assignment(w):
		default:
			out = append(out, w)
		}
	}
	return out
}
