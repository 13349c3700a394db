package worktree

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Unpack is how a machine takes in what another one packed.
type Unpack struct {
	Remote, Ref, Commit string
	Dir                 string // the checkout, to be made
	Trees               string // the folder for its worktrees
	Files               string // the folder for the files that came along
}

// doneName is the file in the folder of git that says that all is there.
const doneName = "belay-carried"

// Unpacked tells whether a checkout is there whole.
func (u Unpack) Unpacked() bool { return exists(filepath.Join(u.Dir, ".git", doneName)) }

// Run takes the files in. What an earlier try left is done again.
func (u Unpack) Run(ctx context.Context) error {
	if u.Unpacked() {
		return nil
	}
	if err := u.run(ctx); err != nil {
		return fmt.Errorf("take in the files of a run: %w", err)
	}
	return nil
}

func (u Unpack) run(ctx context.Context) error {
	if err := errors.Join(os.RemoveAll(u.Dir), os.RemoveAll(u.Trees)); err != nil {
		return err
	}
	for _, dir := range []string{u.Trees, u.Dir} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	real, err := realPath(u.Dir)
	if err != nil {
		return err
	}
	g := git{dir: real}
	for _, args := range [][]string{
		{"init", "--quiet"},
		{"fetch", "--quiet", "--no-tags", "--end-of-options", u.Remote, "+" + u.Ref + ":" + Carry{Ref: u.Ref}.local("in")},
	} {
		if _, err := g.run(ctx, args...); err != nil {
			return err
		}
	}
	id, err := g.line(ctx, "rev-parse", "--verify", "--end-of-options", Carry{Ref: u.Ref}.local("in"))
	if err == nil && id != u.Commit {
		err = fmt.Errorf("%s is %.12s there, and the run knows it as %.12s", u.Ref, id, u.Commit)
	}
	if err != nil {
		return err
	}
	var load cargo
	text, err := g.run(ctx, "cat-file", "blob", u.Commit+":"+cargoName)
	if err == nil {
		err = json.Unmarshal([]byte(text), &load)
	}
	if err == nil {
		err = u.place(ctx, g, load)
	}
	if err == nil {
		err = u.files(ctx, g)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(real, ".git", doneName), []byte(u.Commit+"\n"), 0o600)
}

// place makes the checkouts.
func (u Unpack) place(ctx context.Context, g git, load cargo) error {
	var refs strings.Builder
	for name, id := range load.Refs {
		if !refName(name) || !strings.HasPrefix(name, "refs/heads/") && !strings.HasPrefix(name, refRoot) {
			return fmt.Errorf("%q is no name for a branch or snapshot", name)
		}
		fmt.Fprintf(&refs, "update %s %s\n", name, id)
	}
	if _, err := g.feed(ctx, []byte(refs.String()), "update-ref", "--stdin"); err != nil {
		return err
	}
	head := []string{"symbolic-ref", "HEAD", "refs/heads/" + load.Main.Branch}
	if load.Main.Branch == "" {
		head = []string{"update-ref", "--no-deref", "HEAD", load.Main.Head}
	}
	if _, err := g.run(ctx, head...); err != nil {
		return err
	}
	if err := lay(ctx, g, load.Main); err != nil {
		return err
	}
	if load.Origin != "" {
		if _, err := g.run(ctx, "config", "--local", "remote.origin.url", load.Origin); err != nil {
			return err
		}
	}
	trees, err := realPath(u.Trees)
	if err != nil {
		return err
	}
	for branch, text := range load.Marks {
		var own owner
		if json.Unmarshal([]byte(text), &own) != nil {
			continue // it is not a mark of ours, so nothing of ours
		}
		if name, below := strings.CutPrefix(own.Path, load.Root+"/"); below {
			own.Path = filepath.Join(trees, name)
		}
		if err := g.mark(ctx, branch, own); err != nil {
			return err
		}
	}
	for _, w := range load.Trees {
		if !filepath.IsLocal(w.Path) {
			return fmt.Errorf("%q is no place for a worktree", w.Path)
		}
		dir := filepath.Join(trees, w.Path)
		args := []string{"worktree", "add", "--quiet", "--force", "--no-checkout", dir, w.Branch}
		if w.Branch == "" {
			args = []string{"worktree", "add", "--quiet", "--force", "--no-checkout", "--detach", dir, w.Head}
		}
		if _, err := g.run(ctx, args...); err != nil {
			return err
		}
		if err := lay(ctx, g.in(dir), w); err != nil {
			return err
		}
	}
	return nil
}

// lay puts the files of a checkout down as they were; what was not committed is not
// committed, and not staged either.
func lay(ctx context.Context, g git, p parked) error {
	for _, args := range [][]string{{"read-tree", "--reset", "-u", p.Files}, {"read-tree", p.Head}} {
		if _, err := g.run(ctx, args...); err != nil {
			return fmt.Errorf("lay down the files: %w", err)
		}
	}
	_, _ = g.run(ctx, "update-index", "-q", "--refresh") // so that no command has to read all files; what is changed makes it fail
	return nil
}

// files takes in what came along beside the repository.
func (u Unpack) files(ctx context.Context, g git) error {
	if u.Files == "" {
		return nil
	}
	out, err := g.run(ctx, "ls-tree", "-z", u.Commit, filesName+"/")
	if err != nil || out == "" {
		return err
	}
	if err := os.MkdirAll(u.Files, 0o700); err != nil {
		return err
	}
	for rec := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		about, path, _ := strings.Cut(rec, "\t")
		f, name := strings.Fields(about), filepath.Base(path)
		to := filepath.Join(u.Files, name)
		if len(f) != 3 || exists(to) {
			continue
		}
		text, err := g.run(ctx, "cat-file", "blob", f[2])
		if err == nil {
			err = os.WriteFile(to+".part", []byte(text), 0o600)
		}
		if err == nil {
			err = os.Rename(to+".part", to)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
