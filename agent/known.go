package agent

import (
	"path"
	"strings"

	"github.com/belay-run/belay/internal/pattern"
)

// CLI is all that is known of one kind of agent: adding one is a file with its
// kind, its adapter and its CLI, and a line here.
type CLI struct {
	Kind     Kind
	Adapter  Adapter   // nil for ACP: that protocol is a conversation, and this room only listens
	Programs []string  // the names under which it is looked for, best first; none: it has no program of its own
	Install  string    // how it is installed; "" = not ours to know
	Login    LoginSign // nothing for one that needs no login
	Quirks   []Quirk   // what its user may meet
	Named    bool      // it needs a program that the user names, and is nobody in particular

	// AskLogin is the arguments by which it tells whether it is logged in, and
	// LoggedOut reads a clear no in what it printed; nil = it has no such command.
	AskLogin  []string
	LoggedOut func(out, talk string) bool
}

// clis is the whole list, in the order in which an agent is looked for.
func clis() []CLI {
	return []CLI{
		claudeCLI(), codexCLI(), geminiCLI(), copilotCLI(), opencodeCLI(), qwenCLI(),
		{Kind: Command, Adapter: command{}, Named: true}, {Kind: ACP, Named: true}, {Kind: Scripted, Adapter: scripted{}},
	}
}

// Known is what is known of a kind, nothing of one that is not ours.
func Known(kind Kind) CLI {
	for _, c := range clis() {
		if c.Kind == kind {
			return c
		}
	}
	return CLI{Kind: kind}
}

// Kinds lists all kinds, in the order in which an agent is looked for.
func Kinds() []Kind {
	var list []Kind
	for _, c := range clis() {
		list = append(list, c.Kind)
	}
	return list
}

// Installable names the CLIs that somebody can install, as a person reads a list.
func Installable() string {
	var names []string
	for _, c := range clis() {
		if len(c.Programs) > 0 {
			names = append(names, string(c.Kind))
		}
	}
	return strings.Join(names, ", ")
}

// New is the adapter of a kind, if it has one.
func New(kind Kind) (Adapter, bool) {
	a := Known(kind).Adapter
	return a, a != nil
}

// LoginSign is where a login can be seen without spending a token: one of the
// variables is set, or one of the files, relative to the home folder, exists.
// A sign is no proof: a login can have run out.
type LoginSign struct {
	Env   []string
	Files []string
	Cure  string // how to log in

	Dir   string // the folder of the home folder that the CLI has for itself
	Moved string // the variable that names another folder instead

	Else []string // files that may name another way in; where one is, the CLI's own "not logged in" says nothing
}

// Paths are the files by their whole paths, for an environment.
func (s LoginSign) Paths(env func(string) string) []string { return s.whole(s.Files, env) }

// ElsePaths are the files that may name another way in, by their whole paths.
func (s LoginSign) ElsePaths(env func(string) string) []string { return s.whole(s.Else, env) }

func (s LoginSign) whole(files []string, env func(string) string) []string {
	var list []string
	for _, file := range files {
		whole := path.Join(env("HOME"), file)
		if s.Moved != "" && env(s.Moved) != "" {
			if name, own := strings.CutPrefix(file, s.Dir+"/"); own {
				whole = path.Join(env(s.Moved), name)
			}
		}
		list = append(list, whole)
	}
	return list
}

// Quirk is a known oddity of some versions of a CLI, and what to do about it.
type Quirk struct {
	Versions string // the versions it was seen in, as a person writes them; "" = all that were looked at
	Text     string
	Cure     string // "" = Belay sees to it
}

// VersionArgs ask a CLI for its version; nil for a kind that cannot be asked.
func VersionArgs(kind Kind) []string {
	if len(Known(kind).Programs) == 0 {
		return nil
	}
	return []string{"--version"}
}

var versionNumber = pattern.Lazy(`\b(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)`)

// ParseVersion finds the version in what VersionArgs made a CLI print, "" when
// there is none.
func ParseVersion(kind Kind, out string) string {
	if len(Known(kind).Programs) == 0 {
		return ""
	}
	return group(versionNumber(), plain(out))
}
