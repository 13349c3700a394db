package rehearse

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/internal/library"
	"github.com/belay-run/belay/internal/spelling"
	"github.com/belay-run/belay/recipe"
)

// Target is a step that a fault can happen to.
type Target struct {
	Recipe   string         `json:"recipe"`
	Step     belay.Path     `json:"step"`
	Type     belay.StepType `json:"type"`
	Each     bool           `json:"each,omitempty"`     // it is a list of items, and each of them has the fault
	Rounds   bool           `json:"rounds,omitempty"`   // it is done in rounds, and the first of them have the fault
	Timeout  time.Duration  `json:"timeout,omitempty"`  // 0 = none
	Optional bool           `json:"optional,omitempty"` // the run does without it
	Checked  bool           `json:"checked,omitempty"`  // it has a check of its own
	Expect   belay.Expect   `json:"expect,omitempty"`   // of an agent step
	Agents   bool           `json:"agents,omitempty"`   // the run has agents that could mend it
}

// Targets are the steps of a recipe and of all that it calls, its own first. A
// step's id stands for all steps of that id.
func Targets(set *library.Set) []Target {
	recipes := []*recipe.Recipe{}
	agents := false
	for _, r := range set.Library.Recipes {
		recipes = append(recipes, r)
		for i := range r.Steps {
			agents = agents || r.Steps[i].Type.Agent()
		}
	}
	slices.SortFunc(recipes, func(a, b *recipe.Recipe) int {
		if own := cmp.Compare(rank(set, a), rank(set, b)); own != 0 {
			return own
		}
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Digest, b.Digest))
	})
	var list []Target
	seen := map[belay.Path]bool{}
	for _, r := range recipes {
		for i := range r.Steps {
			s := &r.Steps[i]
			if seen[s.ID] {
				continue
			}
			seen[s.ID] = true
			list = append(list, Target{
				Recipe: r.Name, Step: s.ID, Type: s.Type, Each: s.Foreach != "", Rounds: s.Repeat != nil, Timeout: s.Timeout,
				Optional: s.Optional, Checked: s.Verify != nil, Expect: set.Expects(r, i), Agents: agents,
			})
		}
	}
	return list
}

func rank(set *library.Set, r *recipe.Recipe) int {
	if r.Digest == set.Root.Digest {
		return 0
	}
	return 1
}

// Find is the target of an injection, if the fault can happen to it.
func Find(list []Target, in Injection) (Target, error) {
	var names []string
	for _, t := range list {
		if t.Step == in.Step {
			return t, t.Fits(in.Fault)
		}
		names = append(names, string(t.Step))
	}
	near := ""
	if n := spelling.Near(string(in.Step), names); n != "" {
		near = fmt.Sprintf("; did you mean %q?", n)
	}
	return Target{}, fmt.Errorf("there is no step %q%s; there are %s", in.Step, near, strings.Join(names, ", "))
}

// Fits says why a fault cannot happen to the step; nil when it can.
func (t Target) Fits(f Fault) error {
	if f == LyingRecovery && !t.Agents {
		return fmt.Errorf("%s: lying_recovery needs an agent that could lie, and the recipe has no agent step", t.Step)
	}
	switch t.Type {
	case belay.TypeAgent:
		return nil
	case belay.TypeBash:
		return t.fitsShell(f)
	case belay.TypeRecipe:
		if f == LyingRecovery {
			return nil
		}
		return fmt.Errorf("%s calls a recipe: name one of its steps, or lying_recovery", t.Step)
	case belay.TypeApprove:
		return fmt.Errorf("%s asks a person, to whom nothing can happen: say what is answered with --answer %s=CHOICE", t.Step, t.Step)
	case belay.TypeCall:
		return fmt.Errorf("%s calls a function of Belay, to which nothing can happen: name the step that gives it its inputs", t.Step)
	}
	return fmt.Errorf("%s is of type %s, to which nothing can happen", t.Step, t.Type)
}

// takesClaims tells whether the step asks for no more than words, so that a
// claim is all that it asked for.
func (t Target) takesClaims(f Fault) bool {
	return f == HollowClaim && !t.Checked &&
		t.Expect != belay.ExpectChange && t.Expect != belay.ExpectTests && t.Expect != belay.ExpectPR
}

func (t Target) fitsShell(f Fault) error {
	switch f {
	case Hang:
		if t.Timeout == 0 {
			return fmt.Errorf("%s has no timeout: nothing would ever end it; give it one", t.Step)
		}
		return nil
	case Crash, Kill9, DiskFull, Slow, Flood, LyingRecovery:
		return nil
	case HollowClaim, Denied, Unauthorised, RateLimited, ServerError, TokenLimit, Refusal, Truncated:
	}
	return fmt.Errorf("%s is a shell step, and %s happens to agents only; hang, crash, kill9, disk_full, slow and flood can happen to it", t.Step, f)
}

// place is where an attempt is.
type place struct {
	run     belay.RunID
	path    belay.Path
	role    belay.Role
	attempt int
	child   bool // it is a run of its own, and starts no process that could have a fault
}

func placeOf(j effect.Job) place {
	return place{run: j.Run, path: j.Path, role: j.Role, attempt: j.Attempt}
}

// What the ids of the items of a list and of rounds begin with.
const (
	itemPrefix  = "item-"
	roundPrefix = "round-"
)

// own tells whether the attempt is one of the step itself, or of one of its items
// or rounds.
func (t Target) own(p place) bool {
	prefix := itemPrefix
	switch {
	case t.Rounds:
		prefix = roundPrefix
	case !t.Each:
		return p.path == t.Step
	}
	_, last := parents(p.run)
	return last.path == t.Step && strings.HasPrefix(string(p.path), prefix)
}

// number is which attempt of the step it is: a round is one more.
func (t Target) number(p place) int {
	if round, err := strconv.Atoi(strings.TrimPrefix(string(p.path), roundPrefix)); t.Rounds && err == nil {
		return p.attempt + round - 1
	}
	return p.attempt
}

// below is the attempt of the step that this one is a part of; 0 = it is none.
func (t Target) below(p place) int {
	all, _ := parents(p.run)
	for _, up := range all {
		if up.path == t.Step {
			return up.attempt
		}
	}
	return 0
}

// parents are the attempts that a run is nested in, the root's first.
func parents(run belay.RunID) (all []place, last place) {
	for up, ok := run.Parent(); ok; up, ok = up.Run.Parent() {
		all = append([]place{{run: up.Run, path: up.Path, role: belay.RoleMain, attempt: up.Attempt}}, all...)
	}
	if len(all) > 0 {
		last = all[len(all)-1]
	}
	return all, last
}

// hits tells whether an attempt has the fault. One that is a run of its own, as
// the parts of a split task or a fallback, has none: what is in it is other work.
func (in Injection) hits(t Target, p place) bool {
	if in.Fault == LyingRecovery && mends(p.role) && t.own(p) {
		return true
	}
	if p.role != belay.RoleMain || p.child {
		return false
	}
	if in.Fault == LyingRecovery && !t.Type.Agent() {
		in.Times = Always // nobody mends it
	}
	if t.Type.Child() {
		n := t.below(p)
		return n > 0 && in.covers(n)
	}
	return t.own(p) && in.covers(t.number(p))
}

// unproven tells whether a check looks at an attempt that had the fault, ended well
// all the same, and did nothing. Each of those is checked, so their numbers agree.
func (in Injection) unproven(t Target, p place) bool {
	return p.role == belay.RoleVerify && (in.Fault == HollowClaim || in.Fault == Denied) && t.own(p) && in.covers(t.number(p))
}

// mends tells whether an attempt is there to mend something.
func mends(r belay.Role) bool {
	switch r {
	case belay.RoleRepair, belay.RolePlan, belay.RoleRecovery:
		return true
	case belay.RoleMain, belay.RoleVerify, belay.RoleHook, belay.RoleMerge:
	}
	return false
}
