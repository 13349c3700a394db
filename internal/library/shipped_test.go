package library

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/recipe"
	"github.com/belay-run/belay/task"
)

// What a shipped recipe calls gh for is pull requests. Issues go through belay issue file,
// which files each of them once.
//
// promise: D7
func TestShippedFileNoIssues(t *testing.T) {
	t.Parallel()
	gh := regexp.MustCompile(`\bgh\s+([a-z-]+)`)
	names, files := ShippedNames(), 0
	for _, name := range names {
		text := string(Shipped(name))
		for _, m := range gh.FindAllStringSubmatch(text, -1) {
			if m[1] != "pr" {
				t.Errorf("%s calls %q", name, m[0])
			}
		}
		files += strings.Count(text, `"$BELAY_PROGRAM" issue file`)
	}
	if len(names) < 9 || files < 3 {
		t.Errorf("%d recipes with %d calls of belay issue file: that shows nothing", len(names), files)
	}
}

// most is how often a step of a shipped recipe is done at most, in one run of that recipe:
// its items, or its rounds.
var most = map[string]int{
	"smart-orchestrator/plan-review":       9,
	"smart-orchestrator/rounds":            9,
	"plan-review/review":                   2, // reviewers
	"round/checks-before":                  task.MostCriteria,
	"round/check-criteria":                 task.MostCriteria,
	"round/check-citations":                200, // of an answer
	"round/execute-workstreams":            task.DefaultStreams,
	"investigation-workflow/explore":       6, // questions
	"investigation-workflow/verify-claims": 200,
}

// The limit on nested steps is there for recipes that call each other without an end. A task
// that uses all that its flags and its plan allow must not run into it.
func TestShippedStepsAreEnough(t *testing.T) {
	t.Parallel()
	set, err := Shelf{MaxBytes: 1 << 20}.LoadShipped("smart-orchestrator")
	if err != nil || len(set.Problems) > 0 {
		t.Fatal(err, set.Problems)
	}
	of := map[string][]string{ // what is left out, by the type of the task
		"Development":   {"handle-qa", "handle-operations", "execute-investigation", "adaptive-execute-investigation", "find-citations", "check-citations"},
		"Investigation": {"handle-qa", "handle-operations", "execute-single", "execute-workstreams", "adaptive-execute-development", "find-citations", "check-citations", "checks-before", "publish"},
		"Q&A":           {"handle-operations", "execute-single", "execute-workstreams", "execute-investigation", "adaptive-execute-development", "adaptive-execute-investigation", "checks-before", "publish"},
	}
	for kind, out := range of {
		var steps func(r *recipe.Recipe) int
		steps = func(r *recipe.Recipe) int {
			n := 0
			for i := range r.Steps {
				s := &r.Steps[i]
				if slices.Contains(out, string(s.ID)) {
					continue
				}
				n++
				times, known := most[r.Name+"/"+string(s.ID)]
				if several := s.Foreach != "" || s.Repeat != nil; several != known {
					t.Fatalf("%s/%s: it is done several times: %v; the table has it: %v", r.Name, s.ID, several, known)
				}
				below := 0
				if s.Recipe != "" {
					below = steps(set.Library.Recipes[set.Library.Names[s.Recipe]])
				}
				if n += max(times, 1) * below; known {
					n += times // each item and round is a step, too
				}
			}
			return n
		}
		if n := steps(set.Root) - len(set.Root.Steps); n > set.Root.Recursion.MaxTotalSteps || n < 400 {
			t.Errorf("%s: up to %d nested steps, and the limit is %d", kind, n, set.Root.Recursion.MaxTotalSteps)
		}
	}
}

// The shell steps of the shipped recipes look, keep, put back, offer and publish, in the
// directory of a person if need be. An agent that were to repair one could remove what is in
// its way there, and that may be the person's work.
func TestShippedShellStepsAreNotRepaired(t *testing.T) {
	t.Parallel()
	n := 0
	for _, name := range ShippedNames() {
		set, err := Shelf{MaxBytes: 1 << 20}.LoadShipped(name)
		if err != nil || len(set.Problems) > 0 {
			t.Fatal(err, set.Problems)
		}
		for _, r := range set.Library.Recipes {
			for i := range r.Steps {
				s := &r.Steps[i]
				if s.Type != belay.TypeBash {
					continue
				}
				n++
				if !s.NoRepair && s.Failure != belay.Infrastructure {
					t.Errorf("%s/%s: an agent would be asked to repair it", r.Name, s.ID)
				}
			}
		}
	}
	if n < 30 {
		t.Errorf("%d shell steps: that shows nothing", n)
	}
}

// Where an agent is not logged in, its account is used up or the disk is full, a run that went on
// without an optional step would judge what nobody could do: it is held.
//
// promise: F7
func TestShippedOptionalStepsAreHeld(t *testing.T) {
	t.Parallel()
	n := 0
	for _, name := range ShippedNames() {
		set, err := Shelf{MaxBytes: 1 << 20}.LoadShipped(name)
		if err != nil || len(set.Problems) > 0 {
			t.Fatal(err, set.Problems)
		}
		for i := range set.Root.Steps {
			s := &set.Root.Steps[i]
			if !s.Optional || !s.Type.Agent() && !s.Type.Child() {
				continue
			}
			n++
			if !s.Cure {
				t.Errorf("%s/%s: it is optional, and does not say on_failure: cure", name, s.ID)
			}
		}
	}
	if n < 10 {
		t.Errorf("%d optional steps of agents: that shows nothing", n)
	}
}
