package recipe

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// language is a program that runs a text, and where its command line has it.
type language struct {
	letters string   // short options whose argument is the text
	long    []string // long ones
	valued  string   // short options with another argument
	plain   []string // long ones
	pairs   []string // options with two arguments
	files   []string // options that name a file with the text
	first   int      // which argument that is no option is the text; 0 = none
	mixed   bool     // options may follow such arguments
	stdin   bool     // without the text it reads standard input
	shell   bool     // the text is a shell's
	cure    string   // how a value is handed over; VALUE stands for it
	fed     string   // the same where it reads standard input; "" = no other way
}

const byEnvironment = "hand it over as data: V=VALUE NAME "

// languageOf is the language of a program by its name.
func languageOf(name string) (lang language, known bool) {
	switch base := strings.TrimRight(path.Base(name), "0123456789."); base {
	case "bash", "sh", "dash", "zsh", "ksh", "ash":
		lang = language{letters: "c", valued: "oO", plain: []string{"--rcfile", "--init-file"}, stdin: true, shell: true,
			cure: `hand it over as an argument: NAME -c '… "$1" …' _ VALUE`, fed: `hand it over as an argument: NAME -s -- VALUE <<'END', and read "$1"`}
	case "su", "script", "flock", "runuser":
		lang = language{letters: "c", long: []string{"--command"}, mixed: true, shell: true, cure: `quote it for the other shell: NAME -c "… $(printf %q VALUE) …"`}
	case "awk", "gawk", "mawk", "nawk":
		lang = language{valued: "Fv", files: []string{"-f"}, first: 1, cure: byEnvironment + `'… ENVIRON["V"] …'`}
	case "sed", "gsed":
		lang = language{letters: "e", long: []string{"--expression"}, valued: "l", files: []string{"-f", "--file"}, first: 1, mixed: true,
			cure: `sed takes no data: change text in bash, "${text//old/VALUE}", or with V=VALUE awk '… ENVIRON["V"] …'`}
	case "jq", "gojq":
		lang = language{valued: "L", plain: []string{"--indent"}, pairs: []string{"--arg", "--argjson", "--slurpfile", "--rawfile"},
			files: []string{"-f", "--from-file"}, first: 1, mixed: true, cure: "hand it over as data: NAME --arg v VALUE '… $v …'"}
	case "yq":
		lang = language{valued: "op", first: 1, mixed: true, cure: byEnvironment + "'… strenv(V) …'"}
	case "gh":
		lang = language{letters: "q", long: []string{"--jq"}, mixed: true, cure: "print it all and use jq: gh … | jq --arg v VALUE '… $v …'"}
	default:
		return scripting(base)
	}
	return lang, true
}

func scripting(base string) (lang language, known bool) {
	switch base {
	case "python", "pypy":
		lang = language{letters: "c", valued: "WX", files: []string{"-m"}, stdin: true,
			cure: "hand it over as data: NAME -c '… sys.argv[1] …' VALUE", fed: "hand it over as data: NAME - VALUE <<'END', and read sys.argv[1]"}
	case "perl":
		lang = language{letters: "eE", stdin: true, cure: byEnvironment + "-e '… $ENV{V} …'"}
	case "ruby":
		lang = language{letters: "e", valued: "rI", stdin: true, cure: byEnvironment + `-e '… ENV["V"] …'`}
	case "node", "nodejs":
		lang = language{letters: "ep", long: []string{"--eval", "--print"}, valued: "r", stdin: true, cure: byEnvironment + "-e '… process.env.V …'"}
	case "php":
		lang = language{letters: "r", stdin: true, cure: byEnvironment + `-r '… getenv("V") …'`}
	case "lua":
		lang = language{letters: "e", valued: "l", cure: byEnvironment + `-e '… os.getenv("V") …'`}
	case "psql":
		lang = language{letters: "c", long: []string{"--command"}, valued: "dhUpvoFRTPL", files: []string{"-f", "--file"}, mixed: true, stdin: true,
			cure: `hand it over as data: psql -v v=VALUE <<< "… :'v' …"`}
	case "mysql", "mariadb":
		lang = language{letters: "e", long: []string{"--execute"}, valued: "huPDS", mixed: true, stdin: true,
			cure: "check the value before, or ask the database with a program that takes parameters"}
	case "sqlite":
		lang = language{first: 2, mixed: true, cure: "check the value before, or ask the database with a program that takes parameters"}
	default:
		return language{}, false
	}
	return lang, true
}

// program is what a command runs besides itself.
type program struct {
	language
	name  string
	texts []*syntax.Word // what it runs
	reads bool           // it runs its standard input
}

var cluster = regexp.MustCompile(`^-[A-Za-z0-9]+$`)

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
	return slices.Contains(l.long, option) || cluster.MatchString(option) && strings.ContainsAny(option[1:], l.letters)
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
	return slices.Contains(l.plain, option) || cluster.MatchString(option) && strings.Contains(l.valued, last)
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
		case cluster.MatchString(src) && strings.Contains("BbcDEeFIiJLlmOoPpQRSWw", src[len(src)-1:]):
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
