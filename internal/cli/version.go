package cli

import (
	"context"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/proc"
)

// versionFacts is what version prints.
type versionFacts struct {
	Version     string `json:"version"`
	Go          string `json:"go"`
	Platform    string `json:"platform"`
	Containment string `json:"containment"`
	Level       int    `json:"containment_level"`
}

func (a *app) versionCommand() *cobra.Command {
	var asJSON bool
	cmd := command("version", "print the version, and how processes are contained on this machine", 0, 0,
		func(context.Context, *cobra.Command, []string) error {
			level := proc.Containment()
			v := versionFacts{a.program.Version, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH, level.String(), int(level)}
			if asJSON {
				a.object(v)
				return nil
			}
			a.facts([][]string{
				{"belay", v.Version}, {"go", v.Go}, {"platform", v.Platform}, {"containment", v.Containment},
			})
			return nil
		})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}
