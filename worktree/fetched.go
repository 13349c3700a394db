package worktree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Fetched is how a machine makes a checkout of a commit that is on a remote of git. What
// it fetched is kept, so that the next checkout of that repository needs only what is new.
type Fetched struct {
	Remote, Commit string
	Branch         string // to be checked out at the commit; "" = none
	Dir            string // the checkout, to be made
	Kept           string // the folder of what was fetched, of all repositories
}

// NotThere says that a remote does not have a commit.
type NotThere struct{ Remote, Commit string }

func (e *NotThere) Error() string {
	return fmt.Sprintf("commit %.12s is not on %s", e.Commit, e.Remote)
}

// Reach tells whether a remote of git answers this machine.
func Reach(ctx context.Context, remote string) error {
	_, err := git{}.run(ctx, "ls-remote", "--quiet", "--end-of-options", remote, "HEAD")
	return err
}

// Made tells whether the checkout is there whole.
func (f Fetched) Made() bool { return Unpack{Dir: f.Dir}.Unpacked() }

// Run makes the checkout. What an earlier try left is done again.
func (f Fetched) Run(ctx context.Context) error {
	if f.Made() {
		return nil
	}
	kept, err := f.fetch(ctx)
	if err == nil {
		err = f.check(ctx, kept)
	}
	if err != nil {
		return fmt.Errorf("clone %s: %w", f.Remote, err)
	}
	return nil
}

// fetch brings what is kept of the repository up to date.
func (f Fetched) fetch(ctx context.Context) (string, error) {
	sum := sha256.Sum256([]byte(f.Remote))
	dir := filepath.Join(f.Kept, hex.EncodeToString(sum[:12])+".git")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	unlock, err := lockSoon(ctx, dir)
	if err != nil {
		return "", err
	}
	defer unlock()
	g := git{dir: dir}
	if !exists(filepath.Join(dir, "HEAD")) {
		if _, err := g.run(ctx, "init", "--quiet", "--bare", "--template="); err != nil {
			return "", err
		}
	}
	_, err = g.run(ctx, "fetch", "--quiet", "--prune", "--no-tags", "--force", "--end-of-options", f.Remote, "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
	if out, err := g.run(ctx, "ls-remote", "--quiet", "--symref", "--end-of-options", f.Remote, "HEAD"); err == nil { // so that origin/HEAD is what it is there
		if name, said := strings.CutPrefix(strings.SplitN(out, "\t", 2)[0], "ref: "); said && refName(name) {
			_, _ = g.run(ctx, "symbolic-ref", "HEAD", name) // one that is wrong does no harm
		}
	}
	if _, lacks := g.run(ctx, "cat-file", "-e", f.Commit+"^{commit}"); lacks == nil {
		return dir, ctx.Err() // a remote that is away now does no harm
	}
	if err != nil {
		return "", err
	}
	if _, err := g.run(ctx, "fetch", "--quiet", "--no-tags", "--end-of-options", f.Remote, f.Commit); err != nil { // it may be on no branch
		return "", errors.Join(&NotThere{f.Remote, f.Commit}, ctx.Err())
	}
	return dir, nil
}

// check makes the checkout from what is kept, with objects of its own: what happens in it
// is not seen by others.
func (f Fetched) check(ctx context.Context, kept string) error {
	if err := errors.Join(os.RemoveAll(f.Dir), os.MkdirAll(filepath.Dir(f.Dir), 0o700)); err != nil {
		return err
	}
	if _, err := (git{dir: kept}).run(ctx, "clone", "--quiet", "--no-hardlinks", "--no-checkout", "--template=", "--end-of-options", kept, f.Dir); err != nil {
		return err
	}
	real, err := realPath(f.Dir)
	if err != nil {
		return err
	}
	g := git{dir: real}
	calls := [][]string{{"config", "--local", "remote.origin.url", f.Remote}}
	if f.Branch == "" {
		calls = append(calls, []string{"update-ref", "--no-deref", "HEAD", f.Commit})
	} else {
		if !refName("refs/heads/" + f.Branch) {
			return fmt.Errorf("%q is no name for a branch", f.Branch)
		}
		calls = append(calls, []string{"symbolic-ref", "HEAD", "refs/heads/" + f.Branch}, []string{"update-ref", "refs/heads/" + f.Branch, f.Commit})
		if _, err := g.run(ctx, "rev-parse", "--verify", "--quiet", "refs/remotes/origin/"+f.Branch); err == nil {
			calls = append(calls, []string{"config", "--local", "branch." + f.Branch + ".remote", "origin"},
				[]string{"config", "--local", "branch." + f.Branch + ".merge", "refs/heads/" + f.Branch})
		}
	}
	for _, args := range append(calls, []string{"read-tree", "--reset", "-u", f.Commit}) {
		if _, err := g.run(ctx, args...); err != nil {
			return err
		}
	}
	_, _ = g.run(ctx, "update-index", "-q", "--refresh") // so that no command has to read all files
	if head, err := g.line(ctx, "rev-parse", "HEAD"); err != nil || head != f.Commit {
		return errors.Join(err, fmt.Errorf("the checkout is at %.12s", strings.TrimSpace(head)))
	}
	return os.WriteFile(filepath.Join(real, ".git", doneName), []byte(f.Commit+"\n"), 0o600)
}
