package cli

import (
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/tui"
)

// whyWork is the state that the work is in, as it was seen last.
type whyWork struct {
	Dir       string         `json:"dir"`
	Seen      time.Time      `json:"seen,omitzero"` // when somebody looked; zero = never
	After     string         `json:"after,omitempty"`
	SeenDir   string         `json:"seen_dir,omitempty"` // where
	Repo      bool           `json:"repo"`
	Branch    string         `json:"branch,omitempty"`
	Head      string         `json:"head,omitempty"`
	Dirty     bool           `json:"dirty"`
	Files     int            `json:"files"` // of the attempt after which it was seen
	Added     int            `json:"added"`
	Deleted   int            `json:"deleted"`
	Commits   []string       `json:"commits"`
	PR        string         `json:"pr,omitempty"`
	Error     string         `json:"error,omitempty"`
	Snapshots []whySnapshot  `json:"snapshots"`
	Worktrees []whyWorktree  `json:"worktrees"`
	Last      belay.Evidence `json:"-"`
}

// whySnapshot is uncommitted work that is kept under a ref.
type whySnapshot struct {
	Step string `json:"step"`
	Ref  string `json:"ref"`
	See  string `json:"see"`
	Get  string `json:"restore"`

	Unkept []string `json:"not_in_it,omitempty"` // changed files that it does not hold
}

// whyWorktree is a place of its own.
type whyWorktree struct {
	Step   string `json:"step,omitempty"` // "" = of the run
	Dir    string `json:"dir"`
	Branch string `json:"branch,omitempty"`
	Gone   bool   `json:"gone"`
}

// workOf is what the evidence of all agents says, the last one first in line.
func workOf(s *story) whyWork {
	started, _ := s.tree.Run(s.id).Started()
	w := whyWork{Dir: started.Dir, Commits: []string{}, Snapshots: []whySnapshot{}, Worktrees: []whyWorktree{}}
	steps := map[belay.Key]place{}
	for _, r := range s.recs {
		if !below(r.Run, s.id) {
			continue
		}
		switch e := r.Event.(type) {
		case belay.AttemptStarted:
			steps[e.Key] = place{r.Run, e.Path}
		case belay.AnswerGiven:
			w.settle(r.Run, e)
		case belay.AttemptEnded:
			if a := e.Observation.Agent; a != nil {
				at := steps[e.Key]
				w.see(s, at, e.Key, a.Evidence)
				w.Seen = r.At.UTC()
			}
		}
	}
	return w
}

// settle keeps a worktree; one that was asked for again stays one.
func (w *whyWork) settle(run belay.RunID, e belay.AnswerGiven) {
	if _, asked := e.Key.Is(belay.TopicWorktree); !asked || !e.Answer.OK || e.Answer.Dir == "" {
		return
	}
	for _, t := range w.Worktrees {
		if t.Dir == e.Answer.Dir {
			return
		}
	}
	step := strings.TrimPrefix(string(e.Key), string(run)+":")
	if i := strings.IndexByte(step, '?'); i >= 0 {
		step = step[:i]
	}
	if step != "" || run.Depth() > 0 {
		step = strings.TrimSuffix(tui.StepName(run, belay.Path(step)), "/")
	}
	w.Worktrees = append(w.Worktrees, whyWorktree{Step: step, Dir: e.Answer.Dir, Branch: e.Answer.Ref, Gone: !there(e.Answer.Dir)})
}

// see takes in what was seen after one attempt.
func (w *whyWork) see(s *story, at place, key belay.Key, e belay.Evidence) {
	w.Last, w.After = e, tui.StepName(at.run, at.path)
	w.SeenDir = w.Dir
	for _, f := range s.attempts(at.run, at.path) {
		if f.Key == key {
			w.SeenDir = f.place(s)
		}
	}
	w.Repo, w.Branch, w.Head, w.Dirty, w.Error = e.After.Repo, e.After.Branch, e.After.Head, e.After.Dirty, e.Error
	w.Files, w.Added, w.Deleted = e.Files, e.Added, e.Deleted
	w.Commits = append(w.Commits, e.Commits...)
	if e.PR != "" {
		w.PR = e.PR
	}
	if e.Snapshot != "" {
		git := "git -C " + quote(w.SeenDir)
		w.Snapshots = append(w.Snapshots, whySnapshot{
			Step: w.After, Ref: e.Snapshot, See: git + " show --stat " + quote(e.Snapshot), Get: git + " checkout " + quote(e.Snapshot) + " -- :/",
			Unkept: e.Unkept,
		})
	}
}
