package verdict

import (
	"slices"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
)

// RuleGuard marks a failure that is about guarded files.
const RuleGuard = "evidence.guard"

// maxTold is how many guarded files a failure names.
const maxTold = 10

// tampered is the failure of an agent that changed guarded files, or of which
// nobody knows whether it did; nil = it did not.
func (c Case) tampered() *belay.Failure {
	if c.Main.Agent == nil {
		return nil
	}
	return c.tamperedIn(c.Main.Agent.Evidence)
}

func (c Case) tamperedIn(e belay.Evidence) *belay.Failure {
	switch {
	case len(e.Tampered) > 0:
		return c.fail(belay.BashFailure, belay.ClassTampered, "guarded files were changed: "+Tampered(e),
			"put them back, or say with guard: which files the agent may not change; guard: [] lifts it")
	case e.Unseen != "":
		return c.fail(belay.Infrastructure, belay.ClassInfrastructure, "nobody knows whether guarded files were changed: "+e.Unseen,
			"guard: needs a git repository that can be looked at")
	}
	return nil
}

// Guarded looks at what an agent that helps did to guarded files, however it
// ended: what runs after it shows nothing when they were changed. saw is what
// Belay saw itself, where the agent's attendant did not tell.
func Guarded(c Case, v effect.Verdict, saw *belay.Evidence) effect.Verdict {
	if c.Main.Agent != nil {
		saw = &c.Main.Agent.Evidence
	}
	if saw == nil {
		return v
	}
	f := c.tamperedIn(*saw)
	if f == nil {
		return v
	}
	f.Level, f.Rule, f.Move = belay.LevelProbe, RuleGuard, belay.ActResume
	return effect.Verdict{Failure: f, For: v.For, Against: append(slices.Clone(v.Against), f.Cause), Sure: sureSeen}
}

// Tampered names the guarded files that were changed.
func Tampered(e belay.Evidence) string {
	var names []string
	for _, f := range e.Tampered[:min(len(e.Tampered), maxTold)] {
		names = append(names, f.Path)
	}
	if more := len(e.Tampered) - len(names); more > 0 {
		names = append(names, "and more")
	}
	return strings.Join(names, ", ")
}
