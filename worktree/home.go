package worktree

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/branchname"
)

// workRoot begins the names of the branches that agents work on in runs whose result is
// offered at the end.
const workRoot = "belay-work/"

// Home is a worktree that was made for a run, or for one of its steps.
type Home struct {
	Branch string `json:"branch"` // that the user is offered
	Work   string `json:"work"`   // that is worked on; the same, unless the result is offered at the end
	Start  string `json:"start"`  // the commit that it began at
	Path   string `json:"path"`   // its top
}

// HomeOf is the worktree that a directory is in, if it was made for the run: only there
// may the run commit. What is checked out there says nothing: agents change that.
func HomeOf(ctx context.Context, dir string, run belay.RunID) (Home, bool) {
	p, err := find(ctx, "", dir)
	if err != nil {
		return Home{}, false
	}
	h, _, err := p.home(ctx, run)
	return h, err == nil && h.Branch != ""
}

// home is the worktree with its mark; one without a branch is none of the run.
func (p place) home(ctx context.Context, run belay.RunID) (h Home, found owner, err error) {
	marks, err := p.owners(ctx)
	for branch, own := range marks {
		if own.Path == p.top && own.Run.Root() == run.Root() && (h.Branch == "" || own.Offer != "") { // as markOf
			h, found = own.home(branch), own
		}
	}
	return h, found, err
}

func (o owner) home(branch string) Home {
	h := Home{Branch: branch, Work: branch, Start: o.Start, Path: o.Path}
	if o.Offer != "" {
		h.Branch = o.Offer
	}
	return h
}

// branches are all that belong to a mark, the one of the result first.
func (o owner) branches(branch string) []string {
	if o.Offer == "" {
		return []string{branch}
	}
	return []string{o.Offer, branch}
}

// offers tells whether the branch of the result can be one that was made for a worktree whose
// branch had that name; "" = nobody knows which.
func (o owner) offers(made string) bool {
	flat := strings.ReplaceAll(made, "/", "-")
	if _, rest := splitPrefix(o.Offer); strings.HasPrefix(rest, "issue-") { // it was named for an issue that came later
		_, was := splitPrefix(made)
		number, title, _ := strings.Cut(strings.TrimPrefix(rest, "issue-"), "-")
		if n, err := strconv.Atoi(number); err == nil && n > 0 && (title == was || strings.HasPrefix(title, was+"-") || strings.HasPrefix(title, "task")) {
			return true
		}
	}
	return made == "" || o.Offer == "" || o.Offer == made || strings.HasPrefix(o.Offer, made+"-") || o.Offer == flat || strings.HasPrefix(o.Offer, flat+"-")
}

// errNoHome is given for a directory that is in no worktree of the run.
var errNoHome = errors.New("it is in no worktree that was made for this run")

// Private has the worktree of a run worked on with a branch of its own. The branch that
// the user is offered stays where it began, until Offer puts it at the result. Doing it
// again changes nothing.
func Private(ctx context.Context, dir string, run belay.RunID) (Home, error) {
	h, err := private(ctx, dir, run)
	if err != nil {
		return h, fmt.Errorf("make a branch to work on: %w", err)
	}
	return h, nil
}

func private(ctx context.Context, dir string, run belay.RunID) (Home, error) {
	p, err := find(ctx, "", dir)
	if err != nil {
		return Home{}, err
	}
	release, err := lock(ctx, p.all)
	if err != nil {
		return Home{}, err
	}
	defer release()
	h, own, err := p.home(ctx, run)
	if err == nil && h.Branch == "" {
		err = errNoHome
	}
	if err != nil {
		return h, err
	}
	c, err := p.standsAt(ctx)
	if err != nil || own.Offer != "" && c.Branch == h.Work {
		return h, err
	}
	tip := ""
	if own.Offer != "" {
		tip, err = p.tip(ctx, h.Work)
	}
	if err == nil && (own.Offer == "" || tip != "" && tip != c.Commit) { // else somebody was quicker
		old := h.Work
		own.Offer, tip = h.Branch, ""
		if h.Work, err = p.freeWork(ctx, run); err == nil {
			err = p.mark(ctx, h.Work, own)
		}
		if err == nil && old != h.Branch {
			err = p.unmark(ctx, old)
		}
	}
	if err != nil {
		return h, err
	}
	why := "belay: worked on by run " + string(run)
	if tip == "" {
		if err := p.patient(ctx, "update-ref", "-m", why, "--end-of-options", "refs/heads/"+h.Work, c.Commit, p.zero); err != nil {
			return h, err
		}
	}
	if err := p.patient(ctx, "symbolic-ref", "-m", why, "HEAD", "refs/heads/"+h.Work); err != nil {
		return h, err
	}
	// whoever was there before the work had no work to commit
	if tip, err := p.tip(ctx, h.Branch); err == nil && tip != "" && tip != own.Start {
		_ = p.patient(ctx, "update-ref", "--end-of-options", "refs/heads/"+h.Branch, own.Start, tip) // Offer sees it, too
	}
	return h, p.unmark(ctx, h.Branch)
}

// freeWork is a name for the branch that a run works on which nobody has.
func (p place) freeWork(ctx context.Context, run belay.RunID) (string, error) {
	base := workRoot + refPart(string(run.Root()))
	if tip, err := p.tip(ctx, strings.TrimSuffix(workRoot, "/")); err != nil {
		return "", err
	} else if tip != "" { // where a branch is, there is no folder of branches
		base = strings.ReplaceAll(base, "/", "-")
	}
	name := base
	for n := 2; n <= maxNames; n++ {
		tip, err := p.tip(ctx, name)
		if err != nil || tip == "" {
			return name, err
		}
		name = base + "-" + strconv.Itoa(n)
	}
	return "", fmt.Errorf("branch %s and %d names like it are taken", base, maxNames-1)
}

// Offer puts the branch of a run at exactly the commit that was judged, and gives its name. A
// branch of that name that stands anywhere but where it began, or that somebody checked
// out, is theirs: then the result has another name. Doing it again, or after a crash, gives
// the same. given is the worktree as it was made; nil = as its mark says, which agents can
// change. A branch that was made before there was an issue is named for it now; 0 = there
// is none.
func Offer(ctx context.Context, dir string, run belay.RunID, given *Home, commit string, issue int) (string, error) {
	name, err := offer(ctx, dir, run, given, commit, issue)
	if err != nil {
		return "", fmt.Errorf("make the branch of the result: %w", err)
	}
	return name, nil
}

func offer(ctx context.Context, dir string, run belay.RunID, given *Home, commit string, issue int) (string, error) {
	p, err := find(ctx, "", dir)
	if err != nil {
		return "", err
	}
	release, err := lock(ctx, p.all)
	if err != nil {
		return "", err
	}
	defer release()
	h, err := p.homeAs(ctx, run, given)
	if err != nil {
		return "", err
	}
	list, err := p.worktrees(ctx)
	if err != nil {
		return "", err
	}
	want := ForIssue(h.Branch, issue, run)
	if want == h.Branch {
		if done, err := p.offerOn(ctx, want, h, commit, list); done || err != nil {
			return want, err
		}
	}
	b := builder{git: p.git, o: Options{Run: run, Branch: want}}
	names, err := b.names(ctx)
	if err != nil {
		return "", err
	}
	for _, name := range names {
		if tip, err := p.tip(ctx, name); err != nil || tip != "" && tip != commit {
			if err != nil {
				return "", err
			}
			continue
		}
		if err := p.remark(ctx, run, h.Work, name); err != nil {
			return "", err
		}
		done, err := p.offerOn(ctx, name, h, commit, list)
		if done && err == nil && want != h.Branch {
			p.dropEmpty(ctx, h, list)
		}
		if done || err != nil {
			return name, err
		}
	}
	return "", fmt.Errorf("branch %s and %d names like it are taken", want, len(names)-1)
}

// ForIssue is the name of a branch of a run with the number of an issue in it; 0 = there is
// none.
func ForIssue(branch string, issue int, run belay.RunID) string {
	prefix, rest := splitPrefix(branch)
	switch {
	case issue <= 0 || prefix == "" || strings.HasPrefix(rest, "issue-"):
		return branch
	case prefix+"/"+rest == branchname.Fallback(prefix, 0, string(run)):
		return branchname.Fallback(prefix, issue, string(run))
	}
	return branchname.Of(rest, prefix, issue, string(run))
}

// splitPrefix is what the name of a branch of Belay begins with, and the rest. Where a
// branch has the name of the prefix a hyphen is between them.
func splitPrefix(branch string) (prefix, rest string) {
	const own = "belay"
	rest, ok := strings.CutPrefix(branch, own)
	if !ok || rest == "" || rest[0] != '/' && rest[0] != '-' {
		return "", branch
	}
	return own, rest[1:]
}

// dropEmpty removes the branch that was made for the result and is not needed: it stands
// where it began, and nobody checked it out. It is of no use and harms nobody.
func (p place) dropEmpty(ctx context.Context, h Home, list []linked) {
	if _, taken := elsewhere(list, h.Branch, ""); !taken && h.Branch != h.Work && h.Start != "" {
		_ = p.patient(ctx, "update-ref", "-d", "--end-of-options", "refs/heads/"+h.Branch, h.Start) // it stays where it is anywhere else
	}
}

// homeAs is the worktree of a run as it was made.
func (p place) homeAs(ctx context.Context, run belay.RunID, given *Home) (Home, error) {
	if given != nil && given.Work != "" {
		if given.Path != p.top {
			return Home{}, errNoHome
		}
		return *given, nil
	}
	h, _, err := p.home(ctx, run)
	if err == nil && h.Branch == "" {
		err = errNoHome
	}
	return h, err
}

// remark writes down which branch has the result, where the mark of the one that is worked
// on is there yet.
func (p place) remark(ctx context.Context, run belay.RunID, work, name string) error {
	marks, err := p.owners(ctx)
	own, ok := marks[work]
	if err != nil || !ok || own.Run.Root() != run.Root() || own.Offer == "" {
		return err
	}
	own.Offer = name
	return p.mark(ctx, work, own)
}

// offerOn puts a branch at the result that is where it began, or is not there, or has
// exactly the result already. One that is only made for it must not be there.
func (p place) offerOn(ctx context.Context, name string, h Home, commit string, list []linked) (bool, error) {
	if p.shadowed(name) { // who merges that name would get something else
		return false, nil
	}
	tip, err := p.tip(ctx, name)
	if err != nil || tip == commit {
		return err == nil, err
	}
	if tip != "" && (name != h.Branch || tip != h.Start) {
		return false, nil
	}
	if _, taken := elsewhere(list, name, ""); taken {
		return false, nil
	}
	was := tip
	if was == "" {
		was = p.zero
	}
	return true, p.patient(ctx, "update-ref", "-m", "belay: the result", "--end-of-options", "refs/heads/"+name, commit, was)
}

// After is what is in the worktree of a run beside a commit that was judged, as the
// command that shows it; "" = nothing is.
func After(ctx context.Context, dir, commit string) (string, error) {
	p, err := find(ctx, "", dir)
	if err != nil {
		return "", fmt.Errorf("look at the worktree: %w", err)
	}
	c, err := p.standsAt(ctx)
	if err == nil && c.Commit != commit {
		return "diff " + commit[:min(12, len(commit))], nil
	}
	dirty := false
	if err == nil {
		dirty, err = p.besides(ctx)
	}
	if err != nil {
		return "", fmt.Errorf("look at the worktree: %w", err)
	}
	if dirty {
		return "status", nil
	}
	return "", nil
}

// pushed are the branches of remotes that have commits of the work, as far as git here
// knows: those that have what is between two commits.
func (p place) pushed(ctx context.Context, from, to string) ([]string, error) {
	if refs, sure := p.readRefs("refs/remotes"); sure && len(refs) == 0 || from == to {
		return nil, nil
	}
	out, err := p.run(ctx, "for-each-ref", "--merged="+to, "--no-merged="+from, "--format=%(refname:lstrip=2)", "refs/remotes")
	return strings.Fields(out), err
}
