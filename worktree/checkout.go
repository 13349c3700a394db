package worktree

import (
	"context"

	"github.com/belay-run/belay"
)

// Checkout is what stands in a directory.
type Checkout struct {
	Top    string `json:"top"`    // of the work tree; "" = it is in none
	Branch string `json:"branch"` // "" = none is checked out
	Commit string `json:"commit"` // "" = there is none yet
	Tree   string `json:"tree"`   // all files as they are now, whatever of them is committed
	Own    bool   `json:"-"`      // the branch was made for the run: only there may it commit
	Apart  bool   `json:"-"`      // it is not the directory of the repository itself
}

// CheckoutOf looks at a directory for a run. The tree is an object of the repository
// afterwards; the index and the files are as they were.
func CheckoutOf(ctx context.Context, dir string, run belay.RunID) (Checkout, error) {
	p, err := find(ctx, "", dir)
	if err != nil {
		return Checkout{}, nil //nolint:nilerr // no repository, or one that git cannot read: there is nothing to say
	}
	c := Checkout{Top: p.top, Own: MadeFor(ctx, dir, run), Apart: p.own != p.all}
	head, branch, sure := p.readHead(p.own)
	if !sure {
		branch, err = p.line(ctx, "branch", "--show-current")
		if err != nil {
			return c, err
		}
		head, _ = p.line(ctx, "rev-parse", "-q", "--verify", "HEAD") // none: no commit yet
	}
	if head != p.zero {
		c.Commit = head
	}
	c.Branch = branch
	now, done, err := p.apart(ctx)
	if err != nil {
		return c, err
	}
	defer done()
	if _, err = now.run(ctx, "add", "-A"); err == nil {
		c.Tree, err = now.line(ctx, "write-tree")
	}
	return c, err
}
