package engine

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/internal/hand"
	"github.com/belay-run/belay/internal/library"
)

// Spec is a run to be started.
type Spec struct {
	Set         *library.Set
	Vars        map[string]json.RawMessage // given by the user, over the recipe's context
	Dir         string                     // absolute
	ID          belay.RunID                // "" = draw one
	MaxParallel int                        // 0 = the default
	Include     []string                   // of the steps with tags, only those with one of these
	Exclude     []string                   // no step with one of these tags
	Agent       string                     // who does agent steps that name nobody; "" = nobody
	Classic     bool                       // hollow success is judged by the text alone
	Budget      belay.Budget
	Personas    map[string]string // texts by reference
	Policy      string            // who chooses recoveries; "" = as the recipe says, else belay
	MaxRetries  int               // of the classic policy; 0 = its default
	Recovery    string            // about failed sub-recipes; "" = as the recipe says, else on
	Agents      bool              // the run uses agents: recovery may start some
	Staff       []string          // agents that may take over from another, in order
	Roles       map[string]event.Profile
	Toolless    []string      // agents to whom single tools cannot be allowed
	MaxReplans  int           // recoveries in the whole tree; 0 = the default, below it none
	Patience    time.Duration // with a service that is down; 0 = the default, below it none
	Tests       string        // the test command of the settings
	Isolate     bool          // the run has a worktree of its own, whatever its recipe says
	Drives      bool          // who makes the run drives it next: its keeper can start meanwhile
	Shelves     []string      // folders that recipes were looked for in before all others
}

// freeze keeps the sources of everything that the run may call, so that a
// later edit cannot change it.
func (o *Open) freeze(spec Spec) (event.RunStarted, error) {
	for _, src := range spec.Set.Sources {
		if _, err := o.run.PutBlob(src); err != nil {
			return event.RunStarted{}, err
		}
	}
	started := spec.First()
	for ref, text := range spec.Personas {
		v, err := o.run.PutBlob([]byte(text))
		if err != nil {
			return event.RunStarted{}, err
		}
		if started.Personas == nil {
			started.Personas = map[string]string{}
		}
		started.Personas[ref] = v.Sha
	}
	started.Version, started.Secrets = o.local.Version, o.local.Secrets
	started.Given = o.local.given(spec)
	freezeChecks(spec, &started, pathOf(o.local.Env))
	for n, v := range started.Vars {
		if _, given := spec.Vars[n]; !given {
			continue
		}
		v, err := o.value(v.JSON)
		if err != nil {
			return event.RunStarted{}, err
		}
		started.Vars[n] = v
	}
	return started, nil
}

// given are the names of the variables that whoever goes on with the run must
// have, too: secrets, also those that its recipes name, and those that its agents log in
// with, as far as they are set.
func (l *Local) given(spec Spec) (names []string) {
	wanted := append(hand.Secrets(spec.Set.Library), l.Secrets...)
	agents := append([]string{spec.Agent}, spec.Staff...)
	for _, r := range spec.Set.Library.Recipes {
		for i := range r.Steps {
			agents = append(agents, r.Steps[i].Agent)
		}
	}
	slices.Sort(agents)
	for _, name := range slices.Compact(agents) {
		if name == "" || l.Host.Find == nil {
			continue
		}
		if a, err := l.Host.Find(name); err == nil {
			wanted = append(wanted, agent.Known(a.Kind).Login.Env...)
		}
	}
	slices.Sort(wanted)
	for _, n := range slices.Compact(wanted) {
		if slices.ContainsFunc(l.Env, func(v string) bool { return strings.HasPrefix(v, n+"=") && len(v) > len(n)+1 }) {
			names = append(names, n)
		}
	}
	return names
}

// First is the first record of the run, with all values in it.
func (spec Spec) First() event.RunStarted {
	root := spec.Set.Root
	lim := belay.DefaultLimits()
	if root.Recursion.MaxDepth > 0 {
		lim.MaxDepth = root.Recursion.MaxDepth
	}
	if root.Recursion.MaxTotalSteps > 0 {
		lim.MaxTotalSteps = root.Recursion.MaxTotalSteps
	}
	if spec.MaxParallel > 0 {
		lim.MaxParallel = spec.MaxParallel
	}
	lim.Budget, lim.MaxReplans, lim.Patience = spec.Budget, spec.MaxReplans, spec.Patience
	if lim.RecipeAgents = lim.MaxAgents == 0 && root.MaxAgents != nil; lim.RecipeAgents {
		lim.MaxAgents = belay.MostAgents
	}
	lim.MaxAgents = lim.Starts()
	vars := map[string]belay.Value{}
	for n, raw := range spec.context() {
		vars[n] = belay.Value{JSON: raw}
	}
	for _, n := range hand.Secrets(spec.Set.Library) {
		delete(vars, n)
	}
	return event.RunStarted{
		Schema: event.Schema, Name: root.Name, Recipe: root.Digest, File: root.File,
		Frozen: spec.Set.Frozen(), Vars: vars, Dir: spec.Dir, Limits: lim,
		Include: spec.Include, Exclude: spec.Exclude, Compat: spec.Set.Compat,
		Agent: spec.Agent, Classic: spec.Classic,
		Policy: unless("belay", spec.Policy, root.Policy), MaxRetries: spec.MaxRetries,
		Recovery: unless("on", spec.Recovery, root.Recovery),
		Agents:   spec.Agents, Staff: spec.Staff, Roles: spec.Roles, Toolless: spec.Toolless, Isolate: spec.Isolate, TestScript: strings.TrimSpace(spec.Tests),
		Replaced: spec.Set.Instead(), Shelves: spec.Shelves, Work: spec.work(),
	}
}

// taskVar is the variable with a task in words. Where there is one it says what the
// work is, and all else only how it is to be done.
const taskVar = "task_description"

// work is what a run of the recipe was asked for, as a hash: what it was given, not
// what the recipe says by itself, so that a recipe that is mended does the same work.
func (spec Spec) work() string {
	given := map[string]json.RawMessage{}
	for n, raw := range spec.Vars {
		given[n] = raw
	}
	if task, ok := given[taskVar]; ok {
		given = map[string]json.RawMessage{taskVar: task}
	}
	for _, n := range hand.Secrets(spec.Set.Library) {
		delete(given, n)
	}
	text, err := json.Marshal([]any{given, spec.Include, spec.Exclude}) // the keys of a map are in order
	if err != nil {
		return "" // as one of an older Belay; the run itself says what is wrong with the value
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// unless is the first word that was said, and nothing when it is the usual one.
func unless(usual string, words ...string) string {
	if word := cmp.Or(words...); word != usual {
		return word
	}
	return ""
}

// value keeps a given value in the record, or as a blob when it is a big text.
func (o *Open) value(raw json.RawMessage) (belay.Value, error) {
	var s string
	if len(raw) <= belay.MaxInline || json.Unmarshal(raw, &s) != nil {
		return belay.Value{JSON: raw}, nil
	}
	return o.run.PutBlob([]byte(s))
}
