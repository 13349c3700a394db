package receipt

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/story"
)

// Left is what is left of the run, for a person to take, to answer or to clear.
type Left struct {
	Branches   []Branch            `json:"branches"`
	Worktrees  []Place             `json:"worktrees"`
	Held       []Held              `json:"held"`
	Findings   []story.TaskFinding `json:"review_findings,omitempty"` // blocking ones of the review of the work
	Issues     []story.TaskIssue   `json:"issues,omitempty"`          // that the run filed, or added to
	Unfinished []string            `json:"not_finished"`              // steps
	Snapshots  []Snapped           `json:"snapshots"`

	work string // the branch that the agents of a task worked on, beside that of the result
}

// Branch is a branch that has work of a step which is not in the run's tree.
type Branch struct {
	Step   string `json:"step,omitempty"` // "" = of the run
	Branch string `json:"branch"`
	Take   string `json:"take"` // the command that merges it

	NotTaken bool `json:"not_taken,omitempty"` // the run went on without it: its result is on another branch
	Empty    bool `json:"empty,omitempty"`     // nothing is on it
}

// Place is a worktree that is still there.
type Place struct {
	Step   string `json:"step,omitempty"`
	Dir    string `json:"dir"`
	Branch string `json:"branch,omitempty"`
}

// Held is a step that waits for a person.
type Held struct {
	Step   string `json:"step"`
	Ask    string `json:"ask"`
	Answer string `json:"answer"` // the command that answers it
}

// Snapped is a state of the files that is kept under a ref.
type Snapped struct {
	Step      string `json:"step"`
	Ref       string `json:"ref"`
	See       string `json:"see"`
	Before    bool   `json:"before,omitempty"`    // it was there before the step, which took it back
	Committed bool   `json:"committed,omitempty"` // the work of its tree is committed: it is that, or an earlier state of it

	ours bool // nothing is in it but work of the run: of a tree that Belay made, or in which nothing was uncommitted before
}

// onlyOf tells whether all uncommitted work in a tree of the user's is that of the run.
func (c *Changes) onlyOf(dir string) bool {
	return slices.ContainsFunc(c.Trees, func(t Tree) bool { return t.Dir == dir && t.Repo && !t.Own && !t.Before })
}

func (m *maker) left(r *Receipt, changes []story.Change) Left {
	l := Left{Branches: []Branch{}, Worktrees: []Place{}, Held: []Held{}, Unfinished: []string{}, Snapshots: []Snapped{}}
	l.Unfinished = append(l.Unfinished, m.unfinished()...)
	if m.asked != nil {
		l.Findings, l.Issues = m.asked.Findings, m.asked.Issues
	}
	seen := m.sighted(changes)
	for _, t := range m.trees {
		if m.There(t.Dir) {
			l.Worktrees = append(l.Worktrees, Place{t.Step, m.Top(t.Dir), t.Branch})
		}
		if t.Branch != "" && !m.merged(t.Dir) && m.tip(t.Branch) != "" {
			l.Branches = append(l.Branches, Branch{
				Step: t.Step, Branch: t.Branch, Take: m.git(m.repo(), "merge", t.Branch), NotTaken: m.isPart(t.Dir),
				Empty: m.holdsNothing(r, t, seen),
			})
		}
	}
	if m.asked != nil && m.asked.Offered && m.asked.Work != "" && m.tip(m.asked.Work) != "" {
		l.work = m.asked.Work
	}
	for _, q := range m.acc.Asked {
		l.Held = append(l.Held, Held{q.Name(), q.Ask, q.Command().Text(m.Program)})
	}
	kept := m.Kept(m.top)
	for i := range kept {
		c := &kept[i]
		_, ours := m.made(c.Dir)
		ours = ours || r.Changes.onlyOf(c.Dir)
		for _, k := range []Snapped{{Ref: c.Earlier, Before: true}, {Ref: c.Snapshot, Committed: m.isCommitted(r, c), ours: ours}} {
			known := slices.ContainsFunc(l.Snapshots, func(have Snapped) bool { return have.Ref == k.Ref })
			if k.Ref != "" && !known && m.Commit(m.repo(), k.Ref) != "" {
				k.Step, k.See = c.Name(), m.git(m.repo(), "show", "--stat", k.Ref)
				l.Snapshots = append(l.Snapshots, k)
			}
		}
	}
	return l
}

// holdsNothing tells whether a branch has nothing that its base has not: that of the run,
// and that of a workstream where its agents left the commit that they began with.
func (m *maker) holdsNothing(r *Receipt, t story.Worktree, seen []*sighted) bool {
	if m.isPart(t.Dir) {
		return slices.ContainsFunc(seen, func(have *sighted) bool { return have.Dir == t.Dir && have.From == m.tip(t.Branch) })
	}
	return t.Step == "" && r.Changes.looked &&
		!slices.ContainsFunc(r.Changes.Trees, func(have Tree) bool { return have.Dir == t.Dir && have.To != have.From })
}

// isCommitted tells whether the work in the tree of a change is committed, or was
// merged into a tree where it is: what is kept of it is that, or an earlier state.
// What a dropped round did was committed, too, and is told once for all.
func (m *maker) isCommitted(r *Receipt, c *story.Change) bool {
	dir := c.Dir
	switch made, _ := m.made(dir); {
	case !m.isPart(dir):
	case m.merged(dir):
		dir = m.own().Dir
	default: // it was not taken, and is on its own branch
		return m.Holding(m.repo(), c.Before.Head, m.tip(made.Branch), c.After.Tree) != ""
	}
	return m.isDropped(c.Run) || slices.ContainsFunc(r.Changes.Trees, func(t Tree) bool { return t.Dir == dir && t.Settled && !t.Dirty })
}

// merged tells whether the work in a worktree is in the tree of its run.
func (m *maker) merged(dir string) bool {
	for _, p := range m.acc.Steps {
		if m.Dir(p.At()) == dir {
			w := m.Merged(p.At())
			return w != nil && w.Outcome != effect.MergeConflict
		}
	}
	return false
}

// repo is the directory that the run was started in: its repository has all
// branches and refs of the run.
func (m *maker) repo() string { return m.Tree.Started().Dir }

// git is a command in a directory.
func (m *maker) git(dir string, words ...string) string {
	parts := []string{"git", "-C", story.Quote(dir)}
	for _, w := range words {
		parts = append(parts, story.Quote(w))
	}
	return strings.Join(parts, " ")
}

func (m *maker) belay(words ...string) string { return story.Command(words).Text(m.Program) }

// look are the commands that show more, the work itself first.
func (m *maker) look(r *Receipt, changes []story.Change) []Command {
	var list []Command
	for _, t := range r.Changes.Trees {
		switch {
		case !t.Repo || t.From == "":
		case t.Settled && t.Own && m.tip(t.Branch) == t.To && t.To != t.From:
			list = append(list, Command{"the work", m.git(m.repo(), "diff", m.since(t)+t.Branch)})
		case t.Settled && t.To != t.From:
			list = append(list, Command{"the work", m.git(m.repo(), "diff", short(t.From)+".."+short(t.To))})
		case t.Dirty && m.There(t.Dir):
			list = append(list, Command{"the changes in " + t.Dir, m.git(t.Dir, m.dirtyDiff(t, changes)...)})
		}
		if t.Settled && t.Dirty && m.There(t.Dir) {
			list = append(list, Command{"what is not committed", m.git(t.Dir, "status")})
		}
	}
	for _, b := range r.Left.Branches {
		if b.Step != "" && !b.Empty {
			list = append(list, Command{"what is on " + b.Branch, m.git(m.repo(), "log", "--stat", "HEAD.."+b.Branch)})
		}
	}
	if r.Task != nil && r.Task.Dropped != nil && r.Task.Dropped.Branch != "" {
		list = append(list, Command{"the work of later rounds, which does not count", m.git(m.repo(), "log", "--stat", short(r.Task.Commit)+".."+r.Task.Dropped.Branch)})
	}
	if r.UserCheckout.Warns() {
		for _, c := range r.UserCheckout.Look() {
			list = append(list, Command{"what changed in " + r.UserCheckout.Dir + " itself", c})
		}
	}
	run := string(m.top)
	list = append(list,
		Command{"every step", m.belay("show", run)},
		Command{"what happened, on one page", m.belay("why", run)})
	if m.Lies {
		return list
	}
	return append(list, Command{"whether the recorded checks still pass", m.belay("receipt", run, "--check")})
}

// since is what the work of a branch is compared with: the branch that it began
// on, while that is where it was.
func (m *maker) since(t Tree) string {
	if now := m.State(m.repo()); now.Branch != "" && now.Head == t.From {
		return now.Branch + ".."
	}
	return short(t.From) + ".."
}

// dirtyDiff shows uncommitted work; a snapshot has the new files, too. One of a round
// whose files were taken back is of other files.
func (m *maker) dirtyDiff(t Tree, changes []story.Change) []string {
	to := []string{"diff", "--stat", t.From}
	for i := range changes {
		if c := &changes[i]; c.Dir == t.Dir && c.Snapshot != "" && !m.isDropped(c.Run) {
			to = []string{"diff", "--stat", t.From, c.Snapshot}
		}
	}
	return to
}

func short(commit string) string { return commit[:min(len(commit), 12)] }

// take are the commands that take the work, where no branch of Belay's is there to
// be merged: it was pushed, or it is checked out in the user's own tree.
func (m *maker) take(r *Receipt) []Command {
	var list []Command
	for _, t := range r.Changes.Trees {
		switch {
		case t.Own && m.tip(t.Branch) == "" && slices.Contains(r.Changes.Remote, "origin "+t.Branch):
			list = append(list, Command{takeWork, m.git(m.repo(), "merge", "origin/"+t.Branch)})
		case t.moved() && m.State(t.Dir).Branch == t.Branch:
			list = append(list, Command{"switch back to the branch from before the run", m.git(t.Dir, "switch", t.Was)},
				Command{takeWork, m.git(t.Dir, "merge", t.Branch)})
		}
	}
	return list
}

const takeWork = "merge the work of the run"

// moved tells whether the work is on another branch than the user's tree was on.
func (t *Tree) moved() bool {
	return !t.Own && t.Settled && t.Was != "" && t.Branch != "" && t.Branch != t.Was
}

// goOn are the commands that move the run, and those that take its work.
func (m *maker) goOn() []Command {
	list := []Command{}
	if m.Lies {
		return list
	}
	for _, c := range m.acc.Next.Commands {
		if m.Typed != nil {
			c = m.Typed(c)
		}
		list = append(list, Command{string(m.acc.Next.Advice), c.Text(m.Program)})
	}
	return list
}

// undo are the commands that take the work back, the first first.
func (m *maker) undo(r *Receipt, changes []story.Change) (list []Command, no []string) {
	list = []Command{}
	for _, pr := range r.Changes.PRs {
		list = append(list, Command{"close the pull request", "gh pr close " + story.Quote(pr)})
	}
	for _, to := range r.Changes.Remote {
		remote, branch, _ := strings.Cut(to, " ")
		list = append(list, Command{"delete the branch at " + remote, m.git(m.repo(), "push", remote, "--delete", branch)})
	}
	for _, t := range r.Changes.Trees {
		switch {
		case t.Own:
		case !t.Repo:
			no = append(no, t.Dir+" is not a git repository: the old content of changed files is not kept")
		default:
			list, no = m.undoTree(t, list, no)
		}
	}
	list = append(list, m.broughtBack(changes)...)
	for _, w := range r.Changes.Merges {
		if m.own() != nil {
			break // it is on the branch of the run
		}
		if len(w.Commits) == 0 {
			no = append(no, w.Step+" was merged as uncommitted changes of "+readable.Many(w.Files, "file")+": see them with "+m.git(m.mergedInto(w.Step), "status"))
			continue
		}
		back := slices.Clone(w.Commits)
		slices.Reverse(back)
		list = append(list, Command{"revert the merged commits of " + w.Step, m.git(m.mergedInto(w.Step), append([]string{"revert", "--no-edit"}, back...)...)})
	}
	for _, p := range r.Left.Worktrees {
		list = append(list, Command{"remove the worktree, and everything that exists only in it", m.git(m.repo(), "worktree", "remove", "--force", p.Dir)})
	}
	for _, b := range r.Left.Branches {
		list = append(list, Command{"delete the branch, and everything that exists only on it", m.git(m.repo(), "branch", "-D", b.Branch)})
	}
	if r.Left.work != "" {
		list = append(list, Command{"delete the branch that agents worked on, and everything that exists only on it", m.git(m.repo(), "branch", "-D", r.Left.work)})
	}
	if refs := m.keptRefs(r); len(refs) > 0 {
		list = append(list, Command{"delete the copies that Belay keeps of the work", "printf 'delete %s\\n' " + strings.Join(refs, " ") + " | " + m.git(m.repo(), "update-ref", "--stdin")})
	}
	return list, no
}

// keptRefs are the refs that hold work of the run's agents and nothing else.
func (m *maker) keptRefs(r *Receipt) []string {
	var refs []string
	for _, s := range r.Left.Snapshots {
		if !s.Before && (s.Committed || s.ours) {
			refs = append(refs, story.Quote(s.Ref))
		}
	}
	return refs
}

// undoTree takes back what was done in a tree that is the user's own.
func (m *maker) undoTree(t Tree, list []Command, no []string) ([]Command, []string) {
	switch {
	case t.Dirty && t.Before:
		no = append(no, "uncommitted work was in "+t.Dir+" before the run: no command can separate it from the work of the agents; look at it with git diff")
	case t.Dirty && t.From == "":
		no = append(no, t.Dir+" has no commit: there is no earlier state to go back to; look at the files with git status")
	case t.Dirty:
		list = append(list, Command{"stash uncommitted work, also your own in that directory (git stash pop brings it back)", m.git(t.Dir, "stash", "push", "--include-untracked")})
	}
	now := m.State(t.Dir)
	switch {
	case t.From == "" || t.To == t.From:
	case t.moved() && now.Branch == t.Branch && now.Head == t.To && !t.Before:
		list = append(list,
			Command{"switch back to the branch from before the run", m.git(t.Dir, "switch", t.Was)},
			Command{"delete the branch, and everything that exists only on it", m.git(t.Dir, "branch", "-D", t.Branch)})
	default:
		list = append(list, Command{"revert the commits of the run", m.git(t.Dir, "revert", "--no-edit", t.From+".."+t.To)})
	}
	return list, no
}

// mergedHome is the tree that the work in a worktree came to.
func (m *maker) mergedHome(dir string) string {
	for _, p := range m.acc.Steps {
		if m.Dir(p.At()) == dir {
			return m.Tree.Run(p.Run).Base()
		}
	}
	return ""
}

// mergedInto is the tree that the work of a step came to.
func (m *maker) mergedInto(step string) string {
	for _, p := range m.acc.Steps {
		if p.At().Name() == step {
			return filepath.Clean(m.Tree.Run(p.Run).Base())
		}
	}
	return m.repo()
}
