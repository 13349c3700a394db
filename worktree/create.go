package worktree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/branchname"
	"github.com/belay-run/belay/internal/failpoint"
)

// maxNames is how many names are tried for a branch.
const maxNames = 20

// Options say what worktree is wanted. Run and Step name it: asking again gives
// the same one.
type Options struct {
	Run    belay.RunID
	Step   belay.Path // "" = one for the whole run
	Branch string     // the name that the branch shall have, if it is free
	Base   string     // where it begins; "" = HEAD
	Root   string     // the folder to make it in
	Apart  bool       // it is worked on with a branch of its own, as Private has it
	Git    string     // the program; "" = git

	From    From     // FromState: at the files as they are, not at Base
	Skip    []string // with FromState: files and folders that are not looked at, as in Tree
	Include Include  // ignored files to copy in

	Secret func(io.Reader) bool `json:"-"` // with FromState, as in Tree: such files are copied in, and in no commit
}

// From is the closed list of states that a worktree can begin at.
type From string

const (
	FromHead  From = ""      // a commit: what is not committed is not in it
	FromState From = "state" // the files as they are: changed, staged and untracked ones too, ignored ones not
)

// Base is the state that a worktree began at: what its work is measured from
// when it is merged.
type Base struct {
	Tree   string `json:"tree"`             // of the files, as in a print
	Commit string `json:"commit"`           // HEAD of the worktree then
	Head   string `json:"head"`             // the commit that the files stand on: what differs from it is not committed
	Branch string `json:"branch,omitempty"` // that was checked out; "" = detached
	Clean  bool   `json:"clean,omitempty"`  // nothing was uncommitted
	Staged string `json:"staged,omitempty"` // the tree of what was staged; "" = nothing was uncommitted
	Stand  string `json:"stand,omitempty"`  // after a conflict: the tree that the step's own work began at
}

// Made is a worktree that exists.
type Made struct {
	Repo   string // the folder it was asked for from
	Path   string
	Branch string
	Start  string // the commit it began at
	Base   Base   // of one with FromState
	Run    belay.RunID
	Step   belay.Path
	New    bool   // it was not there before
	Left   string // files to include that were not copied, and why; only of a new one
	Result bool   // to be removed: its branch is what the user takes
	Local  bool   // and nobody was to push it: that a remote has its commits is no reason to remove it
}

// Create gives a run or a step a worktree with a branch of its own. What was
// made before, wholly or in part, is found again and completed; a branch that
// somebody else has is never used.
func Create(ctx context.Context, repo string, o Options) (Made, error) {
	m, err := create(ctx, repo, o)
	if err == nil && o.Apart {
		_, err = private(ctx, m.Path, o.Run)
	}
	if err != nil {
		return Made{}, fmt.Errorf("make worktree: %w", err)
	}
	return m, nil
}

func create(ctx context.Context, repo string, o Options) (Made, error) {
	g := git{program: o.Git, dir: repo}
	if o.Run == "" || o.Root == "" {
		return Made{}, errors.New("it needs a run and a root")
	}
	common, err := g.common(ctx)
	if err != nil {
		return Made{}, err
	}
	release, err := lock(ctx, common)
	if err != nil {
		return Made{}, err
	}
	defer release()
	b := builder{git: g, o: o}
	if err := b.claim(ctx); err != nil {
		return Made{}, err
	}
	fresh, err := b.settle(ctx)
	if err != nil {
		return Made{}, err
	}
	return Made{Repo: repo, Path: b.own.Path, Branch: b.own.home(b.name).Branch, Start: b.own.Start, Base: b.own.base(), Run: o.Run, Step: o.Step, New: fresh, Left: strings.Join(b.left, "; ")}, nil
}

// builder makes one worktree, under the repository's lock.
type builder struct {
	git
	o    Options
	name string // the branch
	own  owner
	last error // why the last branch could not be made
	left []string
}

// claim finds the branch that is ours, or makes one: the mark first.
func (b *builder) claim(ctx context.Context) error {
	marks, err := b.owners(ctx)
	if err != nil {
		return err
	}
	if name, ours := markOf(marks, b.o.Run, b.o.Step); ours {
		b.name, b.own = name, marks[name]
		if err := b.putBack(ctx, marks); err != nil {
			return err
		}
		if ok, err := b.grow(ctx); ok || err != nil {
			return err
		}
	}
	b.own = owner{Run: b.o.Run, Step: b.o.Step}
	if err := b.begin(ctx); err != nil {
		return err
	}
	if err := b.covers(ctx); err != nil {
		return err
	}
	if b.own.Path, err = folder(b.o); err != nil {
		return err
	}
	names, err := b.names(ctx)
	if err != nil {
		return err
	}
	for _, b.name = range names {
		if tip, err := b.tip(ctx, b.name); err != nil {
			return err
		} else if _, ours := marks[b.name]; tip != "" || ours {
			continue
		}
		if err := b.mark(ctx, b.name, b.own); err != nil {
			return err
		}
		if ok, err := b.grow(ctx); ok || err != nil {
			return err
		}
	}
	return errors.Join(fmt.Errorf("branch %s and %d names like it are taken", b.o.Branch, len(names)-1), b.last)
}

// grow makes the branch of the mark, unless it is there. A branch that is there
// but is not as we would have made it is somebody else's: then the mark goes.
func (b *builder) grow(ctx context.Context) (bool, error) {
	tip, err := b.tip(ctx, b.name)
	if err != nil {
		return false, err
	}
	if tip == "" {
		cause := b.patient(ctx, "update-ref", "-m", "belay: made for run "+string(b.o.Run), "--end-of-options",
			"refs/heads/"+b.name, b.own.Start, strings.Repeat("0", len(b.own.Start)))
		if tip, err = b.tip(ctx, b.name); err != nil {
			return false, err
		}
		b.last = cause
		if tip == "" && b.own.Ready {
			return false, cause
		}
	}
	if tip == b.own.Start || b.own.Ready && tip != "" {
		return true, nil
	}
	return false, b.unmark(ctx, b.name)
}

// start is the commit that the branch begins at.
func (b *builder) start(ctx context.Context) (string, error) {
	rev := b.o.Base
	if rev == "" {
		rev = "HEAD"
	}
	if p, err := find(ctx, b.program, b.dir); err == nil {
		if id, sure := p.readCommit(rev); sure && id != "" {
			return id, nil
		}
	}
	id, err := b.line(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", rev+"^{commit}")
	if err != nil {
		return "", fmt.Errorf("%s is no commit: %w", rev, err)
	}
	return id, nil
}

// covers looks whether the folder that the worktree is asked for from will be
// in it: only what is committed is.
func (b *builder) covers(ctx context.Context) error {
	below, err := Prefix(ctx, b.dir)
	if err != nil || below == "" || b.o.From == FromState { // what is missing there is made
		return err
	}
	kind, err := b.line(ctx, "cat-file", "-t", b.own.Start+":"+below)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil || kind != "tree" {
		return fmt.Errorf("the directory %s is not in commit %.12s, which the worktree would begin at: commit something in it, or start in another one", below, b.own.Start)
	}
	return nil
}

// names are the names to try. Where a branch is called as a folder of the name
// would have to be, no name in that folder can be had: hyphens stand for its slashes.
func (b *builder) names(ctx context.Context) ([]string, error) {
	name := b.o.Branch
	if !plainName(name) {
		if err := checkBranch(ctx, b.git, name); err != nil {
			return nil, err
		}
	}
	for i, c := range name {
		if c != '/' {
			continue
		}
		tip, err := b.tip(ctx, name[:i])
		if err != nil {
			return nil, err
		}
		if tip != "" {
			name = strings.ReplaceAll(name, "/", "-")
			break
		}
	}
	list := []string{name}
	for n := 2; n <= maxNames; n++ {
		list = append(list, name+"-"+strconv.Itoa(n))
	}
	if p, err := find(ctx, b.program, b.dir); err == nil {
		list = slices.DeleteFunc(list, func(name string) bool { return p.remote(name) || p.shadowed(name) })
	}
	return append(list, name+"-"+string(b.o.Run.Root())), nil // nobody else has that
}

// remote tells whether a remote is known to have a branch of that name: what is
// published later must not go there.
func (p place) remote(name string) bool { return p.hasRef("refs/remotes/*/" + name) } // what is not seen, the push finds out

// shadowed tells whether git would take something else where a branch of that name is
// meant: a tag, or another ref that it looks for before the branches.
func (p place) shadowed(name string) bool {
	return p.hasRef(name) || p.hasRef("refs/"+name) || p.hasRef("refs/tags/"+name)
}

// hasRef tells whether a ref is seen in the files of the repository. A name has no signs of
// a pattern; a star stands for one folder.
func (p place) hasRef(like string) bool {
	if !p.plainRefs() {
		return false
	}
	if loose, _ := fs.Glob(os.DirFS(p.all), like); len(loose) > 0 {
		return true
	}
	b, _ := os.ReadFile(filepath.Join(p.all, "packed-refs")) // none: nothing is packed
	for line := range strings.Lines(string(b)) {
		_, ref, _ := strings.Cut(strings.TrimSpace(line), " ")
		if same, err := path.Match(like, ref); same && err == nil {
			return true
		}
	}
	return false
}

// folder is where the worktree goes: a readable name, and a digest that keeps
// different steps apart.
func folder(o Options) (string, error) {
	if err := os.MkdirAll(o.Root, 0o700); err != nil {
		return "", err
	}
	root, err := realPath(o.Root)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(string(o.Run) + "\x00" + string(o.Step)))
	name := strings.Trim(branchname.Slug(string(o.Step)), "-._")
	if name == "" {
		name = "tree"
	}
	return filepath.Join(root, name+"-"+hex.EncodeToString(sum[:4])), nil
}

// settle makes the folder of the worktree what it should be, and tells whether
// it had to be made.
func (b *builder) settle(ctx context.Context) (bool, error) {
	list, err := b.worktrees(ctx)
	if err != nil {
		return false, err
	}
	if _, taken := elsewhere(list, b.name, b.own.Path); taken {
		return false, &Unsafe{Path: b.own.Path, Branch: b.name, Why: []Reason{ReasonElsewhere}}
	}
	_, known := at(list, b.own.Path)
	there := exists(b.own.Path)
	if b.own.Ready && there {
		return false, b.mend(ctx, known)
	}
	// here nothing can be lost: the folder is gone, or was never handed out
	if known {
		if err := b.patient(ctx, "worktree", "remove", "--force", "--force", b.own.Path); err != nil && !there {
			return false, err
		}
	}
	if err := os.RemoveAll(b.own.Path); err != nil {
		return false, fmt.Errorf("clear what was begun: %w", err)
	}
	if err := b.add(ctx); err != nil {
		return false, err
	}
	failpoint.Hit("worktree.before_include")
	if err := b.furnish(ctx); err != nil {
		return false, err
	}
	failpoint.Hit("worktree.before_ready")
	b.own.Ready = true
	return true, b.mark(ctx, b.name, b.own)
}

// add makes the worktree. A try that failed may have left the beginnings of one.
func (b *builder) add(ctx context.Context) error {
	if err := b.patient(ctx, "worktree", "add", "--force", b.own.Path, b.name); err != nil {
		return err
	}
	if _, err := find(ctx, b.program, b.own.Path); err != nil {
		return err
	}
	return nil
}

// mend checks a worktree that was handed out before. Its files are never
// touched.
func (b *builder) mend(ctx context.Context, known bool) error {
	if known {
		if own, err := find(ctx, b.program, b.own.Path); err == nil && own.top == b.own.Path {
			return nil
		}
		if err := b.patient(ctx, "worktree", "repair", b.own.Path); err != nil {
			return err
		}
		if own, err := find(ctx, b.program, b.own.Path); err == nil && own.top == b.own.Path {
			return nil
		}
	}
	return &Unsafe{Path: b.own.Path, Branch: b.name, Why: []Reason{ReasonForeign}}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
