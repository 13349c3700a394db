package effect

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay"
)

// Job is one attempt to be made, derived from the state and never stored whole.
type Job struct {
	Key     belay.Key
	Run     belay.RunID
	Path    belay.Path
	Of      belay.Path // the step of the recipe that it is an item or a round of; "" = Path is one itself
	Item    belay.Path // the item of a list that the recipe is called for, from near or far; "" = none
	Attempt int
	Role    belay.Role
	Script  string                 // the shell text, as the recipe has it
	Shell   Shell                  // how the script is run
	Vars    map[string]belay.Value // values of the context that the script may read
	Args    map[string]belay.Value // values of its {{placeholders}}, by the variable that stands for each
	Ints    []string               // those of them that stand in arithmetic and must be whole numbers
	JSON    JSONMode               // how stdout becomes a value
	Keys    []string               // that the JSON of an agent's answer must have
	Outputs []OutputSpec           // results beyond stdout
	Env     map[string]string      // the step's own env
	Dir     string                 // absolute, or relative to the run's directory
	Output  bool                   // stdout is wanted as a value
	Timeout time.Duration          // 0 = none of its own
	Once    bool
	Depth   int // nesting of recipes
	Agent   *AgentJob
	Check   *CheckJob // of a check that Belay itself makes, instead of a script
	Merge   *MergeJob // of a merge, and of an agent that resolves its conflict
	Call    *CallJob  // of a call: no process is started for it
}

// CallJob says which function is called, and with what. Texts in With are filled
// in from the Vars of the job; one that is a single placeholder becomes the value
// itself, of whatever type.
type CallJob struct {
	Name    string
	With    map[string]json.RawMessage
	Lenient bool // a variable that is missing is null instead of a problem
}

// MergeJob says which work is brought back: that of the step's worktree.
type MergeJob struct {
	Key  belay.Key // names the merge: the same one again goes on where it was left
	Tree string    // a directory in the run's tree
}

// JSONMode says how the text of an output becomes a value.
type JSONMode string

const (
	JSONAuto     JSONMode = ""         // typed when the whole of it is JSON
	JSONExtract  JSONMode = "extract"  // JSON is looked for in it; without any the text stays, degraded
	JSONRequired JSONMode = "required" // JSON is looked for in it; without any the step fails
)

// Form are the keys that are read from the JSON of an answer: those that it must have, and
// those that results are taken from.
func (j Job) Form() []string {
	keys := slices.Clone(j.Keys)
	for _, o := range j.Outputs {
		if name := o.Path[:min(strings.IndexAny(o.Path+".", ".["), len(o.Path))]; name != "" && !slices.Contains(keys, name) {
			keys = append(keys, name)
		}
	}
	return keys
}

// OutputSpec is a result beyond stdout: a file, or a place in the JSON that
// stdout holds. Exactly one of File and Path is set.
type OutputSpec struct {
	Name string
	File string // relative to the step's directory
	Path string // dots and indexes: "items[0].id"
}

// Shell says how a script is run.
type Shell string

const (
	ShellStrict Shell = "strict" // bash with -e, -u and pipefail
	ShellPlain  Shell = "plain"  // bash as it is
)

// Stdout stands for what a step prints where outputs are named.
const Stdout = "stdout"
