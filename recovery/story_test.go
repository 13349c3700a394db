package recovery

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay"
)

// story is a step that fails again and again, and every plan is carried out as
// a driver would.
type story struct {
	s     Situation
	plans []belay.Plan
}

func ended(act belay.Act) bool {
	return slices.Contains([]belay.Act{belay.ActGiveUp, belay.ActHold, belay.ActAbort, belay.ActSkip}, act)
}

// fail is one more failure, and what follows it.
func (y *story) fail(f belay.Failure, choose func(Situation) belay.Plan) belay.Plan {
	s := &y.s
	s.Failure = f
	s.History.Failed++
	s.History.Key = belay.Key(fmt.Sprintf("r:a.%d", s.History.Failed))
	switch {
	case !s.outage():
		s.Down = time.Time{}
	case s.Down.IsZero():
		s.Down = s.Now
	}
	p := choose(*s)
	y.plans = append(y.plans, p)
	past := Past{Act: p.Act, Class: f.Class, Print: f.Print, Agent: s.Agent, Role: s.Role, Failing: s.Failing, Patient: p.Patient}
	switch p.Act {
	case belay.ActFailover:
		past.To, s.Agent = p.Agent, p.Agent
	case belay.ActReassign:
		past.To, s.Role = p.Role, Role(p.Role)
	case belay.ActDecompose:
		s.Depth++
	}
	s.Past = append(slices.Clip(s.Past), past)
	if p.Counts {
		s.Replans++
	}
	if p.Due.After(s.Now) {
		s.Now = p.Due
	}
	return p
}

// acts is the plans in short: the act, and who takes over. Waits for a service
// in a row are one word.
func (y *story) acts() string {
	var words []string
	for _, p := range y.plans {
		word := string(p.Act)
		if to := p.Agent + p.Role; to != "" {
			word += ":" + to
		}
		if p.Patient {
			if word = "waits"; len(words) > 0 && words[len(words)-1] == word {
				continue
			}
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// play lets the same failure happen until the policy ends it. With other, each
// time has a fingerprint of its own.
func play(s Situation, f belay.Failure, other bool, choose func(Situation) belay.Plan) *story {
	y := &story{s: s}
	for n := range 100 {
		f.Print = "p"
		if other {
			f.Print = fmt.Sprintf("p%d", n)
		}
		if ended(y.fail(f, choose).Act) {
			break
		}
	}
	return y
}

func shell() Situation {
	return Situation{Type: belay.TypeBash, Title: "build it", Declared: Policy{MaxAttempts: 1}, Now: now, Agents: true}
}

func agentStep() Situation {
	return Situation{
		Type: belay.TypeAgent, Title: "write the parser", Declared: Policy{MaxAttempts: 1}, Now: now, Timeout: 10 * time.Minute,
		Agents: true, Agent: "a", Role: Coder, Others: []string{"a", "b", "c"},
	}
}

func recipeStep() Situation {
	return Situation{Type: belay.TypeRecipe, Title: "deploy", Declared: Policy{MaxAttempts: 1}, Now: now, Agents: true, Recoverable: true}
}

// with is a situation with some fields set.
func with(s Situation, set func(*Situation)) Situation {
	set(&s)
	return s
}
