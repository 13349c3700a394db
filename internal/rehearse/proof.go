package rehearse

import (
	"fmt"
	"slices"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/story"
)

// maxHits bounds how many attempts a story names.
const maxHits = 20

// book is what the journal holds about one step.
type book struct {
	target  Target
	in      Injection
	checked map[belay.Path]bool // steps that have a check

	mine []*story.Attempt // all that concern it, in order
	rest []*story.Attempt // all others
	ways []Way
}

func newBook(st *story.Story, targets []Target, t Target, in Injection) *book {
	b := &book{target: t, in: in, checked: map[belay.Path]bool{}}
	for _, other := range targets {
		b.checked[other.Step] = other.Checked
	}
	for _, a := range st.Attempts {
		if p := at(a); t.own(p) || p.path == t.Step || t.below(p) > 0 {
			b.mine = append(b.mine, a)
		} else {
			b.rest = append(b.rest, a)
		}
	}
	for _, d := range st.Decisions(st.Root) {
		if d.Plan != nil && (d.Path == t.Step || t.own(place{run: d.Run, path: d.Path})) {
			b.ways = append(b.ways, Way{Act: d.Plan.Act, Rule: d.Plan.Rule, Reason: d.Plan.Reason, Wait: max(0, d.Wait())})
		}
	}
	return b
}

// at is where an attempt is.
func at(a *story.Attempt) place {
	return place{run: a.Run, path: a.Path, role: a.Role, attempt: a.N, child: a.Child != ""}
}

// hits tells whether an attempt has the fault.
func (b *book) hits(a *story.Attempt) bool { return b.in.hits(b.target, at(a)) }

// told is what came of the fault.
func (b *book) told() Told {
	t := Told{Injection: b.in, Ways: b.ways}
	for _, a := range b.mine {
		if b.hits(a) && len(t.Hits) < maxHits && (a.Observation != nil || a.Role != belay.RoleMain || len(t.Hits) == 0) {
			t.Hits = append(t.Hits, Hit{Key: a.Key, Verdict: verdict(a)})
		}
		if t.Good == "" && a.Role == belay.RoleMain && b.hits(a) {
			t.Good = keyOnly(b.doneBy(at(a)))
		}
	}
	return t
}

// verdict is what the run made of an attempt, in words.
func verdict(a *story.Attempt) string {
	switch v := a.Verdict; {
	case v == nil:
	case v.OK:
		return "good"
	case v.Failure != nil:
		return strings.Join(strings.Fields(v.Failure.Words()), " ")
	case v.Unknown:
		return "the outcome is unknown"
	case v.GivenBack:
		return "given back"
	}
	if a.Observation != nil {
		return fmt.Sprintf("exit %d", a.Observation.Exit)
	}
	return "not ended"
}

// group is the step that an attempt belongs to, whatever attempts it is
// nested in.
func group(p place) string {
	var words []string
	all, _ := parents(p.run)
	for _, up := range all {
		words = append(words, string(up.path))
	}
	return strings.Join(append(words, string(p.path)), "/")
}

// within are the attempts that an attempt is nested in.
func within(p place) map[belay.Key]bool {
	keys := map[belay.Key]bool{}
	up, _ := parents(p.run)
	for _, around := range up {
		keys[belay.KeyOf(around.run, around.path, belay.RoleMain, around.attempt)] = true
	}
	return keys
}

// proven tells whether each step that had the fault was done in the end by an
// attempt that had not.
func (b *book) proven() bool {
	for _, a := range b.mine {
		if a.Role == belay.RoleMain && b.hits(a) && b.doneBy(at(a)) == "" {
			return false
		}
	}
	return true
}

// onWord tells whether a person said of each step that had the fault, and that no attempt
// did, that its work is there.
func (b *book) onWord(st *story.Story) bool {
	var said []string
	for i := range st.News {
		if d := st.News[i].Decision; d != nil && d.What == story.ItemAnswered && d.About == event.ItemHeld && d.Choice == event.ChoiceDone {
			said = append(said, group(place{run: d.Run, path: d.Path}))
		}
	}
	for _, a := range b.mine {
		mine := group(at(a))
		if a.Role == belay.RoleMain && b.hits(a) && b.doneBy(at(a)) == "" &&
			!slices.ContainsFunc(said, func(g string) bool { return g == mine || strings.HasPrefix(mine, g+"/") }) {
			return false
		}
	}
	return true
}

// doneBy is the attempt that did the work of one which had the fault: of the
// same step, or of a step around it, but for the attempts that it is nested in.
// A check that is there must have passed after it.
func (b *book) doneBy(p place) belay.Key {
	mine, around := group(p), within(p)
	var by, last belay.Key // the attempt, and one that waits for its check
	for _, a := range slices.Concat(b.mine, b.rest) {
		g := group(at(a))
		if g != mine && !strings.HasPrefix(mine, g+"/") || around[a.Key] {
			continue
		}
		o := a.Observation
		passed := a.Role == belay.RoleVerify && o != nil && o.Exit == 0 && o.Signal == 0
		wantsCheck := b.checked[a.Path] || b.target.Checked && b.target.own(at(a))
		switch {
		case passed && last != "":
			by = last
		case b.good(a) && !wantsCheck:
			by = a.Key
		case b.good(a), wantsCheck && b.in.Fault == LyingRecovery && mends(a.Role):
			last = a.Key // even a liar may have done it, if the check says so
		}
	}
	return by
}

// good tells whether an attempt did the work, by what was seen of it alone.
func (b *book) good(a *story.Attempt) bool {
	o := a.Observation
	if o == nil || b.hits(a) && !b.in.Fault.works() {
		return false
	}
	switch a.Role {
	case belay.RoleMain, belay.RoleRecovery:
	case belay.RoleVerify, belay.RoleHook, belay.RoleRepair, belay.RolePlan, belay.RoleMerge:
		return false
	}
	if o.Child != nil {
		return o.Child.Code == exit.OK
	}
	if !o.Began || o.Exit != 0 || o.Signal != 0 || o.KilledBy != fault.KilledNot || o.Fault != fault.None {
		return false
	}
	if o.Agent == nil {
		return true
	}
	r := o.Agent.Result
	if !r.Final || r.Error || r.Exit != 0 || r.Stop != belay.StopDone && r.Stop != belay.StopUnknown || o.Agent.Ended != effect.EndedItself {
		return false
	}
	e := o.Agent.Evidence
	return b.target.Expect != belay.ExpectChange || e.Files > 0 || len(e.Commits) > 0 || e.Before.Tree != e.After.Tree
}

// excused tells whether the run may do without the step, everywhere where it
// had the fault.
func (b *book) excused(targets []Target) bool {
	optional := map[belay.Path]bool{}
	for _, t := range targets {
		optional[t.Step] = t.Optional
	}
	if optional[b.target.Step] {
		return true
	}
	for _, a := range b.mine {
		up, _ := parents(a.Run)
		if a.Role == belay.RoleMain && b.hits(a) &&
			!slices.ContainsFunc(up, func(around place) bool { return optional[around.path] }) {
			return false
		}
	}
	return true
}
