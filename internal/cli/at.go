package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/check"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/recipe"
	"github.com/belay-run/belay/verdict"
	"github.com/belay-run/belay/worktree"
)

// atCommand runs something in a copy of a commit.
func (a *app) atCommand() *cobra.Command {
	var t check.Trial
	var asJSON, written bool
	var id, before, program, listing string
	cmd := command("at COMMIT [-- COMMAND…]", "run a command, or the tests, in a copy of a commit", 1, -1,
		func(ctx context.Context, cmd *cobra.Command, args []string) error {
			t.Commit, t.Args = args[0], args[1:]
			if t.Tests == (len(t.Args) > 0) {
				return usage(cmd, errors.New("give a command after --, or --tests"))
			}
			if (t.Doubt || t.Judged != "") && t.Tests {
				return usage(cmd, errors.New("--doubt and --old-scripts go with a command"))
			}
			if passedBefore(before, id) {
				t.First = ""
			}
			if t.As = t.Tests && (t.Old != "" || written); t.Old != "" && (!t.Tests || t.Commit == "") {
				return usage(cmd, errors.New("--old-tests goes with --tests, and with a commit"))
			}
			dir, err := workDir(t.Dir)
			if err != nil {
				return err
			}
			cfg, err := config.Load(a.environ)
			if err != nil {
				return err
			}
			t.Dir, t.Script, t.Reads = dir, cfg.Tests.Value, shellTexts{}
			if t.Copy, err = a.copyPlace(); err != nil {
				return exit.New(exit.Infra, "at", err, "")
			}
			if ctx, err = a.asBegun(ctx, dir); err != nil {
				return err
			}
			if err := a.sinceBegun(ctx, &t, program, listing, written); err != nil {
				return exit.New(exit.Infra, "at", err, "")
			}
			r, err := check.At(ctx, t, a.environ, check.Streams{Out: a.out, Err: a.std.Err}, verdict.Shortfall)
			if err != nil {
				return exit.New(exit.Infra, "at", err, "it says nothing about the commit: try again when this is fixed")
			}
			if r.ID = id; asJSON {
				a.object(r)
				return nil
			}
			if !r.Passed && r.Exit == 0 {
				a.say("%s", r.Why)
				return quietly(exit.Failed)
			}
			return quietly(r.Exit)
		})
	cmd.Long = `Run a command, or the tests of the repository, in a copy of a commit.

The copy has the files of the commit, and of the ignored files those that the ignore
rules of --base hide. What the command writes is thrown away. The exit code is that of
the command; 1 where it exits with 0 and says that no test ran; 8 where the copy could
not be made, which says nothing about the commit. An empty COMMIT copies the folder as
it is.`
	cmd.Example = `  belay at HEAD --tests
  belay at belay/add-rate-limiting --tests --old-tests main
  belay at belay/add-rate-limiting --base main -- go test ./...`
	f := cmd.Flags()
	f.StringVarP(&t.Dir, "dir", "C", "", "the directory")
	f.StringVar(&t.Base, "base", "", "what the work began with: ignored files that its rules hide are in the copy")
	f.BoolVar(&t.Tests, "tests", false, "run the tests of the repository, as expect: tests does")
	f.StringVar(&t.Old, "old-tests", "", "put back the test files of this commit or tree, and what its test command is made of, where COMMIT changed them; without any, nothing is run")
	f.BoolVar(&written, "written-tests", false, "in a step of a run: put back the test files that steps of it wrote (belay place tests), as they were written; written and written_fails in the JSON say which are others now, and why it does not pass with them as they were")
	f.BoolVar(&t.Doubt, "doubt", false, "run a command that passes in an empty folder, too; always in the JSON says that it passes there")
	f.StringVar(&t.First, "without", "", "run a command that passes in a copy of this commit, too, which does not have the work; first in the JSON says that it passes there. With --tests: run tests there that pass and whose output counts none; counted_before in the JSON says that it counts some there")
	f.StringVar(&t.Judged, "old-scripts", "", "run a shell text that passes again with the programs that it names, and the build files of its commands, as they were in this commit or tree, where COMMIT changed them; rewritten in the JSON names them if it does not pass then")
	f.StringVar(&program, "program", "", "a JSON list of files that the work is to change: --old-scripts leaves them as they are")
	f.StringVar(&listing, "listing", "", "in a step of a run, in a directory without a repository: a list of the files (belay place begin) that says which of them were changed since. There is no copy of these")
	f.StringVar(&before, "before", "", "the JSON of commands that ran before the work: --without is not for one that passed then, by its --id")
	f.DurationVar(&t.Within, "timeout", 10*time.Minute, "how long it may take")
	f.BoolVar(&asJSON, "json", false, "print how it ended as JSON, and exit with 0 wherever it could be run")
	f.StringVar(&id, "id", "", "a name for it in the JSON")
	return cmd
}

// shellTexts are read as those of recipes.
type shellTexts struct{}

func (shellTexts) Names(text string, files []string) []string {
	return (&recipe.Script{Source: text}).Names(files)
}

func (shellTexts) Rivals(name string) []string { return recipe.Rivals(name) }

// listed is a JSON list of paths; what is none has none.
func listed(text string) []string {
	var list []string
	_ = json.Unmarshal([]byte(text), &list) // as above
	for i := range list {
		list[i] = path.Clean(list[i])
	}
	return list
}

// sinceBegun adds what is known since the work began: which files it was to change, what is not
// as it was in a directory without a repository, and the tests that were written.
func (a *app) sinceBegun(ctx context.Context, t *check.Trial, program, listing string, written bool) (err error) {
	t.Program = listed(program)
	if listing != "" && t.Commit == "" {
		if t.Begun, err = a.begunHere(ctx, t.Dir, listing); err != nil {
			return err
		}
	}
	if written {
		t.Forms, t.Broken, t.FormsIn, err = a.writtenTests()
	}
	return err
}

// begunHere is what is known of a directory without a repository since the work began; nil where
// it has one, or where nobody made the list.
func (a *app) begunHere(ctx context.Context, dir, name string) (*check.Begun, error) {
	run := belay.RunID(a.env("BELAY_RUN_ID")).Root()
	state, err := a.stateDir()
	if err != nil || run == "" {
		return nil, err
	}
	list := runPlace{app: a, run: run, state: state}.list(name)
	b, err := os.ReadFile(list + testsPlan)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil //nolint:nilnil // it had a repository, or an earlier Belay began the run
	}
	var begun check.Begun
	if err == nil {
		err = json.Unmarshal(b, &begun.Tests)
	}
	if err == nil {
		b, err = os.ReadFile(list)
	}
	var now worktree.Listing
	if err == nil {
		now, err = worktree.ListFiles(ctx, dir, state)
	}
	if err != nil {
		return nil, fmt.Errorf("look at the files: %w", err)
	}
	was := worktree.ReadListing(b)
	for _, file := range now.Since(was) {
		if _, there := was[file]; there {
			begun.Changed = append(begun.Changed, file)
		} else {
			begun.Added = append(begun.Added, file)
		}
	}
	return &begun, nil
}

// testsPlan ends the name of a file beside a list: how the tests were run then.
const testsPlan = ".tests"

// passedBefore tells whether a command passed before the work.
func passedBefore(text, id string) bool {
	var list []check.Tried
	_ = json.Unmarshal([]byte(text), &list) // of what cannot be read nothing is known
	return slices.ContainsFunc(list, func(r check.Tried) bool { return r.ID == id && r.Passed })
}

// copyPlace is the folder for a copy: of a step of a run one in its folder, where the
// next attempt finds what a killed one left.
func (a *app) copyPlace() (string, error) {
	if run := belay.RunID(a.env("BELAY_RUN_ID")).Root(); run != "" {
		state, err := a.stateDir()
		if err != nil {
			return "", err
		}
		of := filepath.Join(state, "runs", string(run))
		if _, err := os.Stat(of); err == nil {
			return filepath.Join(of, "copy-"+a.env("BELAY_STEP")+"-"+a.env("BELAY_ITEM")), nil
		}
	}
	return os.MkdirTemp("", "belay-at-")
}
