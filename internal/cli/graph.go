package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/graph"
	"github.com/belay-run/belay/internal/library"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/recipe"
	"github.com/belay-run/belay/story"
)

// maxDrawn is how many steps a picture has at most.
const maxDrawn = 1000

func (a *app) graphCommand() *cobra.Command {
	var o sourceOptions
	var format string
	cmd := command("graph RECIPE|RUN", "draw the steps of a recipe or a run as a graph", 1, 1,
		func(_ context.Context, cmd *cobra.Command, args []string) error {
			switch format {
			case "text", "mermaid":
				return a.graph(cmd, args[0], o, format)
			}
			return usage(cmd, fmt.Errorf("--format %q: must be text or mermaid", format))
		})
	sourceFlags(cmd, &o, "")
	compatFlag(cmd, &o.compat)
	cmd.Flags().StringVar(&format, "format", "text", "text or mermaid")
	return cmd
}

func (a *app) graph(cmd *cobra.Command, arg string, o sourceOptions, format string) error {
	g, err := a.picture(cmd, arg, o)
	if err != nil {
		return err
	}
	if n := size(g); format != "text" && n > maxDrawn {
		return tooBig(n, maxDrawn)
	}
	if format == "mermaid" {
		_, err = a.out.Write([]byte(g.Mermaid()))
		return err
	}
	for _, l := range g.Text(a.outWidth()) {
		a.out.raw(l)
	}
	return nil
}

func size(g *graph.Graph) int {
	n := len(g.Nodes)
	for _, node := range g.Nodes {
		if node.Sub != nil {
			n += size(node.Sub)
		}
	}
	return n
}

// picture is the graph of a recipe, or of a run when no recipe has that name.
func (a *app) picture(cmd *cobra.Command, arg string, o sourceOptions) (*graph.Graph, error) {
	shelf, err := a.sourceShelf(o)
	if err != nil {
		return nil, err
	}
	_, err = shelf.Load(arg)
	var missing *library.NotFound
	if !errors.As(err, &missing) || strings.ContainsAny(arg, ".") {
		set, err := a.load(shelf, arg)
		if err != nil {
			return nil, err
		}
		return newOutline(set).graph(set.Root), nil
	}
	g, err := a.runPicture(arg)
	var unknown *journal.Unknown
	if errors.As(err, &unknown) {
		return nil, exit.New(exit.Invalid, "", fmt.Errorf("%q is neither a recipe nor a run", arg),
			"give a recipe file, or see the runs with belay runs")
	}
	if err == nil && (o.compat || len(o.shelves) > 0) {
		return nil, usage(cmd, fmt.Errorf("%s is a run, which has its recipe: --compat and --recipes are about reading one", arg))
	}
	return g, err
}

func (a *app) runPicture(arg string) (g *graph.Graph, err error) {
	err = a.read(arg, func(s *runView) error {
		g = s.graph(s.id)
		g.Title = fmt.Sprintf("run %s: %s (%s)", s.id, g.Title, s.standing())
		return nil
	})
	return g, err
}

// graph is the picture of a run of the tree, with its child runs.
func (s *runView) graph(id belay.RunID) *graph.Graph {
	run := s.Tree.Run(id)
	g := shapeOf(run.Recipe(), run.Expects)
	for i, v := range run.Steps() {
		if i >= len(g.Nodes) {
			break // a run has no more steps than its recipe
		}
		g.Nodes[i].Phase = story.PhaseWord(v)
		if def := &run.Recipe().Steps[i]; def.Finally && def.ID == recipe.FinallyID {
			for n := range i {
				g.Nodes[i].Needs = append(g.Nodes[i].Needs, n) // it comes after all others
			}
		}
		if v.Child != "" && s.Tree.Run(v.Child) != nil {
			g.Nodes[i].Sub = s.graph(v.Child)
		}
	}
	return g
}
