package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/recipe"
)

// schemaCommand prints the JSON Schema of recipes, for editors.
func (a *app) schemaCommand() *cobra.Command {
	return command("schema", "print the JSON Schema of recipes, for editors", 0, 0,
		func(context.Context, *cobra.Command, []string) error {
			_, err := a.out.Write(recipe.Schema())
			return err
		})
}
