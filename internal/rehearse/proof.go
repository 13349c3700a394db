package rehearse

import (
	"fmt"
	"slices"
	"strings"

	"github.com/belay-run/belay"
)

// maxHits bounds how many attempts a story names.
const maxHits = 20

// book is what the journal holds about one step.
type book struct {
	target  Target
	in      Injection
	checked map[belay.Path]bool // steps that have a check

	keys   []belay.Key // of all attempts that concern it, in order
	rest   []belay.Key // of all others
	places map[belay.Key]place
	seen   map[belay.Key]belay.Observation
	judged map[belay.Key]belay.Verdict
	ways   []Way
}

func newBook(recs []belay.Record, targets []Target, t Target, in Injection) *book {
	b := &book{
		target: t, in: in, checked: map[belay.Path]bool{}, places: map[belay.Key]place{},
		seen: map[belay.Key]belay.Observation{}, judged: map[belay.Key]belay.Verdict{},
	}
	for _, other := range targets {
		b.checked[other.Step] = other.Checked
	}
	for _, r := range recs {
		switch e := r.Event.(type) {
		case belay.AttemptStarted:
			b.add(e.Key, place{run: r.Run, path: e.Path, role: e.Role, attempt: e.Attempt, child: e.Child != ""})
		case belay.AttemptEnded:
			b.seen[e.Key] = e.Observation
		case belay.AttemptJudged:
			b.judged[e.Key] = e.Verdict
		case belay.RecoveryChosen:
			if e.Path == t.Step || t.own(place{run: r.Run, path: e.Path}) {
				b.ways = append(b.ways, Way{Act: e.Plan.Act, Rule: e.Plan.Rule, Reason: e.Plan.Reason})
			}
		}
	}
	return b
}

func (b *book) add(k belay.Key, p place) {
	if _, known := b.places[k]; known {
		return // it was never born, and is started again
	}
	b.places[k] = p
	if t := b.target; t.own(p) || p.path == t.Step || t.below(p) > 0 {
		b.keys = append(b.keys, k)
	} else {
		b.rest = append(b.rest, k)
	}
}

// told is what came of the fault.
func (b *book) told() Told {
	t := Told{Injection: b.in, Ways: b.ways}
	for _, k := range b.keys {
		p := b.places[k]
		_, started := b.seen[k]
		if b.in.hits(b.target, p) && len(t.Hits) < maxHits && (started || p.role != belay.RoleMain || len(t.Hits) == 0) {
			t.Hits = append(t.Hits, Hit{Key: k, Verdict: b.verdict(k)})
		}
		if t.Good == "" && p.role == belay.RoleMain && b.in.hits(b.target, p) {
			t.Good = keyOnly(b.doneBy(p))
		}
	}
	return t
}

// verdict is what the run made of an attempt, in words.
func (b *book) verdict(k belay.Key) string {
	v, ok := b.judged[k]
	switch {
	case ok && v.OK:
		return "good"
	case ok && v.Failure != nil:
		what := string(v.Failure.Kind)
		if v.Failure.Class != belay.ClassNone {
			what += " (" + string(v.Failure.Class) + ")"
		}
		return what + ": " + strings.Join(strings.Fields(v.Failure.Cause), " ")
	case ok && v.Unknown:
		return "nobody knows"
	case ok && v.GivenBack:
		return "given back"
	}
	if o, ended := b.seen[k]; ended {
		return fmt.Sprintf("exit %d", o.Exit)
	}
	return "not ended"
}

// group is the step that an attempt belongs to, whatever attempts it is
// nested in.
func (b *book) group(p place) string {
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
	run := p.run.Root()
	for _, around := range up {
		keys[belay.KeyOf(run, around.path, belay.RoleMain, around.attempt)] = true
		run = run.Child(around.path, around.attempt)
	}
	return keys
}

// proven tells whether each step that had the fault was done in the end by an
// attempt that had not.
func (b *book) proven() bool {
	for _, k := range b.keys {
		if p := b.places[k]; p.role == belay.RoleMain && b.in.hits(b.target, p) && b.doneBy(p) == "" {
			return false
		}
	}
	return true
}

// doneBy is the attempt that did the work of one which had the fault: of the
// same step, or of a step around it, but for the attempts that it is nested in.
// A check that is there must have passed after it.
func (b *book) doneBy(p place) belay.Key {
	mine, around := b.group(p), within(p)
	var by, last belay.Key // the attempt, and one that waits for its check
	for _, k := range slices.Concat(b.keys, b.rest) {
		at := b.places[k]
		g := b.group(at)
		same := g == mine
		if !same && !strings.HasPrefix(mine, g+"/") || around[k] {
			continue
		}
		o, ended := b.seen[k]
		passed := at.role == belay.RoleVerify && ended && o.Exit == 0 && o.Signal == 0
		wantsCheck := b.checked[at.path] || b.target.Checked && b.target.own(at)
		switch {
		case passed && last != "":
			by = last
		case b.good(k) && !wantsCheck:
			by = k
		case b.good(k), wantsCheck && b.in.Fault == LyingRecovery && mends(at.role):
			last = k // even a liar may have done it, if the check says so
		}
	}
	return by
}

// good tells whether an attempt did the work, by what was seen of it alone.
func (b *book) good(k belay.Key) bool {
	o, ended := b.seen[k]
	p := b.places[k]
	if !ended || b.in.hits(b.target, p) && !b.in.Fault.works() {
		return false
	}
	switch p.role {
	case belay.RoleMain, belay.RoleRecovery:
	case belay.RoleVerify, belay.RoleHook, belay.RoleRepair, belay.RolePlan, belay.RoleMerge:
		return false
	}
	if o.Child != nil {
		return o.Child.Code == belay.ExitOK
	}
	if !o.Began || o.Exit != 0 || o.Signal != 0 || o.KilledBy != belay.KilledNot || o.Fault != belay.FaultNone {
		return false
	}
	if o.Agent == nil {
		return true
	}
	r := o.Agent.Result
	if !r.Final || r.Error || r.Exit != 0 || r.Stop != belay.StopDone && r.Stop != belay.StopUnknown || o.Agent.Ended != belay.EndedItself {
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
	for _, k := range b.keys {
		p := b.places[k]
		up, _ := parents(p.run)
		if p.role == belay.RoleMain && b.in.hits(b.target, p) &&
			!slices.ContainsFunc(up, func(around place) bool { return optional[around.path] }) {
			return false
		}
	}
	return true
}
