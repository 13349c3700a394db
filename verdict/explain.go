package verdict

import (
	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/internal/pattern"
)

// Look is what is known of a failure beyond its own attempt.
type Look struct {
	Probe   *effect.Probe // a direct look at the machine; nil = not looked
	Earlier Earlier
	Dir     string // the working directory: paths below it belong to the fingerprint
}

// Explain gives a failure its class, the evidence that decided it, its
// fingerprint and the move that it asks for first.
func (c *Classifier) Explain(it Case, f *belay.Failure, look Look) {
	if it.Main.Child != nil && it.Check == nil {
		explainChild(it, f)
		return
	}
	facts := it.facts(look)
	text := tail(facts.Text)
	if text == "" {
		text = tail(f.Cause)
	}
	if facts.Tool == "" {
		facts.Tool = c.toolOf(pattern.NewText(text), facts.Exit)
	}
	found, known := it.decided(*f, facts)
	if !known {
		facts.Text = text
		found = c.Classify(facts)
		if facts.Agent == nil && found.Level == belay.LevelProcess && c.toolOf(pattern.NewText(text), NoExit) == "" {
			found.Level = belay.LevelText // a code without its tool is no better than a word
		}
		found = locked(found, look.Probe)
	} else {
		found.Fingerprint = fingerprint(facts, text)
		found = repeated(facts, found)
	}
	f.Class, f.Level, f.Rule, f.Move, f.Print = found.Class, found.Level, found.Rule, found.Move, found.Fingerprint
	f.Agent = it.agent() && it.Main.Began
	if r := it.Main.Agent; r != nil {
		f.After, f.Reset = r.Result.RetryAfter, r.Result.Reset
	}
	if it.Main.Agent != nil && f.Kind == belay.AgentTimeout && (f.Level == belay.LevelTyped || f.Class != belay.ClassTimeout) {
		f.Kind = belay.Infrastructure // not our clock: the service or the network
	}
	if found.Level == belay.LevelText && ofService(facts, found) {
		f.Kind = belay.Infrastructure
		if f.Hint == "" {
			f.Hint = found.Class.Row().Hint
		}
	}
	it.lacking(f, look.Probe)
}

// locked looks behind the words about a lock: one that somebody holds goes away
// by itself, one whose owner is dead stays until a person takes it away.
func locked(found Finding, p *effect.Probe) Finding {
	if p == nil || found.Class != belay.ClassConflict || found.Level != belay.LevelText {
		return found
	}
	switch p.Lock {
	case effect.LockAlive:
		found.Level, found.Rule, found.Move = belay.LevelProbe, "probe.lock_alive", belay.ActRetry
	case effect.LockDead:
		found.Level, found.Rule, found.Move = belay.LevelProbe, "probe.lock_dead", belay.ActEscalate
	case effect.LockNone:
	}
	return found
}

// explainChild takes over what is known of the failure below.
func explainChild(c Case, f *belay.Failure) {
	down := c.Main.Child.Failure
	switch {
	case c.Main.KilledBy == fault.KilledDeadline:
		f.Class, f.Level, f.Rule, f.Move = belay.ClassTimeout, belay.LevelAct, "act.deadline", belay.ActDecompose
	case down == nil || down.Class == belay.ClassNone:
		f.Class, f.Level, f.Rule, f.Move = belay.ClassUnknown, belay.LevelUnknown, "unknown", belay.ClassUnknown.Row().First
	default:
		f.Class, f.Level, f.Rule, f.Move, f.After, f.Reset = down.Class, down.Level, down.Rule, down.Move, down.After, down.Reset
		f.Agent = down.Agent
	}
	f.Print = fingerprint(Facts{Tool: "recipe", Exit: c.Main.Child.Code}, f.Cause)
}

// facts is what the ladder looks at.
func (c Case) facts(look Look) Facts {
	o := c.Main
	if Spoke(c.Check) {
		o = *c.Check
	}
	x := Facts{Exit: o.Exit, Signal: o.Signal, Text: o.Tail, Repo: look.Dir, Earlier: look.Earlier}
	if p := look.Probe; p != nil {
		x.Probes = Probes{DiskFull: &p.DiskFull, ReadOnly: &p.ReadOnly, OOMKill: &p.OOMKill, NoProgram: p.NoProgram != "", NoHost: p.NoHost != "", NoLogin: p.NoLogin != ""}
	}
	switch o.KilledBy {
	case fault.KilledDeadline, fault.KilledGrace, fault.KilledLease:
		x.Act = ActDeadline
	case fault.KilledStop, fault.KilledCancel:
		x.Act = ActCancel
	case fault.KilledNot:
	}
	if r := c.Main.Agent; r != nil {
		x.Agent, x.Tool, x.Exit, x.Signal = &r.Result, r.Name, r.Result.Exit, r.Result.Signal
		x.Progress = Changed(r.Evidence)
		x.Text = r.Result.Cause
	}
	return x
}

// decided is the class of a failure that the judge of the attempt has named
// already, or that the hands did.
func (c Case) decided(f belay.Failure, x Facts) (Finding, bool) {
	found := Finding{Class: f.Class, Tool: x.Tool}
	switch {
	case c.Declared != "" && c.Declared == f.Kind && f.Kind != belay.BashFailure:
		found.Class, found.Level, found.Rule = declaredClass(f.Kind), belay.LevelAct, belay.RuleDeclared
	case c.agent() && c.Main.Agent != nil && c.Main.Fault != fault.Output && !(c.Main.Fault == fault.Disk && f.Class == belay.ClassInfrastructure):
		return c.decidedAgent(found, x)
	case Spoke(c.Check) && c.good():
		if p, ok := probed(x); ok { // the check could not look
			return p, true
		}
		found.Class, found.Level, found.Rule = belay.ClassWorkFailure, belay.LevelProcess, "verify"
	case c.Main.Fault != fault.None:
		found.Class, found.Level, found.Rule = faultClass(c.Main.Fault), belay.LevelProcess, "fault."+string(c.Main.Fault)
		if p, ok := probed(x); ok {
			return p, true
		}
		if c.Main.Fault == fault.Disk && is(x.Probes.DiskFull, false) { // there is room again
			found.Move = belay.ActRetry
			return found, true
		}
	default:
		return Finding{}, false
	}
	found.Move = found.Class.Row().First
	return found, true
}

// decidedAgent says which rung decided what was judged of an agent.
func (c Case) decidedAgent(found Finding, x Facts) (Finding, bool) {
	a := c.Main.Agent
	switch {
	case found.Class == belay.ClassNone || found.Class == belay.ClassUnknown:
		return Finding{}, false
	case found.Class == belay.ClassTimeout:
		return overtime(found, a, x.Progress), true
	case found.Class == belay.ClassHollow && len(a.Result.Denied) > 0: // it was not let do the work
		found.Class, found.Level, found.Rule, found.Move = belay.ClassPermission, belay.LevelTyped, "agent.denied", belay.ActReassign
		return found, true
	case found.Class == belay.ClassWorkFailure && Spoke(c.Check), found.Class == belay.ClassInfrastructure:
		if p, ok := probed(x); ok {
			return p, true
		}
	}
	if found.Class == belay.ClassInfrastructure && c.agentFailure() == nil { // the agent ended well: it is our own look that failed
		found.Level, found.Rule, found.Move = belay.LevelProcess, belay.RuleSetup, belay.ActEscalate
		return found, true
	}
	if seen, ok := seenByUs()[found.Class]; ok {
		found.Level, found.Rule, found.Move = seen.level, seen.rule, found.Class.Row().First
		if found.Class == belay.ClassHollow && (c.Expect == belay.ExpectAnswer || c.Expect == "") {
			found.Rule = belay.RuleNoAnswer
		} else if found.Class == belay.ClassHollow && Spoke(c.Check) && c.Check.Check != nil {
			found.Rule = RuleUnshown
		}
		return found, true
	}
	found.Level, found.Rule = belay.LevelTyped, "agent."+string(found.Class)
	found.Move = typedMove(a.Result, found.Class, x.Progress)
	return found, true
}

// RuleUnshown marks an end without proof: Belay ran the tests or asked the forge, and they show
// nothing. What was done is not known by that.
const RuleUnshown = "evidence.check"

// seenByUs are the classes that Belay gives to the work of an agent itself, and
// what it saw; all others are told by the records of the agent.
func seenByUs() map[belay.Class]struct {
	level belay.Level
	rule  string
} {
	return map[belay.Class]struct {
		level belay.Level
		rule  string
	}{
		belay.ClassHollow:        {belay.LevelProbe, "evidence"},
		belay.ClassWorkFailure:   {belay.LevelProcess, "verify"},
		belay.ClassIncomplete:    {belay.LevelTyped, "agent.closing_line"},
		belay.ClassTampered:      {belay.LevelProbe, RuleGuard},
		belay.ClassMergeConflict: {belay.LevelProcess, "merge"},
	}
}

// overtime says what the end of an agent's time asks for.
func overtime(found Finding, a *effect.AgentReport, progress bool) Finding {
	found.Level, found.Rule, found.Move = belay.LevelAct, "act."+string(a.Ended), belay.ActDecompose
	switch a.Ended {
	case effect.EndedItself: // the CLI's own words: the network's clock
		found.Level, found.Rule, found.Move = belay.LevelTyped, "agent.timeout", belay.ActRetry
	case effect.EndedRetries: // it did not hang: its service is down
		found.Class, found.Move = belay.ClassTransient, belay.ActRetry
		if a.Result.Class == belay.ClassRateLimit {
			found.Class, found.Move = a.Result.Class, belay.ActRetryAfter
		}
	case effect.EndedFirst, effect.EndedSilence: // it hangs, and was given a second chance already
		found.Move = belay.ActFailover
	case effect.EndedTool, effect.EndedBabble, effect.EndedDeadline, effect.EndedSignal, effect.EndedOutput:
		switch {
		case progress:
			found.Move = belay.ActRetry
		case a.Result.ToolCount == 0: // not too much to do: it did nothing at all
			found.Move = belay.ActFailover
		}
	}
	return found
}

// declaredClass is the class of a failure whose kind the recipe declares.
func declaredClass(k belay.FailureKind) belay.Class {
	switch k {
	case belay.Infrastructure:
		return belay.ClassInfrastructure
	case belay.AgentTimeout:
		return belay.ClassTimeout
	case belay.HollowSuccess:
		return belay.ClassHollow
	case belay.RoutingGap, belay.BashFailure, belay.RecipeFailure, belay.RecursionLimit:
	}
	return belay.ClassUnknown
}

// Refused gives its class to a failure that no process had: Belay did not start
// the step, or found none to start. Nothing of that is cured by another try: a
// limit on nesting and sessions is a budget, all else is the recipe's.
func Refused(f belay.Failure) belay.Failure {
	f.Class, f.Move = belay.ClassInvalidInput, belay.ActAbort
	switch f.Kind {
	case belay.RecursionLimit:
		f.Class, f.Move = belay.ClassBudget, belay.ActEscalate
	case belay.Infrastructure:
		f.Class, f.Move = belay.ClassInfrastructure, belay.ActEscalate
	case belay.RoutingGap, belay.AgentTimeout, belay.BashFailure, belay.RecipeFailure, belay.HollowSuccess:
	}
	f.Level, f.Rule = belay.LevelAct, "refused."+string(f.Kind)
	return f
}

// faultClass is the class of what the hands could not do.
func faultClass(f fault.Fault) belay.Class {
	switch f {
	case fault.Program, fault.Disk, fault.Spawn, fault.Agent:
		return belay.ClassInfrastructure
	case fault.Dir, fault.TooBig, fault.Output, fault.Input, fault.Hidden:
		return belay.ClassInvalidInput
	case fault.JSON, fault.Result:
		return belay.ClassWorkFailure
	case fault.None:
	}
	return belay.ClassUnknown
}
