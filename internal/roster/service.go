package roster

import (
	"strings"

	"github.com/belay-run/belay/agent"
)

// Service names the service behind an agent, as what is counted of it is kept:
// agents of the same kind with the same program have the same login, and so the
// same limits. It is named after one of them. Another program of the same kind
// may have another login and stands for itself, and so does every script.
func (r *Roster) Service(name string) string {
	e, err := r.Get(name)
	if err != nil || e.Kind == agent.Scripted {
		return name
	}
	want := r.account(e)
	for _, other := range r.Names() { // those that Belay knows come first
		if o := r.entries[other]; o.Kind == e.Kind && r.account(o) == want {
			return other
		}
	}
	return name
}

// account tells logins of one kind apart, as far as that can be seen: by the
// program that is started, and by whose model it is told to use.
func (r *Roster) account(e agent.Agent) string {
	words := e.Program
	if len(words) == 0 {
		words = agent.Known(e.Kind).Programs[:1]
	}
	first := r.look(words[0])
	if first == "" {
		first = words[0]
	}
	id := first + "\x00" + strings.Join(words[1:], "\x00")
	if provider, _, ok := strings.Cut(e.Model, "/"); ok && e.Kind == agent.OpenCode {
		id += "\x00" + provider
	}
	return id
}
