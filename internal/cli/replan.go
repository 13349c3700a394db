package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/recovery"
	"github.com/belay-run/belay/recovery/classic"
	"github.com/belay-run/belay/verdict"
)

type replanOptions struct {
	policy   string
	retries  int
	role     string
	attempts int
	text     string
	task     string
	about    string
	critical bool
	json     bool

	// Of the belay policy:
	class    string
	level    string
	move     string
	exit     string
	kind     string // of the step
	agents   bool
	others   []string
	covering []string
	optional bool
	facts    []string
}

func (a *app) replanCommand() *cobra.Command {
	var o replanOptions
	cmd := command("replan", "show what a recovery policy would do about a failure, without doing it", 0, 0,
		func(_ context.Context, cmd *cobra.Command, _ []string) error { return a.replan(cmd, o) })
	cmd.Long = `replan asks a policy what it would do about one failure of one step.

The classic policy looks at --error, --attempts and --critical. The belay policy looks
at the class of the failure: --class, or what classify makes of --error and --exit; then
at what the run and the step allow.`
	f := cmd.Flags()
	f.StringVar(&o.policy, "policy", recovery.PolicyClassic, "the policy: classic or belay")
	f.IntVar(&o.retries, "max-retries", classic.DefaultMaxRetries, "retries before the error is looked at")
	f.StringVar(&o.role, "role", string(recovery.Coder), "who did the task: coder, tester, reviewer, …, or custom:NAME")
	f.IntVar(&o.attempts, "attempts", 0, "failed attempts before this one")
	f.StringVar(&o.text, "error", "", "what the failed attempt said")
	f.StringVar(&o.task, "task", "task", "the id of the task")
	f.StringVar(&o.about, "description", "", "what the task is (default: its id)")
	f.BoolVar(&o.critical, "critical", false, "the task is needed")
	f.BoolVar(&o.json, "json", false, "print one JSON object")
	f.StringVar(&o.class, "class", "", "belay: the class of the failure (default: from --error and --exit)")
	f.StringVar(&o.level, "level", "", "belay: the level of evidence that decided it, L0 to L6 (with --class: L1)")
	f.StringVar(&o.move, "move", "", "belay: what the failure asks for first: retry, repair, failover, … (default: of its class)")
	f.StringVar(&o.exit, "exit", "-", "belay: the exit code; - is unknown")
	f.StringVar(&o.kind, "type", "shell", "belay: the type of the step: shell, agent or recipe")
	f.BoolVar(&o.agents, "agents", false, "belay: the run uses agents (always so for a step of type agent)")
	f.StringSliceVar(&o.others, "others", nil, "belay: agents that may take over, in order")
	f.StringSliceVar(&o.covering, "covering", nil, "belay: roles that may do what was denied, in order")
	f.BoolVar(&o.optional, "optional", false, "belay: the run can do without the step")
	f.StringSliceVar(&o.facts, "fact", nil, "belay: what else holds: "+strings.Join(factNames(), ", "))
	return cmd
}

// replanned is what replan prints.
type replanned struct {
	Strategy classic.Strategy `json:"strategy"`
	Reason   string           `json:"reason"`
	Rule     classic.Rule     `json:"rule"`
}

func (a *app) replan(cmd *cobra.Command, o replanOptions) error {
	role, err := recovery.ParseRole(o.role)
	switch {
	case err != nil:
		return usage(cmd, fmt.Errorf("--role: %w", err))
	case o.policy != recovery.PolicyClassic && o.policy != recovery.PolicyBelay:
		return usage(cmd, fmt.Errorf("--policy %q: must be classic or belay", o.policy))
	case o.policy == recovery.PolicyClassic && !cmd.Flags().Changed("error"):
		return usage(cmd, errors.New("replan needs --error TEXT"))
	case o.retries < 0:
		return usage(cmd, fmt.Errorf("--max-retries %d: must not be negative", o.retries))
	case o.attempts < 0:
		return usage(cmd, fmt.Errorf("--attempts %d: must not be negative", o.attempts))
	}
	if o.about == "" {
		o.about = o.task
	}
	if o.policy == recovery.PolicyBelay {
		return a.replanBelay(cmd, o, role)
	}
	for _, name := range belayOnly() {
		if cmd.Flags().Changed(name) {
			return usage(cmd, fmt.Errorf("--%s is for --policy belay", name))
		}
	}
	x := classic.Context{
		TaskID: o.task, Description: o.about, AssignedTo: role,
		ErrorMessage: o.text, AttemptCount: o.attempts, IsCritical: o.critical,
	}
	d := classic.Policy{MaxRetries: o.retries}.Decide(x)
	if a.verbose {
		a.say("%s", d.Line(x))
	}
	if o.json {
		a.object(replanned{d.Strategy, d.Reason(x), d.Rule})
		return nil
	}
	a.out.line("%s", readable.Clean(strategyWords(d.Strategy)))
	a.out.line("  %s (rule %s)", readable.Clean(d.Reason(x)), d.Rule)
	return nil
}

func strategyWords(s classic.Strategy) string {
	switch s.Kind {
	case belay.ActRetry:
		return fmt.Sprintf("retry after %s, %d attempts at most", time.Duration(s.BackoffMS)*time.Millisecond, s.MaxAttempts)
	case belay.ActReassign:
		return "reassign to " + string(s.NewRole)
	case belay.ActDecompose:
		words := fmt.Sprintf("decompose into %d parts", len(s.Subtasks))
		for _, part := range s.Subtasks {
			words += fmt.Sprintf("; %s (%s)", part.Description, part.AssignedTo)
		}
		return words
	case belay.ActSkip, belay.ActAbort, belay.ActEscalate: // the name says it
	case belay.ActResume, belay.ActFresh, belay.ActFailover, belay.ActRepair, belay.ActRecover, belay.ActFallback, belay.ActGiveUp,
		belay.ActHold, belay.ActNone, belay.ActVerify, belay.ActRetryAfter, belay.ActStop: // none of the six
	}
	return string(s.Kind)
}

// belayOnly is the flags that the classic policy does not look at.
func belayOnly() []string {
	return []string{"class", "level", "move", "exit", "type", "agents", "others", "covering", "optional", "fact"}
}

func (a *app) replanBelay(cmd *cobra.Command, o replanOptions, role recovery.Role) error {
	s, err := givenSituation(cmd, o, role)
	if err != nil {
		return usage(cmd, err)
	}
	p := recovery.Choose(s)
	line := planned{planStrategy(p, s), p.Reason, p.Rule, p.Class, p.Level, p.Refused}
	if o.json {
		a.object(line)
		return nil
	}
	a.out.line("%s", readable.Clean(planWords(p, s)))
	a.out.line("  %s (rule %s, class %s)", readable.Clean(p.Reason), p.Rule, p.Class)
	for _, r := range p.Refused {
		a.out.line("  no %s: %s", r.Act, readable.Clean(r.Why))
	}
	return nil
}

// planned is what replan prints about a plan: the shape of replanned, and what
// the belay policy knows beyond it.
type planned struct {
	Strategy json.RawMessage  `json:"strategy"`
	Reason   string           `json:"reason"`
	Rule     string           `json:"rule"`
	Class    belay.Class      `json:"class"`
	Level    belay.Level      `json:"level,omitempty"`
	Refused  []belay.NotTaken `json:"refused,omitempty"`
}

// givenSituation is what the flags say. The earlier attempts failed with the same
// class, each in a way of its own unless the fact "same" holds.
func givenSituation(cmd *cobra.Command, o replanOptions, role recovery.Role) (recovery.Situation, error) {
	s := recovery.Situation{
		Title: o.about, Optional: o.optional, Agents: o.agents || len(o.others) > 0,
		Declared: recovery.Policy{MaxAttempts: 1}, Now: time.Unix(0, 0).UTC(),
		History: recovery.History{Key: belay.Key(o.task), Failed: o.attempts + 1},
		Role:    role, Others: o.others,
	}
	if o.critical && o.optional {
		return s, errors.New("--critical and --optional do not go together")
	}
	switch o.kind {
	case "shell":
		s.Type = belay.TypeBash
	case "agent":
		s.Type, s.Agents, s.Agent = belay.TypeAgent, true, "agent"
	case "recipe":
		s.Type, s.Recoverable = belay.TypeRecipe, true
	default:
		return s, fmt.Errorf("--type %q: must be shell, agent or recipe", o.kind)
	}
	for _, name := range o.covering {
		covers, err := recovery.ParseRole(name)
		if err != nil {
			return s, fmt.Errorf("--covering: %w", err)
		}
		s.Covering = append(s.Covering, covers)
	}
	var err error
	if s.Failure, err = givenFailure(cmd, o); err != nil {
		return s, err
	}
	same, err := setFacts(&s, o.facts)
	if err != nil {
		return s, err
	}
	for n := range o.attempts {
		mark := s.Failure.Print
		if !same {
			mark = fmt.Sprint(n)
		}
		s.Past = append(s.Past, recovery.Past{Act: belay.ActRetry, Class: s.Failure.Class, Print: mark, Agent: s.Agent, Role: role})
	}
	return s, nil
}

// givenFailure is the failure that --class names, or that the text and the exit
// code are.
func givenFailure(cmd *cobra.Command, o replanOptions) (belay.Failure, error) {
	exit, err := parseExit(o.exit)
	if err != nil {
		return belay.Failure{}, fmt.Errorf("--exit %w", err)
	}
	found := verdict.Classify(verdict.Facts{Text: o.text, Exit: exit})
	switch {
	case cmd.Flags().Changed("class"):
		class := belay.Class(o.class)
		if !slices.Contains(belay.Classes(), class) {
			return belay.Failure{}, fmt.Errorf("--class %q: not a class", o.class)
		}
		found.Class, found.Level, found.Rule, found.Move = class, belay.LevelTyped, "given", class.Row().First
	case !cmd.Flags().Changed("error") && !cmd.Flags().Changed("exit"):
		return belay.Failure{}, errors.New("replan --policy belay needs --class CLASS, or --error TEXT, or --exit CODE")
	}
	if o.level != "" {
		if found.Level = belay.Level(o.level); !slices.Contains(levelNames(), found.Level) {
			return belay.Failure{}, fmt.Errorf("--level %q: must be L0 to L6", o.level)
		}
	}
	if o.move != "" {
		if found.Move = belay.Act(o.move); !slices.Contains(moveNames(), found.Move) {
			return belay.Failure{}, fmt.Errorf("--move %q: not a move", o.move)
		}
	}
	f := belay.Failure{
		Kind: belay.BashFailure, Class: found.Class, Level: found.Level, Rule: found.Rule, Print: found.Fingerprint, Move: found.Move, Cause: o.text,
	}
	if f.Cause == "" && exit != verdict.NoExit {
		f.Cause = fmt.Sprintf("exit %d", exit)
	}
	return f, nil
}

func levelNames() []belay.Level {
	return []belay.Level{belay.LevelAct, belay.LevelTyped, belay.LevelProcess, belay.LevelProbe, belay.LevelRepeat, belay.LevelText, belay.LevelUnknown}
}

func moveNames() []belay.Act {
	return slices.DeleteFunc(belay.Acts(), func(a belay.Act) bool { return !a.Row().Asked })
}

func factNames() []string {
	return []string{"same", "changed", "progress", "session", "checked", "fallback", "once", "retried", "spent"}
}

// setFacts sets what --fact names, and tells whether the attempts before failed
// in the same way.
func setFacts(s *recovery.Situation, names []string) (same bool, err error) {
	for _, name := range names {
		switch name {
		case "same":
			same = true
		case "changed":
			s.Changed = true
		case "progress":
			s.Progress = true
		case "session":
			s.Resumes = true
		case "checked":
			s.Checked = true
		case "fallback":
			s.Fallback = true
		case "once":
			s.Once = true
		case "retried":
			s.Retried = true
		case "spent":
			s.Spent = true
		default:
			return same, fmt.Errorf("--fact %q: must be one of %s", name, strings.Join(factNames(), ", "))
		}
	}
	return same, nil
}

// planStrategy is the act of a plan under its name: the six classic ones as the
// classic policy writes them, and the others in the same way.
func planStrategy(p belay.Plan, s recovery.Situation) json.RawMessage {
	row, body := p.Act.Row(), map[string]string{}
	var v any = map[belay.Act]any{p.Act: body}
	switch {
	case row.Classic != "" && row.Planned:
		v = classic.Strategy{ // its kind tells which of these are written; the parts are an agent's to name
			Kind: row.Classic, MaxAttempts: s.History.Failed + 1, BackoffMS: p.Due.Sub(s.Now).Milliseconds(),
			NewRole: recovery.Role(p.Role), Reason: p.Reason,
		}
	case row.Over:
		body["to"] = p.Agent
	case row.Ends:
		body["reason"] = p.Reason
	case p.Brief != "":
		body["brief"] = p.Brief
	}
	text, err := json.Marshal(v)
	if err != nil { // cannot be: all of it is text and numbers
		return json.RawMessage("null")
	}
	return text
}

func planWords(p belay.Plan, s recovery.Situation) string {
	switch {
	case p.Act == belay.ActRetry:
		return fmt.Sprintf("retry after %s", p.Due.Sub(s.Now).Round(time.Millisecond))
	case p.Act.Row().Over:
		return string(p.Act) + " to " + cmp.Or(p.Agent, p.Role)
	}
	means := map[belay.Act]string{
		belay.ActHold:   "hold: a person is asked",
		belay.ActGiveUp: "give up: the step stays failed",
	}
	return cmp.Or(means[p.Act], string(p.Act))
}
