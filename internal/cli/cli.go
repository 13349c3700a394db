// Package cli is the command line: it parses, wires the rooms together, prints,
// and returns an error that knows its exit code. It never ends the process,
// keeps no state between calls, and decides nothing about a run: a request is
// written down as a fact, and the brain reads it.
package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/internal/roster"
	"github.com/belay-run/belay/internal/spelling"
)

// Streams are the standard streams: Out carries the answer, Err the talk.
type Streams struct {
	In  *os.File // nil = nobody types anything
	Out io.Writer
	Err io.Writer
}

// app is one call of the program.
type app struct {
	ctx     context.Context // of the whole command line
	std     Streams
	out     *answer // std.Out, with a memory for errors
	environ []string
	program Program

	subject belay.RunID    // the run that the command works on, once it is known
	named   bool           // it was said which run that is
	agents  *roster.Roster // once the state is open
	told    *int           // the exit code of the last line, once one was printed

	rested *belay.RunResult // of the run that it drove, once that is on disk

	noHelp error // what was asked to be explained is not there

	wants string // the one output that is to be printed; "" = none
	gave  *given // what the run gave, once it is over

	together bool // who reads standard error reads what this process says of its run, too

	state    string // the global flags
	color    string
	quiet    bool
	verbose  bool
	logLevel logLevel
	talks    bool // somebody asked for that level

	engine string           // --engine, where the program has another one
	far    engine.Elsewhere // once it was reached
	farEnd func()
	silent string // the host of the run that is looked at, where it does not answer
}

// Program is the program that runs the command line: belay itself, or another one
// that has Belay in it.
type Program struct {
	Name    string // what people type to start it; "" = belay
	Version string
	Path    string                     // starts it again as belay; "" = its own file does
	Agents  []agent.Agent              // what it has beside those of the settings
	Vars    map[string]json.RawMessage // for belay run, over those of --set
	Engine  Other                      // an engine beside the local one; nil = there is none
}

// Main runs one command line and says how it went. What a person must know was
// printed when it returns.
func Main(ctx context.Context, std Streams, args, environ []string, program Program) (err error) {
	defer catchPipe()()
	out := &answer{closed: closedBefore(std.Out)}
	std = behindDoors(std)
	out.w = std.Out
	a := &app{ctx: ctx, std: std, out: out, environ: environ, program: program, logLevel: logInfo}
	defer a.panicked(&err)
	defer func() {
		if a.farEnd != nil {
			a.farEnd()
		}
	}()
	root := a.root(args) //nolint:contextcheck // each command gets its context from cobra
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		err = a.noHelp
	}
	err = typed(err)
	if waits(cmd) && wantsJSON(cmd, args) {
		a.lastLine(err)
	}
	err = a.out.settle(err)
	a.report(err)
	return err
}

// panicked keeps the code of a run that did not end well, when belay itself breaks
// while it cleans up after it. Any other panic goes on, and ends in Go's own code.
func (a *app) panicked(err *error) {
	if a.rested == nil || a.rested.Code == exit.OK {
		return
	}
	if p := recover(); p != nil {
		fmt.Fprintf(a.std.Err, "belay: error: after the run: panic: %v\n%s\n", p, debug.Stack())
		*err = quietly(a.rested.Code)
	}
}

// self is the file that is started for every other process of a run.
func (a *app) self() (string, error) {
	if a.program.Path != "" {
		return a.program.Path, nil
	}
	exe, err := os.Executable()
	if err != nil {
		return "", exit.New(exit.Infra, "find own program", err, "start belay by its full path")
	}
	return exe, nil
}

// Commands is the tree of commands, for who describes it: nothing of it can be run.
func Commands() *cobra.Command {
	return (&app{std: Streams{Out: io.Discard, Err: io.Discard}, out: &answer{w: io.Discard}, logLevel: logInfo}).root(nil)
}

// root is the tree of commands, or what of it the arguments need.
func (a *app) root(args []string) *cobra.Command {
	root := &cobra.Command{
		Use:     a.called(),
		Short:   "run tasks and recipes, and continue them after a crash",
		Version: a.program.Version,
		Long: `Belay runs tasks (belay do) and recipes (belay run). A recipe is a YAML file with
steps: shell commands, agents and other recipes. Belay writes everything to disk
before it acts on it, so belay resume can continue a run that was interrupted.
Exit code 0 means that every required step is done, on evidence that Belay saw itself.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          a.noCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return a.noCommand(cmd, nil) },
	}
	root.SetOut(a.out)
	root.SetErr(a.std.Err)
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if words := cmd.Flags().Args(); cmd.HasSubCommands() && len(words) > 0 {
			a.noHelp = a.unknown(cmd, words)
			return
		}
		var text strings.Builder
		cmd.SetOut(&text)
		help(cmd, args)
		cmd.SetOut(nil)
		a.out.lines(readable.Paragraphs(a.ours(strings.TrimSuffix(text.String(), "\n")), a.outWidth()))
	})
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(flagError)
	flags := root.PersistentFlags()
	flags.StringVar(&a.state, "state", "", "state directory (BELAY_STATE; default ~/.local/state/belay)")
	flags.StringVar(&a.color, "color", "auto", "colours: auto, always or never")
	flags.BoolVarP(&a.quiet, "quiet", "q", false, "print only errors, warnings about the work of a task and, if the run did not succeed, its summary")
	flags.BoolVarP(&a.verbose, "verbose", "v", false, "while a run goes: every record as a line; in why, show, history and judge: classes, rules and fingerprints, too")
	flags.Var(&a.logLevel, "log-level", logLevelHelp)
	root.PersistentPreRunE = a.checkFlags
	root.AddCommand(a.commands(args)...)
	a.otherFlags(root)
	root.SetHelpCommand(a.helpCommand())
	a.runByDefault(root)
	grouped(root)
	return root
}

func (a *app) checkFlags(cmd *cobra.Command, _ []string) error {
	a.talks, a.out.acts = cmd.Flags().Changed("log-level"), acts(cmd)
	a.out.tells = cmd.Name() == "demo"
	switch a.color {
	case "auto", "always", "never":
		return nil
	}
	return usage(cmd, fmt.Errorf("--color %q: must be auto, always or never", a.color))
}

// shortHelp is what fits on a screen of 80 columns; belay --help has all commands.
const shortHelp = `Belay runs AI coding agents unattended, checks their work, and resumes after
a crash of the agent, of Belay or of the machine.

Run:
  belay demo              show in seconds how failures are caught; no account
  belay do "TASK"         carry out a task that is described in a sentence
  belay run RECIPE        run a recipe: a YAML file with steps
  belay rehearse RECIPE   test a recipe with simulated agents and faults, free
  belay resume            continue the newest run here that failed or waits
Look:
  belay why               what happened, and what to do now
  belay show, logs        the steps of a run, and what they printed
  belay receipt           what a run changed, and what proves that it is right
  belay runs, inbox       all runs; what waits for you
Act:
  belay answer, approve   answer a question of a run; approve a step
  belay stop, pause       stop a run now; pause it after its running steps
  belay watch             resume runs that died, report those that need you
Maintain:
  belay doctor            check whether this machine is ready
  belay gc                list what ended runs left; --yes deletes what is safe
  belay rm, prune         delete a run; archive old runs

All commands and flags: belay --help; one of them: belay COMMAND --help
`

// otherwise are words of other programs, and the commands that do the same here.
func otherwise() map[string]string {
	return map[string]string{"list": "runs", "ls": "runs", "ps": "runs", "status": "inbox", "init": "new", "start": "run"}
}

// noCommand answers a call without a command, or with an unknown one.
func (a *app) noCommand(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		err := fmt.Errorf("unknown command %q", args[0])
		var names []string
		for _, c := range cmd.Commands() {
			names = append(names, c.Name())
		}
		near := otherwise()[args[0]]
		if near == "" {
			near = spelling.Near(args[0], names)
		}
		if near != "" {
			return exit.New(exit.Usage, "", err, "did you mean belay "+near+"?")
		}
		return exit.New(exit.Usage, "", err, "see belay --help")
	}
	a.talkLines(a.ours(shortHelp))
	return quietly(exit.Usage)
}

// unknown is the error of a word that stands for a command and is none.
func (a *app) unknown(cmd *cobra.Command, words []string) error {
	if cmd.HasParent() {
		return cmd.RunE(cmd, words)
	}
	return a.noCommand(cmd, words)
}

func (a *app) helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "explain a command",
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return a.noCommand(cmd.Root(), args)
			}
			return found.Help()
		},
	}
}

// usage marks an error of the command line itself.
func usage(cmd *cobra.Command, err error) error {
	return exit.New(exit.Usage, "", err, "see "+cmd.CommandPath()+" --help")
}

// args checks the number of arguments.
func args(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, given []string) error {
		switch {
		case len(given) < least && strings.HasPrefix(what, "RECIPE"):
			return noRecipe(cmd)
		case len(given) < least:
			return usage(cmd, fmt.Errorf("%s needs %s", cmd.Name(), what))
		case most >= 0 && len(given) > most:
			err := fmt.Errorf("unexpected argument %q: %s takes %s", given[most], cmd.Name(), what)
			if strings.Contains(what, "RUN:ITEM") {
				return exit.New(exit.Usage, "", err, "belay inbox shows what to type")
			}
			return usage(cmd, err)
		}
		return nil
	}
}

// command is what all commands have in common.
func command(use, short string, least, most int, run func(ctx context.Context, cmd *cobra.Command, args []string) error) *cobra.Command {
	_, what, _ := strings.Cut(use, " ")
	if what == "" {
		what = "no arguments"
	}
	return &cobra.Command{
		Use: use, Short: short, Args: args(least, most, what), DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, given []string) error { return run(cmd.Context(), cmd, given) },
	}
}
