package cli

import (
	"fmt"
	"strconv"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/story"
)

// helperNamed is the step and the role that a name such as call@recovery or
// call@recovery.2 speaks of; the number is 0 for the last attempt.
func helperNamed(p belay.Path) (step belay.Path, role belay.Role, n int, ok bool) {
	m := besideForm().FindStringSubmatch(string(p))
	if m == nil {
		return "", "", 0, false
	}
	n, _ = strconv.Atoi(m[3]) // "" is the last one
	return belay.Path(m[1]), belay.Role(m[2]), n, story.Helps(belay.Role(m[2]))
}

// judgeHelper tells the verdict about an agent that helped with a step, as it is
// on record: with what it rests on.
func (a *app) judgeHelper(s *runView, name belay.Path) (judgement, error) {
	p, role, n, _ := helperNamed(name)
	v, err := s.step(p)
	if err != nil {
		return judgement{}, err
	}
	var last *story.Attempt
	for _, f := range s.Step(v.At()).Attempts {
		if f.Role == role && (n == 0 || f.N == n) && f.Verdict != nil {
			last = f
		}
	}
	if last == nil {
		return judgement{}, exit.New(exit.Invalid, "judge", fmt.Errorf("there is no verdict about %s", name),
			"see what was done about the step with "+a.name()+" show "+string(s.id)+" "+string(p))
	}
	return helperJudged(last), nil
}

// helperJudged is a stored verdict about a helper, as judge prints it.
func helperJudged(f *story.Attempt) judgement {
	v := *f.Verdict
	j := judgement{
		Verdict: verdictWord(v), Code: flow.CodeOf(v), Sure: v.Sure, Role: f.Role, Failure: v.Failure, Agent: f.Agent,
		For: append([]string{}, v.For...), Against: append([]string{}, v.Against...),
	}
	if v.OK && f.Role == belay.RoleRecovery {
		j.Verdict = verdictText(f)
	}
	if o := f.Observation; o != nil && o.Agent != nil {
		j.Result, j.Evidence = o.Agent.Result, o.Agent.Evidence
	}
	return j
}
