package cli

import (
	"context"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/story"
)

// whyWork is the state that the work is in, as it was seen last.
type whyWork struct {
	Dir       string           `json:"dir"`
	Host      string           `json:"host,omitempty"`     // that has a checkout of its own for the run
	HostDir   string           `json:"host_dir,omitempty"` // where that is
	Seen      time.Time        `json:"seen,omitzero"`      // when somebody looked; zero = never
	After     string           `json:"after,omitempty"`
	SeenDir   string           `json:"seen_dir,omitempty"` // where
	Repo      bool             `json:"repo"`
	Branch    string           `json:"branch,omitempty"`
	Head      string           `json:"head,omitempty"`
	Dirty     bool             `json:"dirty"`
	Files     int              `json:"files"` // since the step began after which it was seen
	Added     int              `json:"added"`
	Deleted   int              `json:"deleted"`
	Commits   []string         `json:"commits"`
	PR        string           `json:"pr,omitempty"`
	Error     string           `json:"error,omitempty"`
	Snapshots []whySnapshot    `json:"snapshots"`
	Worktrees []story.Worktree `json:"worktrees"`
	Replaced  []whyReplaced    `json:"replaced,omitempty"`
	Last      belay.Evidence   `json:"-"`
}

// whySnapshot is uncommitted work that is kept under a ref.
type whySnapshot struct {
	Step string `json:"step"`
	Ref  string `json:"ref"`
	See  string `json:"see"`
	Get  string `json:"restore"`

	Unkept []string `json:"not_in_it,omitempty"` // changed files that it does not hold
	Before bool     `json:"before,omitempty"`    // it was there before the step, which took it back
}

// whyReplaced are files of which a step took uncommitted lines away when it resolved
// a conflict.
type whyReplaced struct {
	Step  string   `json:"step"`
	Files []string `json:"files"`
	See   string   `json:"see"`
}

// replaced are those of all steps, in their order.
func replaced(s *runView, all []story.Placed) []whyReplaced {
	var list []whyReplaced
	for _, p := range all {
		if m := s.Merged(p.At()); m != nil && len(m.Replaced) > 0 {
			see := "git -C " + story.Quote(s.Work(s.id).Dir) + " show --stat " + story.Quote(m.Before)
			list = append(list, whyReplaced{p.At().Name(), m.Replaced, see})
		}
	}
	return list
}

// left names the changed files that a snapshot does not hold.
func (k whySnapshot) left(p *page) {
	if len(k.Unkept) > 0 {
		p.text("    ", "not in it (too big, not readable, or a known secret stands there): "+strings.Join(k.Unkept, ", "))
	}
}

// workOf is what the evidence of all agents says, the last one first in line.
func workOf(ctx context.Context, s *runView, all []story.Placed, asked *story.Task) whyWork {
	work := s.Work(s.id)
	w := whyWork{Dir: work.Dir, Seen: work.Seen, Commits: []string{}, Snapshots: []whySnapshot{}, Worktrees: []story.Worktree{}, Replaced: replaced(s, all)}
	if d := s.Housed(); d != nil {
		w.Host, w.HostDir = d.Host, d.Dir
	}
	for _, t := range work.Trees {
		t.Gone = !there(t.Dir)
		if t.Gone && t.Step == "" && asked != nil && asked.Branch == "" { // it was only made to make the plan in
			continue
		}
		w.Worktrees = append(w.Worktrees, t)
	}
	for _, a := range work.Looks {
		w.see(a.Name(), s.place(a.Key), s.stillKept(ctx, a))
	}
	return w
}

// see takes in what was seen after one attempt.
func (w *whyWork) see(step, dir string, e belay.Evidence) {
	w.Last, w.After, w.SeenDir = e, step, dir
	w.Repo, w.Branch, w.Head, w.Dirty, w.Error = e.After.Repo, e.After.Branch, e.After.Head, e.After.Dirty, e.Error
	w.Files, w.Added, w.Deleted = e.Files, e.Added, e.Deleted
	w.Commits = append(w.Commits, e.Commits...)
	if e.PR != "" {
		w.PR = e.PR
	}
	git := "git -C " + story.Quote(w.SeenDir)
	for _, k := range []whySnapshot{{Ref: e.Earlier, Before: true}, {Ref: e.Snapshot, Unkept: e.Unkept}} {
		if k.Ref == "" {
			continue
		}
		k.Step, k.See, k.Get = w.After, git+" show --stat "+story.Quote(k.Ref), git+" checkout "+story.Quote(k.Ref)+" -- :/"
		w.Snapshots = append(w.Snapshots, k)
	}
}

// stillKept is the evidence of an attempt without the snapshots that are gone: gc removes
// one when its work was committed since.
func (s *runView) stillKept(ctx context.Context, a *story.Attempt) belay.Evidence {
	e := a.Report().Evidence
	for _, ref := range []*string{&e.Earlier, &e.Snapshot} {
		if !s.keeps(ctx, a.Key, *ref) {
			*ref = ""
		}
	}
	return e
}
