package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/worktree"
)

// placeCommand tells a script of a shipped recipe about the files that it works on.
//
//	own            exits with 0 where the branch that is checked out was made for this run
//	list NAME      writes down which files there are, and what is in them
//	changed NAME   names the files that are not as they were then
//	same NAME      fails, and names them, when there are any
func (a *app) placeCommand() *cobra.Command {
	cmd := command("place own|list|changed|same [NAME]", "look at the files of a run (started by belay itself)", 1, 2,
		func(ctx context.Context, cmd *cobra.Command, args []string) error {
			run := belay.RunID(a.env("BELAY_RUN_ID")).Root()
			state, err := a.stateDir()
			if err != nil {
				return err
			}
			if run == "" {
				return exit.New(exit.Invalid, "look at the files", errors.New("this is not a step of a run"), "")
			}
			if args[0] == "own" {
				if !worktree.MadeFor(ctx, ".", run) {
					return quietly(exit.Failed)
				}
				return nil
			}
			if len(args) != 2 || !idForm().MatchString(args[1]) {
				return usage(cmd, errors.New("it needs a name"))
			}
			if err = a.lookFor(ctx, args[0], filepath.Join(state, "runs", string(run), "files-"+args[1]), state); err != nil {
				return invalid("look at the files", err, "")
			}
			return nil
		})
	cmd.Hidden = true
	return cmd
}

func (a *app) lookFor(ctx context.Context, verb, file, state string) error {
	now, err := worktree.ListFiles(ctx, ".", state)
	if err != nil {
		return exit.New(exit.Infra, "look at the files", err, "")
	}
	if verb == "list" {
		return os.WriteFile(file, now.Bytes(), 0o600)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	list := now.Since(worktree.ReadListing(b))
	switch verb {
	case "changed":
		below, _ := worktree.Prefix(ctx, ".") // "" where there is no repository
		for _, path := range list {
			a.out.line("%s", path)
			if rest, ok := strings.CutPrefix(path, below+"/"); ok && below != "" {
				a.out.line("%s", rest) // as who works there says it
			}
		}
		return nil
	case "same":
		if len(list) > 0 {
			return exit.New(exit.Failed, "", fmt.Errorf("nothing was to be changed, and %d %s changed meanwhile: %s", len(list), plural(len(list), "file"), named(list)), "")
		}
		return nil
	}
	return fmt.Errorf("%q is none of own, list, changed, same", verb)
}
