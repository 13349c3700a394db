// Package roster knows which agents this machine has: those that the
// configuration names and those on the PATH. It looks, starts nothing, spends
// nothing and never guesses an agent that was not asked for by name.
package roster

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/internal/spelling"
)

// Roster is all agents that can be named.
type Roster struct {
	self    []string // how this program is called: it plays the scripted agent
	env     map[string]string
	entries map[string]agent.Agent
}

// New makes a roster of the agents that Belay knows and of the user's own, in
// the given environment.
func New(self, environ []string, own []agent.Agent) (*Roster, error) {
	r := &Roster{self: self, env: map[string]string{}, entries: map[string]agent.Agent{}}
	for _, kv := range environ {
		if name, value, ok := strings.Cut(kv, "="); ok {
			r.env[name] = value
		}
	}
	for _, k := range agent.Kinds() {
		if !agent.Known(k).Named {
			r.entries[string(k)] = agent.Agent{Name: string(k), Kind: k}
		}
	}
	for _, e := range own {
		if e.Kind == "" {
			e.Kind = agent.Kind(e.Name)
		}
		if !slices.Contains(agent.Kinds(), e.Kind) {
			return nil, fmt.Errorf("agents.%s: there is no kind %q; say kind: and one of %s", e.Name, e.Kind, kinds())
		}
		if agent.Known(e.Kind).Named && len(e.Program) == 0 {
			return nil, fmt.Errorf("agents.%s: kind %s needs program:, a list of the program and its arguments", e.Name, e.Kind)
		}
		r.entries[e.Name] = e
	}
	return r, nil
}

func kinds() string {
	var names []string
	for _, k := range agent.Kinds() {
		names = append(names, string(k))
	}
	return strings.Join(names, ", ")
}

// Names lists all agents, those that Belay knows first.
func (r *Roster) Names() []string {
	var names []string
	for _, k := range agent.Kinds() {
		if _, ok := r.entries[string(k)]; ok {
			names = append(names, string(k))
		}
	}
	var own []string
	for name := range r.entries {
		if !slices.Contains(names, name) {
			own = append(own, name)
		}
	}
	slices.Sort(own)
	return append(names, own...)
}

// Unknown is a name that nobody has.
type Unknown struct {
	Name string
	Near string
	All  []string
}

func (e *Unknown) Error() string {
	if e.Near != "" {
		return fmt.Sprintf("there is no agent %q; did you mean %q?", e.Name, e.Near)
	}
	return fmt.Sprintf("there is no agent %q", e.Name)
}

// Missing is an agent whose program is not there.
type Missing struct {
	Name  string
	Tried []string
}

func (e *Missing) Error() string {
	return fmt.Sprintf("agent %s: %s is not on the PATH", e.Name, strings.Join(e.Tried, " or "))
}

// Unscripted is a scripted agent without a script.
type Unscripted struct{ Name string }

func (e *Unscripted) Error() string {
	return fmt.Sprintf("agent %s plays a script, and none is given", e.Name)
}

// Get is the entry of a name, with its program still to be found.
// "scripted:FILE" is the scripted agent with its script.
func (r *Roster) Get(name string) (agent.Agent, error) {
	script := ""
	if rest, ok := strings.CutPrefix(name, string(agent.Scripted)+":"); ok {
		name, script = string(agent.Scripted), rest
	}
	e, ok := r.entries[name]
	if !ok {
		return agent.Agent{}, &Unknown{Name: name, Near: spelling.Near(name, r.Names()), All: r.Names()}
	}
	if script != "" {
		e.Script = script
	}
	if e.Script != "" {
		e.Script = whole(e.Script)
	}
	return e, nil
}

// Find is the entry of a name with the program that was found for it.
func (r *Roster) Find(name string) (agent.Agent, error) {
	e, err := r.Get(name)
	if err != nil {
		return e, err
	}
	if e.Kind == agent.Scripted && e.Script == "" {
		return e, &Unscripted{Name: e.Name}
	}
	if e.Kind == agent.Scripted && len(e.Program) == 0 {
		e.Program = append(slices.Clone(r.self), "scripted")
		return e, nil
	}
	tried := agent.Known(e.Kind).Programs
	if len(e.Program) > 0 {
		tried = e.Program[:1]
	}
	for _, p := range tried {
		if path := r.look(p); path != "" {
			e.Program = append([]string{path}, e.Program[min(1, len(e.Program)):]...)
			return e, nil
		}
	}
	return e, &Missing{Name: name, Tried: tried}
}

// look finds a program by its path, or by its name on the PATH.
func (r *Roster) look(name string) string {
	if strings.Contains(name, "/") {
		if runs(name) {
			return whole(name)
		}
		return ""
	}
	for _, dir := range filepath.SplitList(r.env["PATH"]) {
		if p := filepath.Join(dir, name); filepath.IsAbs(p) && runs(p) {
			return p
		}
	}
	return ""
}

// whole is a path from the root: the agent may work in another directory.
func whole(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

func runs(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// LoggedIn tells whether there is a sign of a login, without asking anybody.
func (r *Roster) LoggedIn(e agent.Agent) bool {
	sign := agent.Known(e.Kind).Login
	if len(sign.Env)+len(sign.Files) == 0 {
		return true // it needs none that could be seen
	}
	for _, name := range sign.Env {
		if r.env[name] != "" {
			return true
		}
	}
	for _, f := range sign.Paths(func(name string) string { return r.env[name] }) {
		if _, err := os.Stat(f); err == nil {
			return true
		}
	}
	return false
}

// Default is the first agent that is installed and has a sign of a login; with
// none, the first that is installed. "" means that there is none.
func (r *Roster) Default() string {
	installed := ""
	for _, k := range agent.Kinds() {
		if k == agent.Scripted {
			continue // it plays a script, and is never meant by chance
		}
		e, err := r.Find(string(k))
		if err != nil {
			continue
		}
		if r.LoggedIn(e) {
			return e.Name
		}
		if installed == "" {
			installed = e.Name
		}
	}
	return installed
}
