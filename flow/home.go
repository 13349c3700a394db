package flow

import (
	"encoding/json"
	"path"
	"strings"

	"github.com/belay-run/belay"
)

// homeQuestion ends the key of a question for a worktree: of a run, or of a
// step. The answer holds for all attempts.
const homeQuestion = "?worktree"

func (s *State) homeKey(i int) belay.Key {
	if i < 0 {
		return belay.Key(string(s.id) + ":" + homeQuestion)
	}
	return belay.Key(string(s.id) + ":" + string(s.prog.Steps[i].ID) + homeQuestion)
}

// nextHome asks for the worktree of the run, or of a step, when it has none
// yet; the second result tells that the answer is awaited.
func (s *State) nextHome(i int) (belay.Command, bool) {
	key := s.homeKey(i)
	if s.homes[key] != nil && !s.homesOld[key] {
		return nil, false
	}
	if s.homesAsked[key] {
		return nil, true
	}
	w := &belay.Worktree{Text: s.title(), Dir: s.started.Dir}
	if i >= 0 {
		w.Step = s.prog.Steps[i].ID
		w.Text += " " + string(w.Step)
		w.Dir = s.base()
	}
	return belay.Ask{Key: key, Question: belay.Question{Worktree: w}}, true
}

// doubtHomes has the worktrees asked for again before the next step that begins
// in one: while nobody drove the run, somebody may have taken one away. Until
// then the answers hold, for what is still open.
func (s *State) doubtHomes() {
	for key := range s.homes {
		s.homesOld[key] = true
	}
}

// settleIn makes sure that a step has its place to work in; the second result
// tells that it waits for one.
func (s *State) settleIn(i int) (belay.Command, bool) {
	if s.prog.Isolate && s.each == nil {
		if c, open := s.nextHome(-1); c != nil || open {
			return c, true
		}
		if h := s.homes[s.homeKey(-1)]; !h.OK {
			return s.noHome(i, h), true
		}
	}
	if s.prog.Steps[i].Isolate {
		if c, open := s.nextHome(i); c != nil || open {
			return c, true
		}
		if h := s.homes[s.homeKey(i)]; !h.OK {
			return s.noHome(i, h), true
		}
	}
	return nil, false
}

func (s *State) noHome(i int, h *belay.Answer) belay.Command {
	return s.refuse(i, belay.Infrastructure, "worktree: "+h.Error, "isolate: needs a git repository with a commit in it, and room for a copy of its files")
}

// title is what a branch of the run is named after.
func (s *State) title() string {
	var text string
	if v, ok := s.vars.vars["task_description"]; ok && v.Inline() && json.Unmarshal(v.JSON, &text) == nil && text != "" {
		return text
	}
	return s.prog.Name + "-" + strings.ReplaceAll(string(s.id), "/", "-")
}

// base is the directory of the run: its worktree when it has one.
func (s *State) base() string {
	if h := s.homes[s.homeKey(-1)]; h != nil && h.Dir != "" {
		return h.Dir
	}
	return s.started.Dir
}

// root is the directory that a step's own is under: that of its worktree when
// it has one.
func (s *State) root(i int) string {
	if h := s.homes[s.homeKey(i)]; h != nil && h.Dir != "" {
		return h.Dir
	}
	return s.base()
}

// under is a directory below the root of a step.
func (s *State) under(i int, sub string) string {
	if path.IsAbs(sub) {
		return path.Clean(sub)
	}
	return path.Join(s.root(i), sub)
}

// homed folds the answer to a question for a worktree.
func (s *State) homed(e belay.AnswerGiven) bool {
	if !strings.HasSuffix(string(e.Key), homeQuestion) {
		return false
	}
	a := e.Answer
	if was := s.homes[e.Key]; was != nil && !a.OK { // what is still open is open there
		a.Dir, a.Ref = was.Dir, was.Ref
	}
	s.homes[e.Key] = &a
	delete(s.homesOld, e.Key)
	if s.homesAsked[e.Key] {
		delete(s.homesAsked, e.Key)
		s.asking--
	}
	return true
}

// Homes are the worktrees of the run, by the question that made them.
func (s *State) Homes() map[belay.Key]*belay.Answer { return s.homes }
