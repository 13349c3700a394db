package cli

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/rehearse"
)

// rehearsalCommand drives the run of a rehearsal: belay rehearse starts it, so
// that it can kill it, and nobody types it.
func (a *app) rehearsalCommand() *cobra.Command {
	var again, asJSON bool
	cmd := command("rehearsal FOLDER", "drive a rehearsal (started by belay itself)", 1, 1,
		func(ctx context.Context, _ *cobra.Command, args []string) error {
			return a.rehearsal(ctx, args[0], again, asJSON)
		})
	cmd.Flags().BoolVar(&again, "resume", false, "go on with it")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print every record as a line of JSON")
	cmd.Flags().BoolVar(&a.together, "together", false, "its output is read beside what it says on standard error")
	cmd.Hidden = true
	return cmd
}

func (a *app) rehearsal(ctx context.Context, folder string, again, asJSON bool) (err error) {
	var orders rehearsalOrders
	text, err := os.ReadFile(filepath.Join(folder, ordersFile))
	if err == nil {
		err = json.Unmarshal(text, &orders)
	}
	if err != nil {
		return exit.New(exit.Invalid, "read the rehearsal", err, "")
	}
	a.engine = config.EngineLocal // whoever drives runs: it is played here
	ws, err := a.open()
	if err != nil {
		return err
	}
	defer closing(&err, "close state", ws.close)
	ws.rehearses = true
	spec, err := a.rehearsed(ws, orders, folder)
	if err != nil {
		return err
	}
	a.subject = belay.RunID(orders.ID)
	var open *engine.Open
	if again {
		open, err = ws.local.Resume(a.subject)
	} else {
		open, err = ws.local.Create(spec)
	}
	if err != nil {
		return err
	}
	if !asJSON && !again {
		a.say("rehearsal %s of recipe %s", open.ID, spec.Set.Root.Name)
	}
	if len(orders.Answers) > 0 {
		orders.Answers.First(open.Tree.Library())
		open.Attend(orders.Answers)
	}
	said := map[belay.Key]bool{}
	facts := orders.Answers.Held(open.Tree, said)
	for {
		err := a.drive(ctx, ws, open, asJSON, facts...)
		if ctx.Err() != nil || open.Tree.Status() != belay.Held {
			return err
		}
		if facts = orders.Answers.Held(open.Tree, said); len(facts) == 0 {
			return err
		}
		if open, err = ws.local.Resume(a.subject); err != nil {
			return err
		}
		open.Attend(orders.Answers)
	}
}

// rehearsed is the run of a rehearsal; the engine is set for it.
func (a *app) rehearsed(ws *workshop, o rehearsalOrders, folder string) (engine.Spec, error) {
	vars := o.Vars
	shelf := a.shelf(o.Shelves, o.From, ws.cfg.RecipeBytes.Value)
	shelf.Compat = o.Compat
	for name := range vars {
		shelf.Given = append(shelf.Given, name)
	}
	set, err := shelf.Load(o.Recipe) // what is wrong with it was said before
	if err != nil {
		return engine.Spec{}, invalid("", typed(err), "")
	}
	script := filepath.Join(folder, scriptFile)
	spec := engine.Spec{Set: set, Vars: vars, Dir: o.Dir, ID: belay.RunID(o.ID), MaxParallel: ws.cfg.MaxParallel.Value, Isolate: o.Isolate,
		Policy: o.Policy, Recovery: o.Recovery, MaxRetries: o.MaxRetries, MaxReplans: o.MaxReplans, Patience: ws.cfg.Agents.Patience.Value}
	if spec.Budget, err = (agentOptions{}).budget(ws.cfg); err != nil {
		return spec, err
	}
	if who := rolesIn(set.Library, ws.cfg.Recovery.Roles); len(who.steps) > 0 {
		spec.Agents, spec.Roles = true, ws.cfg.Recovery.Roles // whoever stands behind them plays the script
		spec.Agent, spec.Staff = string(agent.Scripted)+":"+script, o.Staff
		spec.Personas = a.personas(who.personas, o.From)
	}
	stage := rehearse.Stage{Folder: folder, Speed: o.Speed, Faults: o.Faults, Targets: rehearse.Targets(set)}
	local := ws.local
	local.Speed, local.Stage = o.Speed, stage.Set
	self := local.Host.Self
	local.Host.Find = func(name string) (agent.Agent, error) { return rehearse.Agent(name, self, script), nil }
	local.Host.Windows = rehearse.Windows(o.Speed, local.Host.Windows)
	return spec, nil
}

// runFolder is where the journal of a run lies.
func runFolder(state, id string) string { return filepath.Join(state, "runs", id) }
