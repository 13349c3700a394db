package flow

import (
	"encoding/json"
	"path"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/recipe"
)

func (s *State) homeKey(i int) belay.Key {
	if i < 0 {
		return belay.KeyParts{Run: s.id, Topic: belay.TopicWorktree}.Key()
	}
	return belay.KeyParts{Run: s.id, Path: s.prog.Steps[i].ID, Topic: belay.TopicWorktree}.Key()
}

// placings says where the steps of the run work. What is one step of a recipe, or
// the parts of one, works where that does.
func (s *State) placings(e event.RunStarted) []recipe.Placing {
	if e.Split != "" || e.Stand != "" || e.Repeat != "" || e.Finally {
		return make([]recipe.Placing, len(s.prog.Steps))
	}
	whole := s.lib.Recipes[e.Recipe]
	all := recipe.Placings(whole, func(name string) *recipe.Recipe { return s.lib.Recipes[s.lib.Names[name]] })
	if e.Each == "" {
		if body := whole.Body(); body < len(whole.Steps) {
			all = append(all[:body:body], recipe.Placing{})
		}
		return all
	}
	items := make([]recipe.Placing, len(s.prog.Steps))
	for i := range whole.Steps {
		if whole.Steps[i].ID != e.Each {
			continue
		}
		for k := range items {
			items[k] = all[i]
		}
	}
	return items
}

// nextHome asks for the worktree of the run, or of a step, when it has none
// yet; the second result tells that the answer is awaited.
func (s *State) nextHome(i int) (command, bool) {
	key := s.homeKey(i)
	if s.homes[key] != nil && !s.homesOld[key] {
		return nil, false
	}
	if s.wanted.keys[key] {
		return nil, true
	}
	w := effect.AskWorktree{Text: s.title(), Dir: s.started.Dir}
	if i >= 0 {
		w.Step = s.prog.Steps[i].ID
		w.Text += " " + string(w.Step)
		w.Dir = s.base()
		w.Merge, w.Optional, w.Copy = s.places[i].Merge == recipe.MergeAuto, s.places[i].Chosen, s.places[i].Copy
		if was := s.homes[key]; was != nil && was.Dir != "" {
			w.Merge, w.Optional = was.Merge, false // what was begun there goes on there
		}
	}
	if s.tree != nil && s.tree.stood == nil && s.homes[key] == nil && !w.Copy {
		w.Stand = s.tree.started.Dir
	}
	return effect.Ask{Key: key, Question: w}, true
}

// besideKey names the look at the user's checkout before the root run ends.
func (s *State) besideKey() belay.Key {
	return belay.KeyParts{Run: s.id, Topic: belay.TopicLook}.Key()
}

// nextBeside asks what is not as it was in the user's checkout, once nothing is open
// any more: steps that have a worktree have no business there. Where the run itself
// has none, its files are the run's own.
func (s *State) nextBeside(room int) (command, bool) {
	if s.tree == nil || s.id != s.tree.root || s.tree.stood == nil || s.beside != nil {
		return nil, false
	}
	if room < 0 {
		return nil, true // it comes to rest; asked when it goes on
	}
	own := s.homes[s.homeKey(-1)]
	return effect.Ask{Key: s.besideKey(), Question: effect.AskLook{
		Dir: s.started.Dir, Stood: s.tree.stood, Files: own != nil && own.Dir != "",
	}}, true
}

// UserCheckout is what a look at the user's checkout at the end of the run saw; nil = there
// was none.
func (t *Tree) UserCheckout() *effect.AnswerLook {
	if root := t.runs[t.root]; root != nil {
		return root.beside
	}
	return nil
}

// doubtHomes has the worktrees asked for again before the next step that begins
// in one: while nobody drove the run, somebody may have taken one away. Until
// then the answers hold, for what is still open.
func (s *State) doubtHomes() {
	for key := range s.homes {
		s.homesOld[key] = true
	}
}

// nextRenewal asks again for a worktree that runs below work in: none of them could, and
// somebody may have taken it away.
func (s *State) nextRenewal() command {
	if len(s.homesOld) == 0 {
		return nil
	}
	below := false
	for i := range s.steps {
		if !s.calls(i) {
			continue
		}
		below = true
		if s.homeDoubted(i) {
			if c, _ := s.nextHome(i); c != nil {
				return c
			}
		}
	}
	if below && s.homeDoubted(-1) {
		c, _ := s.nextHome(-1)
		return c
	}
	return nil
}

// calls tells whether a run below is at work for a step.
func (s *State) calls(i int) bool { return s.steps[i].phase == Running && s.steps[i].child != "" }

// homeDoubted tells whether a worktree may have been taken away while nobody drove the run.
// A copy may not: who looks at it has it open.
func (s *State) homeDoubted(i int) bool {
	key := s.homeKey(i)
	h := s.homes[key]
	return s.homesOld[key] && h != nil && h.Dir != "" && !h.Copy
}

// unsettled tells whether a worktree that a run works in is asked for again above it.
func (s *State) unsettled() bool {
	if s.tree == nil {
		return false
	}
	for id := s.id; ; {
		above, ok := id.Parent()
		up := s.tree.runs[above.Run]
		if !ok || up == nil {
			return false
		}
		if len(up.homesOld) > 0 {
			i, known := up.index[above.Path]
			if known && up.calls(i) && (up.homeDoubted(-1) || up.homeDoubted(i)) {
				return true // and it asks: see nextRenewal
			}
		}
		id = above.Run
	}
}

// settleIn makes sure that a step has its place to work in; the second result
// tells that it waits for one.
func (s *State) settleIn(i int) (command, bool) {
	if s.unsettled() {
		return nil, true
	}
	if (s.prog.Isolate || s.started.Isolate) && !s.ofStep() {
		if c, open := s.nextHome(-1); c != nil || open {
			return c, true
		}
		if h := s.homes[s.homeKey(-1)]; !h.OK {
			return s.noHome(i, h), true
		}
	}
	if s.places[i].Isolated && s.prog.Steps[i].Foreach == "" && !s.elsewhere(i) {
		if c, open := s.nextHome(i); c != nil || open {
			return c, true
		}
		if h := s.homes[s.homeKey(i)]; !h.OK {
			return s.noHome(i, h), true
		}
	}
	return nil, false
}

// elsewhere tells whether a step that has a copy to look at names another place.
func (s *State) elsewhere(i int) bool {
	text := s.prog.Steps[i].Dir
	if !s.places[i].Copy || text == nil || s.scope(i).big(text.Names()) {
		return false
	}
	sub, err := text.Render(s.scope(i).texts()) // one that is none is told when it starts
	return err == nil && path.IsAbs(sub)
}

// blind tells whether a step works in a copy: what it does there is nobody's work.
func (s *State) blind(i int) bool {
	h := s.homes[s.homeKey(i)]
	return h != nil && h.Copy
}

func (s *State) noHome(i int, h *effect.AnswerWorktree) command {
	if s.places[i].Copy {
		return s.refuse(i, belay.Infrastructure, h.Error, "make room for a copy of the files that it looks at, then: belay resume "+string(s.id.Root()))
	}
	return s.refuse(i, belay.Infrastructure, "worktree: "+h.Error, "isolate: needs a git repository with a commit in it, and room for a copy of its files")
}

// title is what a branch of the run is named after.
func (s *State) title() string {
	for _, name := range []string{"task_title", "task_description"} { // the first is that of a long task
		var text string
		if v, ok := s.vars.vars[name]; ok && v.Inline() && json.Unmarshal(v.JSON, &text) == nil && text != "" {
			return text
		}
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
func (s *State) homed(k belay.Key, a effect.AnswerWorktree) {
	if was := s.homes[k]; was != nil && !a.OK { // what is still open is open there
		a.Dir, a.Ref = was.Dir, was.Ref
	}
	if s.tree != nil && s.tree.stood == nil {
		s.tree.stood = a.Stood
	}
	s.homes[k] = &a
	if s.homesOld[k] && s.tree != nil {
		s.tree.touchAll() // runs below wait for it
	}
	delete(s.homesOld, k)
}

// Homes are the worktrees of the run, by the question that made them.
func (s *State) Homes() map[belay.Key]*effect.AnswerWorktree { return s.homes }

// Home is the worktree of a step, nil when it was never asked for one.
func (s *State) Home(p belay.Path) *effect.AnswerWorktree {
	i, ok := s.index[p]
	if !ok {
		return nil
	}
	return s.homes[s.homeKey(i)]
}

// Base is the directory of the run: its worktree when it has one.
func (s *State) Base() string { return s.base() }

// seated tells whether a step that has not begun has a place to work in, or has
// asked for one.
func (s *State) seated(i int) bool {
	key := s.homeKey(i)
	return s.steps[i].work.held || s.wantsTree(s.mainKey(i, s.steps[i].attempt+1).About(belay.TopicTree)) || s.wanted.keys[key] || s.homes[key] != nil
}

// housed is how many steps have a worktree, or have asked for one, and have not begun.
func (s *State) housed() int {
	if len(s.homes)+len(s.wanted.keys) == 0 {
		return 0
	}
	n := 0
	for key := range s.wanted.keys {
		if _, home := key.Is(belay.TopicWorktree); home && s.homes[key] == nil {
			n++
		}
	}
	for _, i := range s.stirred.list {
		st := &s.steps[i]
		if h := s.homes[s.homeKey(i)]; h != nil && h.Dir != "" && st.phase == Waiting && st.attempt == 0 && st.due.IsZero() {
			n++
		}
	}
	return n
}
