package story

import (
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
)

// Work is where the work of a run is, as far as the records say.
type Work struct {
	Dir   string     // of the run
	Looks []*Attempt // of agents that have ended: somebody looked at what they left, in this order
	Seen  time.Time  // the last look; zero = never
	Trees []Worktree
}

// Worktree is a place of its own.
type Worktree struct {
	Step   string `json:"step,omitempty"` // "" = of the run
	Dir    string `json:"dir"`
	Branch string `json:"branch,omitempty"`
	Gone   bool   `json:"gone"` // for one who can look
}

// Work is that of a run and of all runs below it.
func (s *Story) Work(top belay.RunID) Work {
	started, _ := s.Tree.Run(top).Started()
	w := Work{Dir: started.Dir}
	for i := range s.News {
		n := &s.News[i]
		made, _ := n.Answer.(effect.AnswerWorktree)
		switch {
		case !n.Run.Under(top):
		case n.What == AttemptEnded && n.Attempt.Report() != nil && !s.inCopy(n.Attempt.Place):
			w.Looks = append(w.Looks, n.Attempt)
			w.Seen = n.At.UTC()
		case made.OK && made.Dir != "" && !made.Copy:
			w.settle(n, made)
		}
	}
	work := ""
	Decode(s.Tree.Run(top).Vars()["work_branch"], nil, &work)
	for i := range w.Trees {
		if work != "" && w.Trees[i].Step == "" { // the result is on another branch
			w.Trees[i].Branch = work
		}
	}
	return w
}

// settle keeps a worktree; one that was asked for again stays one.
func (w *Work) settle(n *News, made effect.AnswerWorktree) {
	if slices.ContainsFunc(w.Trees, func(t Worktree) bool { return t.Dir == made.Dir }) {
		return
	}
	step := ""
	if n.Path != "" || n.Run.Depth() > 0 {
		step = strings.TrimSuffix(n.Name(), "/")
	}
	w.Trees = append(w.Trees, Worktree{Step: step, Dir: made.Dir, Branch: made.Ref})
}
