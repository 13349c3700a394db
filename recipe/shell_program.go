package recipe

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/belay-run/belay/internal/pattern"
)

// program is what a command runs besides itself.
type program struct {
	language
	name  string
	texts []*syntax.Word // what it runs
	reads bool           // it runs its standard input
}

var cluster = pattern.Lazy(`^-[A-Za-z0-9]+$`)

// texts finds what a program of this language runs.
func (w *walker) texts(name string, lang language, args []*syntax.Word) program {
	p := program{language: lang, name: name}
	plain, file, next := 0, false, false
	for i := 0; i < len(args); i++ {
		src := w.source(args[i])
		switch {
		case src == "-" && !lang.mixed || src == "-s" && lang.shell:
			p.reads = lang.stdin
			return p
		case !strings.HasPrefix(src, "-"):
			if plain++; next || plain == lang.first && len(p.texts) == 0 && !file {
				p.texts = append(p.texts, args[i])
			}
			if !lang.mixed {
				return p
			}
		case lang.attached(src):
			p.texts = append(p.texts, args[i])
		case lang.takes(src) && lang.shell && !lang.mixed:
			next = true // the first argument that is no option
			if lang.skips(src) {
				i++
			}
		case lang.takes(src) && i+1 < len(args):
			i++
			p.texts = append(p.texts, args[i])
		case slices.Contains(lang.files, src):
			file = true
			i++
		case lang.skips(src):
			i++
		case slices.Contains(lang.pairs, src):
			i += 2
		}
	}
	p.reads = lang.stdin && len(p.texts) == 0 && !file && !next
	return p
}

// takes tells whether the text follows an option.
func (l language) takes(option string) bool {
	return slices.Contains(l.long, option) || cluster().MatchString(option) && strings.ContainsAny(option[1:], l.letters)
}

// attached tells whether the text is part of an option's own word.
func (l language) attached(word string) bool {
	for _, option := range l.long {
		if strings.HasPrefix(word, option+"=") {
			return true
		}
	}
	return len(word) > 2 && strings.IndexByte(l.letters, word[1]) >= 0 && strings.IndexByte(`'"`, word[2]) >= 0
}

func (l language) skips(option string) bool {
	last := option[len(option)-1:]
	return slices.Contains(l.plain, option) || cluster().MatchString(option) && strings.Contains(l.valued, last)
}

// carriers are commands that run the command in their arguments.
var carriers = []string{
	"command", "builtin", "exec", "env", "sudo", "doas", "nohup", "nice", "ionice", "setsid", "timeout", "stdbuf", "xargs", "time", "chroot", "unshare",
	"find", "flock", "strace", "systemd-run", "docker", "podman", "kubectl", "oc", "nerdctl", "lxc", "docker-compose",
	"busybox", "nsenter", "runuser", "gosu", "su-exec", "pkexec", "fakeroot", "faketime", "screen", "xvfb-run", "dbus-run-session", "ltrace", "parallel", "chpst", "runcon",
}

// carried is the program that a command runs, itself or at the end of a chain of
// commands that run others.
func (w *walker) carried(args []*syntax.Word) (p program, found bool) {
	if len(args) == 0 {
		return program{}, false
	}
	name := nameOf(args[0])
	if lang, known := languageOf(name); known {
		p = w.texts(path.Base(name), lang, args[1:])
		if len(p.texts) > 0 || p.reads || !slices.Contains(carriers, path.Base(name)) {
			return p, true
		}
	}
	if !slices.Contains(carriers, path.Base(name)) {
		return program{}, false
	}
	for i := 1; i < len(args); i++ {
		inner := path.Base(nameOf(args[i]))
		if _, known := languageOf(inner); known || slices.Contains([]string{"ssh", "eval", "watch", "parallel", "tmux"}, inner) {
			return w.carriedAt(args[i:])
		}
	}
	return program{}, false
}

func (w *walker) carriedAt(args []*syntax.Word) (program, bool) {
	switch name := path.Base(nameOf(args[0])); name {
	case "watch", "parallel", "tmux":
		return w.joined(name, args[1:])
	case "ssh":
		return w.remote(args[1:]), true
	case "eval":
		return program{name: "eval", texts: args[1:], language: language{shell: true, cure: noEval}}, true
	}
	return w.carried(args)
}

const (
	noEval   = "leave eval out: a command with its arguments needs none"
	byQuotes = `quote it for the other shell: ssh host "… $(printf %q VALUE) …"`
)

// remote is what ssh runs: all that follows the host, as one text for a shell
// over there; without any, what it reads.
func (w *walker) remote(args []*syntax.Word) program {
	p := program{name: "ssh", language: language{shell: true, cure: byQuotes}}
	for i := 0; i < len(args); i++ {
		src := w.source(args[i])
		switch {
		case cluster().MatchString(src) && strings.Contains("BbcDEeFIiJLlmOoPpQRSWw", src[len(src)-1:]):
			i++
		case strings.HasPrefix(src, "-"):
		default:
			p.texts = args[i+1:]
			first := ""
			if len(p.texts) > 0 {
				first, _, _ = strings.Cut(w.source(p.texts[0]), " ")
			}
			lang, _ := languageOf(first)
			p.reads = first == "" || lang.shell && !w.anyText(p.texts)
			return p
		}
	}
	return p
}

// anyText tells whether a remote shell is given its text on the command line.
func (w *walker) anyText(args []*syntax.Word) bool {
	return slices.ContainsFunc(args, func(a *syntax.Word) bool { return strings.Contains(w.source(a), "-c") })
}
