package flow

import (
	"slices"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/verdict"
)

// measure is what the work of an agent step is measured against, and whose the
// changes since then can be.
type measure struct {
	base    *belay.Print // from where the next attempt is measured; nil = from its own beginning
	blind   bool         // an attempt since the base was cut off, and nobody saw what it did
	severed bool         // so it is for the attempt that was begun last
	shared  bool         // another step worked in the same tree, since the base
	acted   bool         // an earlier attempt since the base did something that can change files
}

// begin takes in that an attempt starts.
func (m *measure) begin() {
	if m.base == nil {
		*m = measure{}
	}
	m.severed = m.blind
}

// noted keeps what an attempt was seen to begin with, in case that it never
// reports.
func (m *measure) noted(p *belay.Print) {
	if m.base == nil && usable(p) {
		m.base = p
	}
}

// ended keeps the base for the next attempt, or lets it go. An attempt that
// changed nothing leaves none: what others did in the meantime would count as
// work of the next one.
func (m *measure) ended(o *belay.Observation) {
	switch {
	case o != nil && o.Agent == nil && !o.Began: // nothing was started
		return
	case o == nil || o.Agent == nil:
		m.blind = m.base != nil
		return
	}
	e, acts := o.Agent.Evidence, verdict.Acts(o.Agent.Result)
	switch before := e.Before; {
	case !usable(&before):
		return
	case !usable(&e.After): // nobody knows what it left
		m.noted(&before)
		m.blind, m.acted = true, m.acted || acts
	case !verdict.Changed(e) || m.shared && !m.acted && !acts:
		m.base, m.blind = nil, false
	default:
		m.noted(&before)
		m.acted = m.acted || acts
	}
}

// usable tells whether something can be measured against a print. One that
// failed would make every later look fail with it.
func usable(p *belay.Print) bool { return p != nil && p.Tree != "" && p.Error == "" }

// meet remembers which agents work in one tree with another step at the same
// time. What stands in a worktree of its own meets nobody; all else counts as
// one place, since nobody here can see where a repository ends.
func (t *Tree) meet(run belay.RunID, e belay.AttemptStarted) {
	if e.Role != belay.RoleMain {
		return
	}
	s := t.runs[run]
	i := s.open[e.Key]
	place := t.place(s, i)
	for k, other := range t.places {
		if other != place {
			continue
		}
		o := t.runs[t.open[k]]
		s.steps[i].agent.shared = true
		o.steps[o.open[k]].agent.shared = true
	}
	t.places[e.Key] = place
}

// place is the worktree that a step works in, "" for one without.
func (t *Tree) place(s *State, i int) string {
	if len(t.homes) == 0 {
		return ""
	}
	dir, err := s.dir(i)
	if err != nil {
		dir = s.root(i)
	}
	for _, home := range t.homes {
		if dir == home || strings.HasPrefix(dir, home+"/") {
			return home
		}
	}
	return ""
}

// moved keeps where the worktrees of the tree are.
func (t *Tree) moved(e belay.AnswerGiven) {
	if strings.HasSuffix(string(e.Key), homeQuestion) && e.Answer.OK && !slices.Contains(t.homes, e.Answer.Dir) {
		t.homes = append(t.homes, e.Answer.Dir)
	}
}
