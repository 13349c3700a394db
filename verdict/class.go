package verdict

import (
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/internal/pattern"
)

// OwnAct is the closed list of our own acts that end an attempt.
type OwnAct string

const (
	ActNone     OwnAct = ""         // it ended by itself
	ActCancel   OwnAct = "cancel"   // a person or the run ended it
	ActDeadline OwnAct = "deadline" // its timeout, or the run's, passed
	ActStall    OwnAct = "stall"    // it did not move any more
	ActBudget   OwnAct = "budget"   // our ledger is used up
)

// NoExit stands for an exit code that nobody knows.
const NoExit = -1

// Facts is what is known of a failed attempt. What is not known stays empty.
type Facts struct {
	Act      OwnAct
	Progress bool               // there was work: commits, changed files, tests that pass now
	Agent    *belay.AgentResult // of an agent step
	Tool     string             // the program that failed; "" = found from the text
	Exit     int                // NoExit = not known
	Signal   int
	Text     string // what it said; only its last lines are looked at
	Repo     string // the root of the working tree: paths below it belong to the fingerprint
	Probes   Probes
	Earlier  Earlier
}

// Probes are direct looks at the environment; nil means: not looked.
type Probes struct {
	DiskFull *bool // no bytes or no inodes are free
	ReadOnly *bool // the working tree cannot be written
	OOMKill  *bool // the memory group counted a kill

	NoProgram bool // a program that the words name is not on PATH
	NoHost    bool // a name that they name has no address
	NoLogin   bool // a tool says itself that nobody is logged in
}

// Earlier is what the attempts before this one left to compare with.
type Earlier struct {
	Fingerprint string // of the attempt before
	Changed     bool   // files, arguments or settings changed since then
	Unknowns    int    // attempts of this step that nobody could explain
}

// Finding is the class of a failure, and what decided it.
type Finding struct {
	Class       belay.Class `json:"class"`
	Move        belay.Act   `json:"strategy"`
	Level       belay.Level `json:"level"`
	Rule        string      `json:"rule"`
	Tool        string      `json:"tool,omitempty"`
	Fingerprint string      `json:"fingerprint"`
}

// Classifier holds the rules ready for use.
type Classifier struct {
	rules []compiledRule
	marks []compiledMark
}

// shipped is the classifier with all rules: compiling them takes milliseconds.
var shipped = pattern.Table(func() *Classifier { return newClassifier(Rules()) })

// NewClassifier is the classifier with the rules that Belay ships.
func NewClassifier() *Classifier { return shipped() }

// Classify gives a failure its class. See Classifier.
func Classify(f Facts) Finding { return NewClassifier().Classify(f) }

// Classify walks down the ladder: what we did ourselves, what the agent's
// record says, what the process left, what a look at the machine shows, whether
// the same happened before, and last what the text says. A failure that nobody
// can explain is tried once more, never twice.
func (c *Classifier) Classify(f Facts) Finding {
	text := tail(f.Text)
	if text == "" && f.Agent != nil {
		text = tail(f.Agent.Cause)
	}
	read := pattern.NewText(text)
	if f.Tool == "" {
		f.Tool = c.toolOf(read, f.Exit)
	}
	found := c.climb(f, read)
	found.Tool = f.Tool
	found.Fingerprint = fingerprint(f, text)
	if found.Move == "" {
		found.Move = found.Class.Row().First
	}
	if found.Class == belay.ClassQuota && found.Move == belay.ActFailover && f.Agent == nil && f.Tool != "" && !isAgent(f.Tool) {
		found.Move = belay.ActEscalate // another agent would call the same account
	}
	return repeated(f, found)
}

func (c *Classifier) climb(f Facts, text *pattern.Text) Finding {
	for _, rung := range []func() (Finding, bool){
		func() (Finding, bool) { return ownAct(f) },
		func() (Finding, bool) { return typed(f) },
		func() (Finding, bool) { return killed(f) },
		func() (Finding, bool) { return c.surely(f, text) },
		func() (Finding, bool) { return probed(f) },
		func() (Finding, bool) { return c.byText(f, text) },
		func() (Finding, bool) { return byExit(f, otherwise()) },
	} {
		if found, ok := rung(); ok {
			return found
		}
	}
	return Finding{Class: belay.ClassUnknown, Level: belay.LevelUnknown, Rule: "unknown"}
}

func ownAct(f Facts) (Finding, bool) {
	found := Finding{Level: belay.LevelAct, Rule: "act." + string(f.Act)}
	switch f.Act {
	case ActCancel:
		found.Class = belay.ClassCancelled
	case ActDeadline, ActStall:
		found.Class, found.Move = belay.ClassTimeout, belay.ActDecompose
		if f.Progress {
			found.Move = belay.ActRetry
		}
	case ActBudget:
		found.Class = belay.ClassBudget
	case ActNone:
		return found, false
	}
	return found, true
}

// typed takes the class that the adapter read from the agent's own records.
func typed(f Facts) (Finding, bool) {
	a := f.Agent
	if a == nil {
		return Finding{}, false
	}
	found := Finding{Class: a.Class, Level: belay.LevelTyped, Rule: "agent." + string(a.Class)}
	switch {
	case a.Stop == belay.StopRefused:
		found.Class, found.Rule = belay.ClassRefusal, "agent.stop_refused"
	case a.Class != belay.ClassNone && a.Class != belay.ClassUnknown:
	case a.Stop == belay.StopTruncated:
		found.Class, found.Rule = belay.ClassTokenLimit, "agent.stop_truncated"
	default:
		return found, false
	}
	found.Move = typedMove(*a, found.Class, f.Progress)
	return found, true
}

// killed asks the machine first where a process was killed by somebody else: the
// signal alone does not tell who did it.
func killed(f Facts) (Finding, bool) {
	const kill = 9
	if f.Signal != kill && f.Exit != 128+kill || !is(f.Probes.OOMKill, true) {
		return Finding{}, false
	}
	return probed(f)
}

// surely takes what an exit code says by itself. Words never add a retry to it,
// but they can take one away: who was refused is refused again.
func (c *Classifier) surely(f Facts, text *pattern.Text) (Finding, bool) {
	found, ok := byExit(f, surely())
	if !ok || found.Class != belay.ClassTransient {
		return found, ok
	}
	if said, words := c.byText(f, text); words && said.Class == belay.ClassAuth {
		return said, true
	}
	return found, true
}

// probed believes a look at the machine more than any text.
func probed(f Facts) (Finding, bool) {
	p := f.Probes
	infra := func(rule string, move belay.Act) (Finding, bool) {
		return Finding{Class: belay.ClassInfrastructure, Move: move, Level: belay.LevelProbe, Rule: rule}, true
	}
	switch {
	case is(p.DiskFull, true):
		return infra(fault.RuleDiskFull, belay.ActEscalate)
	case is(p.ReadOnly, true):
		return infra(fault.RuleReadOnly, belay.ActEscalate)
	case is(p.OOMKill, true):
		return infra("probe.oom_kill", belay.ActRetry)
	case p.NoProgram:
		return infra("probe.no_program", belay.ActRepair)
	case p.NoHost:
		return infra("probe.no_host", belay.ActRetry)
	case p.NoLogin:
		return Finding{Class: belay.ClassAuth, Move: belay.ActEscalate, Level: belay.LevelProbe, Rule: "probe.no_login"}, true
	}
	return Finding{}, false
}

func is(p *bool, want bool) bool { return p != nil && *p == want }

// repeated refuses to do the same again when it failed in the same way and
// nothing had changed, and to try the unexplained more than once.
func repeated(f Facts, found Finding) Finding {
	if ofService(f, found) {
		return found // a service that is down says the same each time
	}
	e := f.Earlier
	same := e.Fingerprint != "" && e.Fingerprint == found.Fingerprint && !e.Changed
	spent := found.Class == belay.ClassUnknown && e.Unknowns > 0
	if found.Move != belay.ActRetry || !same && !spent {
		return found
	}
	if same { // otherwise it failed in another way, which nobody can explain either
		found.Level, found.Rule = belay.LevelRepeat, "repeat."+found.Rule
	}
	found.Move = secondMove(found.Class, f.Agent != nil)
	return found
}

// byText asks the rules: first what shows that a test runner or a compiler
// speaks, so that words that they quote decide nothing, then the rules of the
// tool, then those that hold for all.
func (c *Classifier) byText(f Facts, text *pattern.Text) (Finding, bool) {
	if f.Exit == 0 {
		return c.quietly(f, text)
	}
	for _, r := range c.rules {
		if r.Exit0 || r.Tool != "" && r.Tool != outputTool && r.Tool != f.Tool {
			continue
		}
		if r.re.In(text) {
			return Finding{Class: r.Class, Move: r.Move, Level: belay.LevelText, Rule: r.ID}, true
		}
	}
	return Finding{}, false
}

// quietly looks at a text that came with exit 0: words of failure in it are
// mostly quoted, so only few rules hold.
func (c *Classifier) quietly(f Facts, text *pattern.Text) (Finding, bool) {
	if strings.TrimSpace(text.String()) == "" {
		return Finding{Class: belay.ClassHollow, Level: belay.LevelProcess, Rule: "exit0.empty"}, true
	}
	for _, r := range c.rules {
		if !r.re.In(text) {
			continue
		}
		switch {
		case r.Exit0:
			return Finding{Class: r.Class, Move: r.Move, Level: belay.LevelText, Rule: r.ID}, true
		case r.Tool == outputTool: // a failing test behind a pipe
			return Finding{Class: belay.ClassHollow, Level: belay.LevelText, Rule: r.ID}, true
		case r.Tool != "" && r.Tool == f.Tool && isAgent(f.Tool):
			return Finding{Class: r.Class, Move: r.Move, Level: belay.LevelText, Rule: r.ID}, true
		}
	}
	switch {
	case declines(text.String()):
		return Finding{Class: belay.ClassRefusal, Level: belay.LevelText, Rule: "exit0.declines"}, true
	case emptyWords(text.String()):
		return Finding{Class: belay.ClassHollow, Level: belay.LevelText, Rule: "exit0.excuse"}, true
	}
	return Finding{Class: belay.ClassBenign, Level: belay.LevelProcess, Rule: "exit0"}, true
}
