package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/internal/spelling"
	"github.com/belay-run/belay/recipe"
)

// How much of the outputs of a run is shown above its verdict.
const (
	outputsShown = 8
	outputWidth  = 100
)

// outputFlag asks for one output of a run instead of the words about it.
func outputFlag(cmd *cobra.Command, name *string) {
	cmd.Flags().StringVar(name, "output", "", "print the value of this output of a step as it is (with a newline at its end), and nothing else on stdout")
}

// onlyOutput refuses what cannot go together with --output.
func onlyOutput(cmd *cobra.Command, others ...string) error {
	if !cmd.Flags().Changed("output") {
		return nil
	}
	for _, name := range others {
		if f := cmd.Flags().Lookup(name); f != nil && f.Changed {
			return usage(cmd, fmt.Errorf("--output and --%s exclude each other", name))
		}
	}
	return nil
}

// readersOf knows who reads what in a recipe and in those that it calls.
func readersOf(lib flow.Library, root *recipe.Recipe) *recipe.Readers {
	return recipe.NewReaders(root, func(name string) *recipe.Recipe { return lib.Recipes[lib.Names[name]] })
}

// givesOutput refuses the name of an output that no step of a recipe can give.
func givesOutput(lib flow.Library, root *recipe.Recipe, name string) error {
	if root == nil || name == "" {
		return nil
	}
	return namedOutput("recipe "+root.Name, name, readersOf(lib, root).Gives(root))
}

func namedOutput(whose, name string, names []string) error {
	if slices.Contains(names, name) {
		return nil
	}
	cure := "none of its steps has an output:"
	if len(names) > 0 {
		cure = "it gives " + strings.Join(names, ", ")
	}
	if near := spelling.Near(name, names); near != "" {
		cure = "did you mean " + near + "? " + cure
	}
	return exit.New(exit.Invalid, "", fmt.Errorf("%s gives no output %q", whose, name), cure)
}

// given is what the steps of a run gave.
type given struct {
	run    belay.RunID
	vars   map[string]belay.Value
	hidden []string // of them those in which a secret was hidden
	last   []string // those that are for whoever started it
	can    []string // all that its steps may give
	texts  map[string]string
	said   []string // last lines of what its last shell steps printed, where no output has it
}

// gave looks at what a run gave, while its blobs can be read: read gives one of them.
func gave(tree *flow.Tree, id belay.RunID, read func(sha string, most int64) ([]byte, error), also string) *given {
	s := tree.Run(id)
	if s == nil || s.Recipe() == nil {
		return nil
	}
	g := &given{run: id, texts: map[string]string{}}
	g.vars, g.hidden = s.Given()
	q := readersOf(tree.Library(), s.Recipe())
	g.can = q.Gives(s.Recipe())
	for _, name := range q.Last(s.Recipe()) {
		if _, set := g.vars[name]; set {
			g.last = append(g.last, name)
		}
	}
	g.said = lastPrinted(s)
	for _, name := range append(slices.Clone(g.last[:min(len(g.last), outputsShown)]), also) {
		if v, set := g.vars[name]; set {
			if text, err := valueText(v, read); err == nil {
				g.texts[name] = text
			}
		}
	}
	return g
}

// lastPrinted are the last lines that the shell steps printed for which no other step waits.
// One with an output has it told by that.
func lastPrinted(s *flow.State) []string {
	steps := s.Recipe().Steps
	awaited := make([]bool, len(steps))
	for i := range steps {
		for _, k := range steps[i].Needs {
			awaited[k] = awaited[k] || !steps[i].Finally
		}
	}
	var lines []string
	for i := range steps {
		def := &steps[i]
		v, _ := s.Step(def.ID)
		if awaited[i] || def.Type != belay.TypeBash || def.Output != "" || len(def.Outputs) > 0 || def.Finally || v.Phase != flow.Done || v.Main == nil {
			continue
		}
		if text := readable.LastLine(v.Main.Tail); text != "" {
			lines = append(lines, "last output line of "+string(def.ID)+": "+readable.Cut(text, outputWidth))
		}
	}
	return lines
}

// valueText is a value as a step would print it: a text as it is, else JSON.
func valueText(v belay.Value, read func(sha string, most int64) ([]byte, error)) (string, error) {
	if !v.Inline() {
		b, err := read(v.Sha, v.Size)
		return string(b), err
	}
	var text string
	if json.Unmarshal(v.JSON, &text) == nil {
		return text, nil
	}
	return string(v.JSON), nil
}

// lines are the outputs of a run below its verdict, each on one line.
func (g *given) lines(belay string) []string {
	var lines []string
	for _, name := range g.last[:min(len(g.last), outputsShown)] {
		text, readable := g.texts[name]
		if !readable {
			continue
		}
		lines = append(lines, outputLine(name, text, fmt.Sprintf("%s show %s --output %s", belay, g.run, name)))
	}
	if n := len(g.last) - outputsShown; n > 0 {
		lines = append(lines, fmt.Sprintf("  and %d more outputs: %s", n, strings.Join(g.last[outputsShown:], ", ")))
	}
	return append(lines, g.said[:min(len(g.said), max(0, outputsShown-len(lines)))]...)
}

func outputLine(name, text, all string) string {
	head := "output " + name + ": "
	text = strings.TrimSpace(text)
	size := readable.Size(int64(len(text)))
	if bytes.IndexByte([]byte(text), 0) >= 0 {
		return head + size + " of binary data: " + all
	}
	first, rest, more := strings.Cut(text, "\n")
	shown := readable.Cut(readable.Clean(first), outputWidth)
	switch {
	case text == "":
		return head + "(empty)"
	case more:
		return fmt.Sprintf("%s%s  (%d lines, %s: %s)", head, shown, 2+strings.Count(rest, "\n"), size, all)
	case shown != readable.Clean(first):
		return fmt.Sprintf("%s%s  (%s: %s)", head, shown, size, all)
	}
	return head + shown
}

// tellsOutputs tells whether a run that ends so has results: those of one that
// failed are half ones, and are asked for by name.
func tellsOutputs(s belay.Status) bool {
	return s == belay.Achieved || s == belay.Partial || s == belay.NotAchieved
}

// keepOutputs keeps what a run gave for its last words, while it can be read.
func (a *app) keepOutputs(o *engine.Open) {
	a.gave = gave(o.Tree, o.ID, o.Blob, a.wants)
}

// printWanted prints the output that was asked for, of a run that has results. err is
// how the command ends otherwise.
func (a *app) printWanted(status belay.Status, err error) error {
	if a.wants == "" || !tellsOutputs(status) {
		return err
	}
	if e := a.printOutput(a.gave, a.wants); err == nil {
		return e
	}
	return err
}

// printOutput prints one output raw.
func (a *app) printOutput(g *given, name string) error {
	if g == nil {
		return exit.New(exit.Invalid, "", errors.New("the run never began, and gave nothing"), "")
	}
	v, set := g.vars[name]
	if !set {
		if err := namedOutput("run "+string(g.run), name, g.can); err != nil {
			return err
		}
		return exit.New(exit.Invalid, "", fmt.Errorf("run %s has no value for output %q: no step that gives it is done", g.run, name),
			fmt.Sprintf("see its steps with %s show %s", a.name(), g.run))
	}
	text, read := g.texts[name]
	if !read {
		return exit.New(exit.Damaged, "", fmt.Errorf("output %q of run %s (%s) cannot be read", name, g.run, readable.Size(v.Size)), "belay audit "+string(g.run.Root()))
	}
	if slices.Contains(g.hidden, name) {
		a.say("warning: a secret was hidden in output %s: the value has a hole", name)
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	fmt.Fprint(a.out, text) // an error stays in a.out
	return nil
}

// besideOutput is where the words about a run go when its output is all that stdout may
// hold; back undoes it.
func (a *app) besideOutput() (back func()) {
	if a.wants == "" {
		return func() {}
	}
	out := a.out
	a.out = &answer{w: a.std.Err, acts: true}
	return func() { a.out = out }
}
