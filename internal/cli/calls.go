package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/spelling"
	"github.com/belay-run/belay/task"
)

// callsCommand lists the functions that call: steps can name.
func (a *app) callsCommand() *cobra.Command {
	var asJSON bool
	cmd := command("calls [NAME]", "list the functions for call: steps, or explain one", 0, 1,
		func(_ context.Context, _ *cobra.Command, args []string) error {
			if len(args) == 1 {
				return a.oneCall(args[0], asJSON)
			}
			a.allCalls(asJSON)
			return nil
		})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per function")
	cmd.ValidArgsFunction = func(_ *cobra.Command, given []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(given) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return task.Names(), cobra.ShellCompDirectiveNoFileComp
	}
	return cmd
}

func (a *app) allCalls(asJSON bool) {
	rows := [][]string{{"FUNCTION", "WHAT IT GIVES"}}
	for _, f := range task.Functions() {
		if asJSON {
			a.object(f)
			continue
		}
		rows = append(rows, []string{f.Name, f.Does})
	}
	if !asJSON {
		a.facts(rows)
	}
}

func (a *app) oneCall(name string, asJSON bool) error {
	f, ok := task.Named(name)
	if !ok {
		hint := "belay calls lists them"
		if near := spelling.Near(name, task.Names()); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		return exit.New(exit.Usage, "", fmt.Errorf("there is no function %q", name), hint)
	}
	if asJSON {
		a.object(f)
		return nil
	}
	a.out.line("%s: %s", f.Name, f.Does)
	a.fields("\nwith", f.Inputs, true)
	a.fields("\ngives", f.Outputs, false)
	a.out.line("\nexample")
	a.out.line("  with   %s", oneLine(f.Example.With))
	a.out.line("  gives  %s", oneLine(f.Example.Gives))
	return nil
}

func (a *app) fields(title string, fields []task.Field, inputs bool) {
	a.out.line("%s", title)
	var rows [][]string
	for _, in := range fields {
		need := ""
		if inputs && in.Must {
			need = "required"
		}
		rows = append(rows, []string{"  " + in.Name, string(in.Type), need, in.Doc})
	}
	a.facts(rows)
}

func oneLine(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil { // a test reads every example
		return string(raw)
	}
	return b.String()
}
