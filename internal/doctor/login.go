package doctor

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"

	"github.com/belay-run/belay/agent"
)

// LoggedOut tells whether an agent is known to be logged out: there is no sign
// of a login, and its CLI says so itself, without spending a token. Who is in
// doubt is let in: a run finds out.
func (p Patient) LoggedOut(ctx context.Context, e agent.Agent) bool {
	args := agent.Known(e.Kind).AskLogin
	if len(args) == 0 || len(e.Program) == 0 || len(e.Args) > 0 || p.Roster.LoggedIn(e) {
		return false // its arguments may name another way in
	}
	for _, path := range agent.Known(e.Kind).Login.ElsePaths(p.env) {
		if _, err := os.Stat(path); err == nil {
			return false
		}
	}
	r := p.ask(ctx, slices.Concat(e.Program, args)...)
	exit := 0
	if failed := (*exec.ExitError)(nil); errors.As(r.err, &failed) {
		exit = failed.ExitCode()
	}
	return !r.hung && agent.LoggedOut(e.Kind, r.out, r.talk, exit)
}
