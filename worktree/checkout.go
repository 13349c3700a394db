package worktree

import (
	"context"
	"errors"
	"strings"

	"github.com/belay-run/belay"
)

// Checkout is what stands in a directory.
type Checkout struct {
	Top    string `json:"top"`    // of the work tree; "" = it is in none
	Branch string `json:"branch"` // "" = none is checked out
	Commit string `json:"commit"` // "" = there is none yet
	Tree   string `json:"tree"`   // all files as they are now, whatever of them is committed
	Own    bool   `json:"-"`      // the worktree was made for the run: only there may it commit
	Apart  bool   `json:"-"`      // it is not the directory of the repository itself
}

// CheckoutOf looks at a directory for a run. The tree is an object of the repository
// afterwards; the index and the files are as they were.
func CheckoutOf(ctx context.Context, dir string, run belay.RunID) (Checkout, error) {
	p, err := find(ctx, "", dir)
	if err != nil {
		return Checkout{}, nil //nolint:nilerr // no repository, or one that git cannot read: there is nothing to say
	}
	c, err := p.checkout(ctx)
	h, _, _ := p.home(ctx, run) // nobody knows: then it is not the run's
	c.Own = h.Branch != ""
	return c, err
}

// HeadOf is the commit that is checked out in a directory; "" = none, or nobody knows.
func HeadOf(ctx context.Context, dir string) string {
	p, err := find(ctx, "", dir)
	if err != nil {
		return ""
	}
	c, _ := p.standsAt(ctx) // nothing is known
	return c.Commit
}

// checkout looks at what is checked out.
func (p place) checkout(ctx context.Context) (Checkout, error) {
	c, err := p.standsAt(ctx)
	if err == nil {
		c.Tree, err = p.treeNow(ctx)
	}
	return c, err
}

// standsAt looks at the branch and the commit that are checked out.
func (p place) standsAt(ctx context.Context) (c Checkout, err error) {
	c = Checkout{Top: p.top, Apart: p.own != p.all}
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
	return c, nil
}

// treeNow is the tree of all files as they are.
func (p place) treeNow(ctx context.Context) (string, error) {
	now, done, err := p.apart(ctx)
	if err != nil {
		return "", err
	}
	defer done()
	if _, err := now.addAll(ctx); err != nil {
		return "", err
	}
	return now.line(ctx, "write-tree")
}

// addAll puts all files of the tree of a folder into its index, whatever flags tell git to
// look away, but those of a repository inside that has no commit: git has nothing to put
// there for it. It gives the folders of these, from the top of the tree.
func (p place) addAll(ctx context.Context) (left []string, err error) {
	_, err = p.run(ctx, "add", "-A", "--sparse", "--ignore-errors")
	var some *GitError
	if err == nil || !errors.As(err, &some) || some.Code != 1 {
		return nil, err
	}
	out, also := p.run(ctx, "ls-files", "--others", "--modified", "--exclude-standard", "-z")
	if also != nil {
		return nil, errors.Join(err, also)
	}
	left = records(out)
	for _, path := range left {
		if !strings.HasSuffix(path, "/") {
			return nil, err // a file that cannot be read
		}
	}
	return left, nil
}
