// Package recipe turns YAML into a checked Recipe in which every node knows
// its file, line and column. It reads bytes, never files: finding sources is
// the caller's business. It runs nothing and evaluates nothing. It refuses what
// it does not know: a key that would be ignored is a mistake that nobody sees.
//
// [Parse] reads one recipe and reports all its problems at once, each a [Problem]
// with its place and mostly with what to write instead. [CheckCalls] then looks at a recipe together with the sub-recipes that it calls. The keys of
// the language are described in docs/reference/recipe-keys.md, and for editors in
// docs/reference/recipe.schema.json; both are made from this package.
package recipe

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/expr"
)

// Recipe is a checked recipe.
type Recipe struct {
	Name        string
	Description string
	Version     string
	Tags        []string
	Context     []Var // in the order of the file
	Recursion   Recursion
	AllowEmpty  bool         // no step may run at all, and that is fine
	Shell       effect.Shell // for every step that does not say otherwise
	Compat      bool         // read as the older runner would, where that is safe
	Rules       []Rule       // context_validation: looked at before the first step
	Hooks       Hooks
	Extends     string     // the parent's name; "" once it is merged in (see Merge)
	Secrets     []string   // variables whose values are hidden
	Isolate     bool       // the run has a worktree of its own
	Merge       MergeMode  // what becomes of the work of its isolated steps, where they do not say it
	Guard       *Guard     // files that its agents may not change; nil = not said
	RunsOn      []string   // labels of the workers that may run it
	Policy      string     // who chooses recoveries from failures: "" = not said, belay or classic
	Recovery    string     // about failed sub-recipes: "" = not said, on, off or classic
	Tests       *Script    // the check of agent steps with expect: tests and no verify; nil = not said
	Notify      *Notify    // who is told about its runs; nil = not said
	Ends        *expr.Expr // the status that it amounts to, where that is lower; nil = not said
	MaxAgents   *expr.Expr // how many agents a run of it may start; nil = not said
	Steps       []Step
	Digest      string // SHA-256 of the source, in hex
	File        string // one below Shipped is a part of Belay

	extendsPos Pos   // of the parent's name
	hookUses   []use // what the hooks read, ends and max_agents
	endsPlace  place
	secretPos  []Pos // of the names of secrets
}

// Shipped stands for a folder in the names of the recipes that are part of Belay.
const Shipped = "(shipped)"

// IsShipped tells whether the recipe is a part of Belay.
func (r *Recipe) IsShipped() bool { return strings.HasPrefix(r.File, Shipped+"/") }

// Var is a default of the context.
type Var struct {
	Name string
	JSON json.RawMessage
	Pos  Pos
}

// Recursion holds the limits that a root recipe sets; zero means the default.
type Recursion struct {
	MaxDepth      int
	MaxTotalSteps int
}

// Rule is what a variable must be before the run begins.
type Rule struct {
	Name string
	Kind RuleKind
	Pos  Pos
}

// RuleKind is the closed list of rules of context_validation.
type RuleKind string

const (
	RuleNonempty RuleKind = "nonempty"
	RuleGitRepo  RuleKind = "git_repo"
	RulePath     RuleKind = "path"
	RuleOptional RuleKind = "optional"
)

// Hooks are scripts around every step of this recipe; nil = none. They read
// BELAY_HOOK_STEP, BELAY_HOOK_STATUS and BELAY_HOOK_ERROR, have 30 s, and never
// change how the run ends.
type Hooks struct {
	PreStep, PostStep, OnError *Script
}

// Script is shell text. Its {{placeholders}} were turned into references to
// variables, so that a value is data in whatever quotes it stands.
type Script struct {
	Source string // as the recipe has it
	Text   string // what bash gets
	Uses   []Use  // the variables that Text refers to

	env []envRead // variables of the environment that it calculates with
}

// Use is a placeholder of a script.
type Use struct {
	Env     string     // the variable that stands for it: BELAY_ARG_1
	Value   *expr.Text // what it holds: the placeholder alone
	Integer bool       // it stands in arithmetic
	Pos     Pos        // in the recipe
}

// Pos is a place in a source, counted from 1.
type Pos struct{ Line, Col int }

// Step is one node of the graph.
type Step struct {
	ID         belay.Path
	Type       belay.StepType
	Script     *Script    // bash
	Agent      string     // agent: who does it; "" = whoever is there
	Prompt     *expr.Text // agent, approve
	Model      string     // agent
	Recipe     string     // recipe: the name of the sub-recipe
	Context    []Arg      // recipe: what is handed down, over the parent's context
	Call       string     // call: the name of the function
	With       []Arg      // call: its inputs
	Approve    *Approval  // approve: the question; its text is Prompt
	Output     string     // the variable that gets the result; "" = none
	Failed     string     // the variable that gets why it failed, when it is optional; "" = none
	Condition  *expr.Expr
	Dir        *expr.Text // nil = the run's directory
	Timeout    time.Duration
	Needs      []int // indexes of steps, ascending; resolved, never nil after Parse
	Retry      Retry
	Verify     *Script
	OwnTests   bool     // Verify is the tests: of the recipe
	Group      string   // parallel_group; adjacent steps of one group run together
	Tags       []string // when_tags
	JSON       effect.JSONMode
	Keys       []string // that the JSON of an agent's answer must have
	Outputs    []effect.OutputSpec
	Foreach    string          // the list variable, or a place in one, or the list itself as JSON; "" = none
	Items      json.RawMessage // the list of foreach when it stands in the recipe; nil = a variable holds it
	Repeat     *Repeat         // rounds; nil = the step is done once
	As         string          // the name of the item
	MaxItems   int             // max_parallel of foreach; 0 = no limit of its own
	Expect     string          // agent, recipe: none, answer, change, tests, pr
	Role       string          // agent: a role of recovery, "" = none
	Policy     string          // who chooses recoveries from its failures: "" = that of the run, belay or classic
	Recovery   string          // recipe: "" = not said, on, off or classic
	NoRepair   bool            // repair: off
	Guard      *Guard          // files that its agents may not change; nil = that of the recipe
	RunsOn     []string        // labels of the workers that may run it
	Isolate    Isolation
	Merge      MergeMode // what becomes of its work when it is isolated
	Once       bool
	Optional   bool
	Env        map[string]string
	Shell      effect.Shell
	Failure    belay.FailureKind // "" = by the evidence
	Escalate   bool              // on_failure: escalate
	Cure       bool              // on_failure: cure
	Fallback   *Fallback         // what is done instead when it stays failed; nil = nothing
	IsFallback bool              // it never starts by itself: another step has it as its fallback
	Finally    bool              // it belongs to finally: it runs when all others are over, however they ended; such steps come last
	Item       string            // of one that stands in for the items of a foreach: the variable that holds the item
	Pos        Pos

	file      string // where it was written, when a merge brought it here
	idPos     Pos
	rolePos   Pos    // of the role's name
	recipePos Pos    // of the sub-recipe's name
	callPos   Pos    // of the function's name
	groupPos  Pos    // of the key
	needs     []need // as written
	hasNeeds  bool   // it says what it needs
	uses      []use  // the variables that it reads
	dirPlace  place
	condPlace place
}

// Arg is a value handed to a sub-recipe or a function: text with {{names}} in it, or JSON.
type Arg struct {
	Name string
	Text *expr.Text      // set for a string
	JSON json.RawMessage // set for anything else, as it is written: see Fill
	Pos  Pos

	place place   // of the text
	tree  *branch // of JSON with texts to be filled in somewhere in it
}

// Retry says how often a failed step is started again.
type Retry struct {
	MaxAttempts int           // all attempts, the first included; at least 1
	Backoff     time.Duration // before the second attempt; doubles after that
}

// Digest is the SHA-256 of a source, in hex.
func Digest(src []byte) string {
	sum := sha256.Sum256(src)
	return hex.EncodeToString(sum[:])
}
