package flow

import (
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/verdict"
)

// measure is what the work of an agent step is measured against, and whose the
// changes since then can be.
type measure struct {
	base    *belay.Print // from where the next attempt is measured; nil = from its own beginning
	since   time.Time    // when the attempt began that had that base
	blind   bool         // an attempt since the base was cut off, and nobody saw what it did
	severed bool         // so it is for the attempt that was begun last
	beside  []string     // who else worked in the same tree, since the base: "step lint", "run 01ab"
	between []string     // who did since the last attempt ended
	acted   bool         // an earlier attempt since the base left work of its own
}

// maxBeside is how many others are told.
const maxBeside = 20

// meets takes in that somebody else works in the same tree.
func (m *measure) meets(who string) { m.beside = with(m.beside, who) }

// meetsLater takes in that somebody works there after an attempt. It is nothing to
// the verdict about that one, but to all that are measured from the same base.
func (m *measure) meetsLater(who string) { m.between = with(m.between, who) }

func with(list []string, who string) []string {
	if len(list) < maxBeside && !slices.Contains(list, who) {
		list = append(list, who)
	}
	return list
}

// begin takes in that an attempt starts.
func (m *measure) begin(at time.Time) {
	if m.base == nil {
		*m = measure{since: at}
	}
	for _, who := range m.between {
		m.meets(who)
	}
	m.between = nil
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
	for _, run := range o.Beside {
		m.meets("run " + string(run))
	}
	e := o.Agent.Evidence
	own := verdict.Own(e, len(m.beside) > 0)
	switch before := e.Before; {
	case !usable(&before):
		return
	case !usable(&e.After): // nobody knows what it left
		m.noted(&before)
		m.blind = true
	case !verdict.Changed(e) || !m.acted && !own && !m.severed:
		m.base, m.blind = nil, false
	default:
		m.noted(&before)
		m.acted = m.acted || own
	}
}

// usable tells whether something can be measured against a print. One that
// failed would make every later look fail with it.
func usable(p *belay.Print) bool { return p != nil && p.Tree != "" && p.Error == "" }

// spot is a step at work, and the worktree it works in, "" for none.
type spot struct {
	run  belay.RunID
	step int
	home string
}

// meet remembers which agents work in one tree with somebody else: another
// step, a hook, an agent that mends, at the same time or between two attempts
// that are measured from the same base. A check and a planner only look. What
// stands in a worktree of its own meets nobody; all else counts as one place,
// since nobody here can see where a repository ends.
func (t *Tree) meet(run belay.RunID, e belay.AttemptStarted) {
	s := t.runs[run]
	i, ok := s.open[e.Key]
	if !ok || e.Role == belay.RoleVerify || e.Role == belay.RolePlan {
		return
	}
	here := spot{run, i, t.place(s, i)}
	name := "step " + string(s.prog.Steps[i].ID)
	for _, k := range t.birth { // in the same order whenever it is folded
		other, ok := t.places[k]
		if !ok || other.home != here.home || other == here {
			continue
		}
		o := t.runs[other.run]
		if e.Role == belay.RoleMain {
			s.steps[i].agent.meets("step " + string(o.prog.Steps[other.step].ID))
		}
		if !aside(k) {
			o.steps[other.step].agent.meets(name)
		}
	}
	for other := range t.based { // each keeps its own list: the order is nothing to them
		if other.home == here.home && other != here && !t.within(run, other) {
			t.runs[other.run].steps[other.step].agent.meetsLater(name)
		}
	}
	t.places[e.Key] = here
	if e.Role == belay.RoleMain {
		delete(t.based, here)
	}
}

// part takes in that an attempt is over. If the next one of its step is measured
// from the same base, whoever works there until then is of interest.
func (t *Tree) part(k belay.Key) {
	here, ok := t.places[k]
	if ok && !aside(k) && t.runs[here.run].steps[here.step].agent.base != nil {
		t.based[here] = true
	}
	delete(t.places, k)
}

// within tells whether a run belongs to a step: what it does, it does for it.
func (t *Tree) within(run belay.RunID, of spot) bool {
	for up, ok := t.parents[run]; ok; up, ok = t.parents[up.run] {
		if i, open := t.runs[up.run].open[up.key]; open && up.run == of.run && i == of.step {
			return true
		}
	}
	return false
}

// aside tells the keys of attempts that are not the work of their step.
func aside(k belay.Key) bool {
	return slices.ContainsFunc([]belay.Role{belay.RoleHook, belay.RoleRepair, belay.RoleRecovery}, func(r belay.Role) bool {
		return strings.Contains(string(k), "@"+string(r)+".")
	})
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
