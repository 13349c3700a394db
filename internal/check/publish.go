package check

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/exit"
)

const (
	pushWithin = time.Minute
	pushHead   = "HEAD:refs/heads/belay/can-this-be-pushed" // never made: it is a dry run
)

// CanPublish says with an error, and what to do about it, why the work of a run in dir
// could not be pushed, or could have no pull request. Nothing is changed anywhere.
// telling picks the line of a message that says most.
func CanPublish(ctx context.Context, dir string, env []string, path string, pr bool, telling func(string) string) error {
	g := asker{repo{dir, append(slices.Clone(env), "GIT_TERMINAL_PROMPT=0", "GH_PROMPT_DISABLED=1", "GH_NO_UPDATE_NOTIFIER=1", "NO_COLOR=1")}, telling}
	if g.line(ctx, "remote", "get-url", "origin") == "" {
		return exit.New(exit.Usage, "", errors.New("--publish: there is no git remote named origin here"),
			"add one with git remote add origin URL, or leave --publish out: the work stays on a branch here")
	}
	if g.line(ctx, "rev-parse", "-q", "--verify", "HEAD") != "" {
		if said, err := g.asked(ctx, "git", "push", "--dry-run", "--no-verify", "-q", "origin", pushHead); err != nil {
			return exit.New(exit.Infra, "", fmt.Errorf("--publish: nothing can be pushed to origin: %s", said),
				"try git push --dry-run origin HEAD:refs/heads/try, or leave --publish out")
		}
	}
	if !pr {
		return nil
	}
	gh := lookPath("gh", path)
	if gh == "" {
		return exit.New(exit.Infra, "", errors.New("--publish pr: gh is not on the PATH"),
			"install gh (https://cli.github.com) and log in with gh auth login, or take --publish branch")
	}
	said, err := g.asked(ctx, gh, "pr", "list", "--limit", "1", "--json", "url")
	var code *exec.ExitError
	switch {
	case errors.As(err, &code) && code.ExitCode() == noLogin:
		return exit.New(exit.Infra, "", errors.New("--publish pr: gh is not logged in"), "run gh auth login, or take --publish branch")
	case err != nil:
		return exit.New(exit.Infra, "", fmt.Errorf("--publish pr: gh pr list: %s", said), "try gh pr list here, or take --publish branch")
	}
	return nil
}

// PushesTo is a digest of where git pushes to for origin, whatever settings say so; ""
// where there is none. The addresses themselves may have a password in them.
func PushesTo(ctx context.Context, dir string, env []string) string {
	to := repo{dir, env}.line(ctx, "remote", "get-url", "--push", "--all", "origin")
	if to == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(to))
	return hex.EncodeToString(sum[:16])
}

// Origin is the remote origin of a repository as it was when a run began.
type Origin struct {
	Dir string   // where a path that is not absolute leads from
	Git string   // a git folder without settings of its own; "" = that of the directory
	Set []string // variables with the settings that it was pushed by then
	Env []string
}

func (o Origin) git(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Env = o.Dir, slices.Concat(o.Env, o.Set)
	if o.Git != "" {
		cmd.Env = append(cmd.Env, "GIT_DIR="+o.Git)
	}
	return cmd
}

// At is the commit of a branch at origin; "" = there is none.
func (o Origin) At(ctx context.Context, branch string, talk io.Writer) (string, error) {
	cmd := o.git(ctx, "ls-remote", "origin", "refs/heads/"+branch)
	cmd.Stderr = talk
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("look at origin: %w", err)
	}
	id, _, _ := strings.Cut(string(out), "\t")
	return id, nil
}

// Push puts a commit on a branch of origin that is not there yet.
func (o Origin) Push(ctx context.Context, commit, branch string, to Streams) error {
	cmd := o.git(ctx, "push", "--force-with-lease="+branch+":", "origin", commit+":refs/heads/"+branch)
	cmd.Stdout, cmd.Stderr = to.Out, to.Err
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("push to origin: %w", err)
	}
	return nil
}

// asker asks programs, and picks the line of a message that tells most.
type asker struct {
	repo
	telling func(string) string
}

// asked runs a program that only looks, and gives the line of its message that tells most.
func (g asker) asked(ctx context.Context, program string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, pushWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = g.dir, g.env, time.Second
	var said limited
	cmd.Stderr = &said
	err := cmd.Run()
	switch text := strings.TrimSpace(said.String()); {
	case err == nil:
		return "", nil
	case ctx.Err() != nil:
		return fmt.Sprintf("no answer within %s", pushWithin), err
	case text == "":
		return err.Error(), err
	default:
		return g.telling(text), err
	}
}
