package cli

import (
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/internal/tui"
)

// askHere has the questions of a run asked at the terminal, when a person sits
// there: both ends are terminals, and no keeper is above this process.
func (a *app) askHere(ws *workshop, o *engine.Open, screen *tui.Screen) error {
	if ws.rehearses || a.std.In == nil {
		return nil
	}
	_, shows := terminal(a.std.Err)
	if _, types := terminal(a.std.In); !shows || !types {
		return nil
	}
	inside, _, err := a.inside(ws.state)
	if err != nil || inside != "" {
		return err
	}
	o.Attend(tui.NewTerminal(a.std.In, screen, engine.Person()))
	return nil
}
