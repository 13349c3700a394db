package receipt

import (
	"github.com/belay-run/belay/story"
	"github.com/belay-run/belay/worktree"
)

// Unasked is a step that was to change nothing, and did.
type Unasked struct {
	Step  string   `json:"step"`
	Files []string `json:"files"` // the first of them
	More  int      `json:"more,omitempty"`
	Tests bool     `json:"writes_tests,omitempty"` // it was to write tests; these are none by their names
}

// unasked are the steps that were to give an answer alone, and changed files that
// are no tests. Who writes tests first is asked for an answer, too.
func (m *maker) unasked(all []story.Change) []Unasked {
	var list []Unasked
	for i := range all {
		ch := &all[i]
		st := m.Tree.Run(ch.Run)
		if st == nil || !st.AnswerAlone(ch.Path) || m.asked != nil && m.asked.Type == "Operations" {
			continue
		}
		u := Unasked{Step: ch.Name(), More: max(0, ch.Evidence.Files-len(ch.Changed)), Tests: st.WritesTests(ch.Path)}
		for _, f := range ch.Changed {
			if !worktree.Guard(f.Path) {
				u.Files = append(u.Files, f.Path)
			}
		}
		if len(u.Files) > 0 {
			list = append(list, u)
		}
	}
	return list
}
