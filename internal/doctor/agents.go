package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/internal/roster"
)

// anyAgent says so when there is nobody at all who could do an agent step. The
// scripted one does not count: it only plays.
func (p Patient) anyAgent(context.Context) []Finding {
	var have []string
	for _, name := range p.Roster.Names() {
		if e, err := p.Roster.Find(name); err == nil && e.Kind != agent.Scripted {
			have = append(have, name)
		}
	}
	if len(have) == 0 {
		return []Finding{{
			Check: checkAgents, Level: LevelWarn, What: "no agent CLI is on this machine: only the built-in agent for scripts can play agent steps",
			Cure: "install one, for example with " + agent.Known(agent.Claude).Install + ", or " + p.ownAgent(),
		}}
	}
	f := Finding{Check: checkAgents, Level: LevelOK, What: "found: " + strings.Join(have, ", "), Facts: map[string]string{"agents": strings.Join(have, " ")}}
	who := p.Default
	if who == "" {
		who = p.Roster.Default()
	}
	if who != "" {
		f.What += "; steps that name nobody get " + who
		f.Facts["default"] = who
	}
	f.What += "; built in, for rehearsals and tests: " + string(agent.Scripted)
	return []Finding{f}
}

// ownAgent is how an agent is added that Belay does not know.
func (p Patient) ownAgent() string {
	if p.Settings == "" {
		return "set HOME, and name a program of your own in the settings: agents.NAME.program"
	}
	return "name a program of your own in " + p.Settings + ": agents.NAME.program"
}

// agent looks at one agent: is it there, which version, what is odd about
// that, and is there a sign of a login.
func (p Patient) agent(ctx context.Context, name string) []Finding {
	wanted, err := p.Roster.Get(name)
	if err != nil {
		return []Finding{{Check: checkAgent + name, Level: LevelWarn, What: err.Error(), Cure: "check agents." + name + " in the settings"}}
	}
	if wanted.Kind == agent.Scripted {
		return []Finding{p.scripted(wanted)}
	}
	e, err := p.Roster.Find(name)
	if err != nil {
		return []Finding{p.absent(wanted, err)}
	}
	if name := first(wanted.Program); strings.Contains(name, "/") && !filepath.IsAbs(name) {
		return []Finding{{
			Check: checkAgent + e.Name, Level: LevelWarn, What: name + " means another file in each directory that belay is started in",
			Cure: "write its whole path in agents." + e.Name + ".program", Facts: facts(e),
		}}
	}
	if agent.Known(e.Kind).Named {
		return []Finding{{Check: checkAgent + name, Level: LevelOK, What: name + " is there (" + e.Program[0] + ")", Facts: facts(e)}}
	}
	f, version := p.version(ctx, e)
	list := []Finding{f, p.login(ctx, e, f.Level != LevelWarn)}
	return append(list, quirks(e, version)...)
}

func facts(e agent.Agent) map[string]string {
	return map[string]string{"kind": string(e.Kind), "program": strings.Join(e.Program, " ")}
}

// absent is an agent that is not installed. Only somebody who asked for it
// misses it.
func (p Patient) absent(e agent.Agent, err error) Finding {
	f := Finding{Check: checkAgent + e.Name, Level: LevelNote, What: err.Error(), Facts: map[string]string{"kind": string(e.Kind)}}
	if f.Cure = agent.Known(e.Kind).Install; f.Cure == "" || len(e.Program) > 0 {
		f.Cure = "check agents." + e.Name + ".program in the settings"
	}
	var missing *roster.Missing
	if len(e.Program) > 0 || e.Name != string(e.Kind) || e.Name == p.Default || !errors.As(err, &missing) {
		f.Level = LevelWarn
	}
	return f
}

// scripted plays a script, which must be there.
func (p Patient) scripted(e agent.Agent) Finding {
	f := Finding{Check: checkAgent + e.Name, Level: LevelOK, What: "built in: plays a script, for rehearsals and tests", Facts: map[string]string{"kind": string(e.Kind)}}
	switch {
	case e.Script == "" && e.Name == string(agent.Scripted): // it gets one where it is named
		return f
	case e.Script == "":
		f.Level, f.What, f.Cure = LevelWarn, "it has no script to play", "set agents."+e.Name+".script"
		return f
	}
	f.Facts["script"] = e.Script
	f.What = "built in: plays " + e.Script
	if _, err := os.Stat(p.absolute(e.Script)); err != nil {
		f.Level, f.What, f.Cure = LevelWarn, "its script cannot be read: "+err.Error(), "check agents."+e.Name+".script in the settings"
	}
	return f
}

func (p Patient) absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(p.Dir, path)
}

// version asks a CLI for its version.
func (p Patient) version(ctx context.Context, e agent.Agent) (Finding, string) {
	f := Finding{Check: checkAgent + e.Name, Level: LevelOK, Facts: facts(e)}
	argv := slices.Concat(e.Program, agent.VersionArgs(e.Kind))
	r := p.ask(ctx, argv...)
	if t := r.trouble(); t != "" {
		f.Level, f.What, f.Cure = LevelWarn, strings.Join(argv, " ")+": "+t, "run it by hand; if it stays so, install it anew: "+agent.Known(e.Kind).Install
		return f, ""
	}
	version := agent.ParseVersion(e.Kind, r.out)
	if version == "" {
		f.Level, f.What, f.Cure = LevelWarn, strings.Join(argv, " ")+" does not tell a version", "check that it is "+string(e.Kind)
		return f, ""
	}
	f.Facts["version"] = version
	f.What = fmt.Sprintf("%s %s (%s)", e.Name, version, e.Program[0])
	if tried := triedVersions(e.Kind); !slices.ContainsFunc(tried, func(v string) bool { return covers(v, version) }) {
		f.Level = LevelNote
		f.What += ": Belay was tried with " + strings.Join(tried, ", ")
		f.Cure = "nothing needs to be done; belay doctor --probe shows whether they understand each other"
	}
	return f, version
}

// login looks for a sign of a login, and without one asks the CLI, if it can
// tell and answered before: one that hung would hang again. No secret is read and
// no service asked.
func (p Patient) login(ctx context.Context, e agent.Agent, answers bool) Finding {
	f := Finding{Check: checkAgent + e.Name + ".login", Level: LevelOK}
	sign := agent.Known(e.Kind).Login
	if !p.Roster.LoggedIn(e) {
		f.Level, f.What, f.Cure = LevelWarn, "no sign of a login of "+e.Name, sign.Cure
		if answers && p.LoggedOut(ctx, e) {
			f.What = e.Name + " is not logged in, as it says itself"
		}
		return f
	}
	where := p.signed(sign)
	f.What = "login: " + where
	f.Facts = map[string]string{"sign": where}
	return f
}

// signed names the sign that was seen.
func (p Patient) signed(sign agent.LoginSign) string {
	for _, name := range sign.Env {
		if p.env(name) != "" {
			return name + " is set"
		}
	}
	for _, path := range sign.Paths(p.env) {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return "it shows"
}

// quirks are the oddities of a version. Those that Belay sees to are told as
// well: they are what a person who starts the CLI by hand will meet.
func quirks(e agent.Agent, version string) []Finding {
	var list []Finding
	for _, q := range agent.Known(e.Kind).Quirks {
		if version == "" || !covers(q.Versions, version) {
			continue
		}
		f := Finding{Check: checkAgent + e.Name + ".quirk", Level: LevelNote, What: q.Text, Cure: q.Cure, Facts: map[string]string{"versions": q.Versions}}
		if q.Cure == "" {
			f.Level = LevelOK
			f.What += "; Belay sees to it"
		}
		list = append(list, f)
	}
	return list
}

// triedVersions are the versions that something is known about.
func triedVersions(k agent.Kind) []string {
	var list []string
	for _, q := range agent.Known(k).Quirks {
		if !slices.Contains(list, q.Versions) {
			list = append(list, q.Versions)
		}
	}
	return list
}

// covers tells whether a version is one of those that a person wrote as 2.1.x
// or 0.166; nothing written means all.
func covers(versions, version string) bool {
	begin := strings.TrimSuffix(versions, ".x")
	return begin == "" || version == begin || strings.HasPrefix(version, begin+".")
}

func first(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return words[0]
}
