package receipt

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/story"
	"github.com/belay-run/belay/worktree"
)

// Changes is what the run leaves: of a tree whose work is committed, what its
// branch has over the commit that the run began at, whoever made the commits.
// Elsewhere what Belay saw of the work of agents: there the numbers are sums, and
// lines that two of them wrote count twice.
type Changes struct {
	Files   int        `json:"files"` // how many different ones
	Added   int        `json:"added"`
	Deleted int        `json:"deleted"`
	List    []File     `json:"list"` // the first of each agent, or of the branch
	Trees   []Tree     `json:"trees"`
	Commits []string   `json:"commits"`
	PRs     []string   `json:"pull_requests"`
	Pushed  bool       `json:"pushed"`              // as far as Belay saw: by a step, a pull request, or an agent's git push
	Remote  []string   `json:"pushed_to,omitempty"` // what Belay's own steps pushed: remote and branch
	Merges  []MergedIn `json:"merges"`
	Outside []string   `json:"outside,omitempty"`     // files outside the trees
	Trouble []string   `json:"trouble,omitempty"`     // why a look was not complete
	Blind   []string   `json:"not_counted,omitempty"` // directories in no git repository: something changed there, and nobody counted files or lines
	Unasked []Unasked  `json:"unasked,omitempty"`     // steps that were to give an answer alone, and changed files
	Unseen  []string   `json:"unseen,omitempty"`      // steps whose agents worked where nobody looked before or afterwards

	Apart []string `json:"apart,omitempty"` // worktrees, or branches, of workstreams whose work is not in the result

	looked  bool // at the tree of the run
	unnamed bool // an agent changed more files than are named
}

// File is a changed file.
type File struct {
	Path    string           `json:"path"`
	Change  belay.ChangeKind `json:"change"` // "" = not known
	Added   int              `json:"added"`
	Deleted int              `json:"deleted"`
	Steps   []string         `json:"steps"`

	Uncounted bool `json:"lines_not_counted,omitempty"` // it is in no repository: nobody saw its lines, or whose change it is
}

// Tree is a working tree in which something changed, as it was seen last.
type Tree struct {
	Dir     string `json:"dir"`
	Repo    bool   `json:"repo"`
	Branch  string `json:"branch,omitempty"`
	From    string `json:"from,omitempty"` // the commit before the first agent
	To      string `json:"to,omitempty"`   // and the last one of the work
	Dirty   bool   `json:"dirty"`          // there is uncommitted work
	Before  bool   `json:"dirty_before"`   // and was before the first agent
	Own     bool   `json:"own"`            // it was made for a step, or for the run
	Settled bool   `json:"settled"`        // the numbers are those of the commits
	Was     string `json:"branch_before,omitempty"`
}

// MergedIn is the work of a step that was brought back from its worktree.
type MergedIn struct {
	Step string `json:"step"`
	effect.Merged
}

// Judging is a step whose agents changed files that the work is judged by.
type Judging struct {
	Step  string             `json:"step"` // "" = no agent was seen to do it
	Files []belay.FileChange `json:"files"`
}

// sighted is a tree with what agents were seen to do there.
type sighted struct {
	Tree
	last belay.TreeState // as the last agent left it
	seen []*story.Change
}

func (m *maker) changes(all []story.Change) (Changes, []Judging) {
	c := Changes{List: []File{}, Trees: []Tree{}, Commits: []string{}, PRs: []string{}, Merges: []MergedIn{}}
	judged := []Judging{}
	unnamed := 0
	for _, t := range m.sighted(all) {
		for _, ch := range t.seen {
			c.beside(ch)
		}
		if m.isPart(t.Dir) { // what of it counts is in the tree of the run
			if made, _ := m.made(t.Dir); len(t.seen) > 0 && !m.merged(t.Dir) {
				where := t.Dir
				if !m.There(t.Dir) {
					where = "branch " + made.Branch
				}
				add(&c.Apart, where)
				slices.Sort(c.Apart)
			}
			continue
		}
		if r, ok := m.settle(t); ok {
			c.looked = true
			judged = append(judged, c.settled(t, r, m.standing(all))...)
			unnamed += r.Files - len(r.List)
			unnamed += c.swept(t)
			continue
		}
		t.seen = slices.DeleteFunc(t.seen, func(ch *story.Change) bool { return story.RolledBack(m.View(ch.Place)) })
		for _, ch := range t.seen {
			if m.isDropped(ch.Run) {
				continue
			}
			c.see(ch)
			unnamed += max(0, ch.Files-len(ch.Changed))
			if len(ch.Guards) > 0 {
				judged = append(judged, Judging{ch.Name(), ch.Guards})
			}
		}
		if len(t.seen) > 0 {
			c.Trees = append(c.Trees, t.Tree)
		}
		if len(t.seen) > 0 && !t.Repo {
			add(&c.Blind, t.Dir)
			c.List = append(c.List, m.listed(t.Dir)...)
		}
	}
	c.Files = len(c.List) + unnamed
	c.unnamed = slices.ContainsFunc(all, func(ch story.Change) bool { return ch.Files > len(ch.Changed) })
	for _, p := range m.acc.Steps {
		if w := m.Merged(p.At()); w != nil && w.Outcome == effect.MergeDone {
			c.Merges = append(c.Merges, MergedIn{p.At().Name(), *w})
		}
	}
	m.published(&c)
	c.Pushed = len(c.PRs) > 0 || len(c.Remote) > 0 || m.pushes() || m.asked != nil && len(m.asked.ByAgents) > 0
	c.Unasked, c.Unseen = m.unasked(all), m.Unseen(m.top)
	return c, judged
}

// listed are the files that the rounds of a task saw change in a directory that is in
// no repository. How much of each is not known.
func (m *maker) listed(dir string) []File {
	if m.asked == nil || dir != m.repo() {
		return nil
	}
	var names []string
	gone := map[string]bool{} // after the last of the rounds that has the file
	last := m.asked.Rounds
	if m.putBack {
		last = m.asked.Best
	}
	for n := 1; n <= last; n++ {
		var text string
		m.output(m.round(n), "changed", &text) // without it there is nothing to tell
		for name := range strings.Lines(text) {
			if name = strings.TrimSpace(name); name != "" {
				add(&names, name)
				gone[name] = false
			}
		}
		var rest struct{ Gone []string }
		m.output(m.round(n), "rest", &rest)
		for _, name := range rest.Gone {
			gone[name] = true
		}
	}
	var list []File
	for _, name := range names {
		f := File{Path: name, Steps: []string{}, Uncounted: true}
		if gone[name] {
			f.Change = belay.FileDeleted
		}
		list = append(list, f)
	}
	return list
}

// sighted are the trees that agents worked in, in the order of the first look.
func (m *maker) sighted(all []story.Change) []*sighted {
	var list []*sighted
	find := func(dir string) *sighted {
		for _, t := range list {
			if t.Dir == dir {
				return t
			}
		}
		return nil
	}
	look := func(dir string, before, after belay.TreeState) *sighted {
		t := find(dir)
		if t == nil {
			t = &sighted{Tree: Tree{Dir: dir, From: before.Head, Before: before.Dirty, Was: before.Branch}}
			_, t.Own = m.made(dir)
			list = append(list, t)
		}
		t.Repo, t.Branch, t.To, t.Dirty, t.last = after.Repo, after.Branch, after.Head, after.Dirty, after
		return t
	}
	for _, a := range m.Work(m.top).Looks {
		if e := &a.Report().Evidence; e.After.Tree != "" && e.After.Error == "" && !story.RolledBack(m.View(a.Place)) {
			look(m.Dir(a.Place), e.Before, e.After)
		}
	}
	for i := range all {
		t := find(all[i].Dir)
		if t == nil {
			t = look(all[i].Dir, all[i].Before, all[i].After)
		}
		t.seen = append(t.seen, &all[i])
	}
	return list
}

// made is the worktree that Belay made at a place.
func (m *maker) made(dir string) (story.Worktree, bool) {
	for _, t := range m.trees {
		if t.Dir == dir {
			return t, true
		}
	}
	return story.Worktree{}, false
}

// own is the worktree of the run itself; nil = it works where it was started.
func (m *maker) own() *story.Worktree {
	for i := range m.trees {
		if m.trees[i].Step == "" {
			return &m.trees[i]
		}
	}
	return nil
}

// isPart tells whether a tree was made for a step of a run that has a tree of its
// own: the result is there.
func (m *maker) isPart(dir string) bool {
	t, made := m.made(dir)
	return made && t.Step != "" && m.own() != nil
}

// tip is the commit of a branch; "" = there is none.
func (m *maker) tip(branch string) string {
	if branch == "" {
		return ""
	}
	return m.Commit(m.repo(), "refs/heads/"+branch)
}

// leftCommit is the commit that the best round left; "" = nobody says so.
func (m *maker) leftCommit() string {
	if m.asked == nil {
		return ""
	}
	return m.asked.Commit
}

// settle finds the commits that have the work of a tree, and what they change.
func (m *maker) settle(t *sighted) (worktree.Range, bool) {
	if !t.Repo {
		return worktree.Range{}, false
	}
	dir, tree := m.repo(), ""
	switch made, own := m.made(t.Dir); {
	case own:
		t.Branch = cmp.Or(made.Branch, t.Branch)
		t.To = cmp.Or(m.tip(t.Branch), m.leftCommit(), t.last.Head)
		if t.Dirty = false; m.There(t.Dir) && !(made.Step == "" && m.asked != nil && m.asked.Offered) {
			if t.Dirty = m.State(t.Dir).Dirty; t.Dirty && t.last.Dirty && t.To == t.last.Head {
				tree = t.last.Tree // a look from afar makes none
			}
		}
	case t.last.Dirty:
		dir = t.Dir
		id := m.Holding(dir, t.last.Head, m.Commit(dir, "HEAD"), t.last.Tree)
		if id == "" {
			return worktree.Range{}, false
		}
		t.To, t.Dirty = id, false
	default:
		dir = t.Dir
	}
	if t.To == "" {
		return worktree.Range{}, false
	}
	r, err := m.Between(dir, t.From, t.To, tree)
	t.Settled = err == nil
	return r, t.Settled
}

// settled adds what the commits of a tree have, with the steps that were seen to
// change each file.
func (c *Changes) settled(t *sighted, r worktree.Range, all []*story.Change) []Judging {
	if r.Files == 0 && len(r.Commits) == 0 && !t.Dirty {
		return nil
	}
	c.Trees = append(c.Trees, t.Tree)
	c.Commits = append(c.Commits, r.Commits...)
	c.Added += r.Added
	c.Deleted += r.Deleted
	for _, f := range r.List {
		c.List = append(c.List, File{Path: f.Path, Change: f.Change, Added: f.Added, Deleted: f.Deleted, Steps: stepsOf(all, f.Path)})
	}
	var judged []Judging
	for _, g := range r.Guards {
		judged = append(judged, Judging{strings.Join(stepsOf(all, g.Path), ", "), []belay.FileChange{g}})
	}
	return judged
}

// stepsOf are the steps whose agents were seen to change a file.
func stepsOf(all []*story.Change, path string) []string {
	steps := []string{}
	for _, ch := range all {
		if slices.ContainsFunc(ch.Changed, func(f belay.FileChange) bool { return f.Path == path }) {
			add(&steps, ch.Name())
		}
	}
	return steps
}

// standing are the changes that are in the result: not those of rounds after the best
// one, and not what could not be merged.
func (m *maker) standing(all []story.Change) []*story.Change {
	var list []*story.Change
	for i := range all {
		if dir := all[i].Dir; !m.isDropped(all[i].Run) && (!m.isPart(dir) || m.merged(dir)) {
			list = append(list, &all[i])
		}
	}
	return list
}

// isDropped tells whether a run belongs to a round after the one that counts.
func (m *maker) isDropped(run belay.RunID) bool {
	if !m.putBack {
		return false
	}
	for n := m.asked.Best + 1; n <= m.asked.Rounds; n++ {
		if round := m.round(n); round != "" && run.Under(round) {
			return true
		}
	}
	return false
}

// see adds what an agent was seen to do to the files of its tree.
func (c *Changes) see(ch *story.Change) {
	c.Added += ch.Added
	c.Deleted += ch.Deleted
	for _, f := range ch.Changed {
		c.file(f, ch.Name())
	}
	for _, id := range ch.Commits {
		add(&c.Commits, id)
	}
}

// beside adds what an agent was seen to do beside the files.
func (c *Changes) beside(ch *story.Change) {
	for _, name := range ch.Outside {
		add(&c.Outside, name)
	}
	if ch.PR != "" {
		add(&c.PRs, ch.PR)
	}
	if ch.Error != "" {
		add(&c.Trouble, ch.Name()+": "+ch.Error)
	}
}

// file adds what an agent did to a file.
func (c *Changes) file(f belay.FileChange, step string) {
	i := slices.IndexFunc(c.List, func(have File) bool { return have.Path == f.Path })
	if i < 0 {
		i = len(c.List)
		c.List = append(c.List, File{Path: f.Path, Change: f.Change})
	}
	have := &c.List[i]
	if have.Change != belay.FileAdded || f.Change == belay.FileDeleted {
		have.Change = f.Change
	}
	have.Added += f.Added
	have.Deleted += f.Deleted
	add(&have.Steps, step)
}

func add(list *[]string, one string) {
	if !slices.Contains(*list, one) {
		*list = append(*list, one)
	}
}

// published adds what the shipped recipe that publishes pushed and opened. A push
// that is done counts, whatever came after it.
func (m *maker) published(c *Changes) {
	for i := range m.acc.Steps {
		p := &m.acc.Steps[i]
		started, _ := m.Tree.Run(p.Run).Started()
		if p.Phase != flow.Done || started.Name != "publish-work" {
			continue
		}
		url := ""
		switch p.Path {
		case "push":
			if branch := m.branchOf(p.Run); branch != "" {
				add(&c.Remote, "origin "+branch)
			}
		case "open-pr", "pull-request": // the first in journals of before
			if m.output(p.Run, p.Output, &url); strings.TrimSpace(url) != "" {
				lines := strings.Fields(url)
				add(&c.PRs, lines[len(lines)-1])
			}
		}
	}
}

// branchOf is the branch that a run published, or else works on.
func (m *maker) branchOf(run belay.RunID) string {
	name := ""
	if m.output(run, "branch", &name); strings.TrimSpace(name) != "" {
		return strings.TrimSpace(name)
	}
	dir := m.Tree.Run(run).Base()
	if t, ok := m.made(dir); ok {
		return t.Branch
	}
	if own := m.own(); own != nil {
		return own.Branch
	}
	return m.State(dir).Branch
}

// pushes tells whether an agent was seen to push.
func (m *maker) pushes() bool {
	for _, a := range m.Attempts {
		if r := a.Report(); r != nil && a.Run.Under(m.top) {
			for _, t := range r.Result.Tools {
				if strings.Contains(t.Command, "git push") && !t.Failed && !t.Denied {
					return true
				}
			}
		}
	}
	return false
}

func mergeWords(w *effect.Merged) string {
	switch w.Outcome {
	case effect.MergeNothing:
		return "there was nothing to merge"
	case effect.MergeConflict:
		return fmt.Sprintf("the merge has %d conflicts, the first in %s", len(w.Conflicts)+w.More, firstConflict(w))
	case effect.MergeDone:
	}
	return "merged: " + readable.Many(w.Files, "file") + ", " + readable.Many(len(w.Commits), "commit")
}

func firstConflict(w *effect.Merged) string {
	if len(w.Conflicts) == 0 {
		return "a file"
	}
	return w.Conflicts[0].Path
}
