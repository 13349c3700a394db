package flow

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/audit"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/internal/statebytes"
	"github.com/belay-run/belay/verdict"
)

// histories is how many random histories are walked through on a change; make
// nightly walks through many more.
const histories = 250

// mostSteps bounds one history. A step of it is one answer, one end, one crash or
// one thing that a person does.
const mostSteps = 10000

func newChance(seed, n uint64) chance { return chance{rand.New(rand.NewPCG(seed, n))} }

// number reads a number from the environment.
func number(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s=%q is not a number", name, text)
	}
	return n
}

// Random recipes, random failures, crashes and people: whatever comes, the run
// comes to rest within its bounds, nobody is asked in vain, nothing starts
// without a reason on record, and 0 means that the work is there.
//
// One history again: BELAY_SEED=1 BELAY_HISTORY=17 go test ./flow -run
// TestHistories.
//
// promise: R7, R8, R10, R13, G4, K1
func TestHistories(t *testing.T) {
	t.Parallel()
	seed := number(t, "BELAY_SEED", 6)
	first, n := uint64(0), number(t, "BELAY_HISTORIES", histories)
	if only := number(t, "BELAY_HISTORY", ^uint64(0)); only != ^uint64(0) {
		first, n = only, only+1
	}
	seen, rules := map[string]int{}, verdict.NewClassifier()
	for i := first; i < n; i++ {
		h, err := walk(seed, i, rules)
		problems := trouble(h, err)
		if len(problems) > 0 {
			t.Fatalf("history %d of seed %d (BELAY_SEED=%d BELAY_HISTORY=%d):\n%s\n%s",
				i, seed, seed, i, strings.Join(problems, "\n"), h.told())
		}
		h.count(seen)
	}
	if first > 0 || n < histories {
		return
	}
	for _, what := range wild {
		if seen[what] == 0 {
			t.Errorf("the histories are too tame: never %s in %v", what, seen)
		}
	}
	t.Log(seen)
}

// walk goes through one history until it rests.
func walk(seed, i uint64, rules *verdict.Classifier) (*history, error) {
	h, err := newHistory(seed, i, rules)
	for n := 0; err == nil; n++ {
		if n > mostSteps {
			return h, fmt.Errorf("no rest after %d steps", n)
		}
		var more bool
		if more, err = h.step(); err == nil && !more {
			return h, h.refold()
		}
		if err == nil && h.in(6) {
			err = h.refold()
		}
	}
	return h, err
}

// trouble is everything that is wrong about a history.
func trouble(h *history, err error) []string {
	var list []string
	if err != nil {
		list = append(list, err.Error())
	} else if s := h.out.Status; !s.Terminal() && s != belay.Held && s != belay.Stopped {
		list = append(list, "rests "+string(s))
	}
	if h.tree == nil {
		return list
	}
	list = append(list, tell(h).found...)
	for _, v := range audit.Check(h.recs) {
		list = append(list, "audit: "+v.String())
	}
	return list
}

// refold folds all records anew: the same state, and the same to be done.
func (h *history) refold() error {
	fresh, err := h.folded(false)
	if err == nil {
		err = h.match(fresh)
	}
	if err != nil || h.kept == nil {
		return err
	}
	if fresh, err = h.restored(); err == nil {
		err = h.match(fresh)
	}
	return err
}

// match compares a tree with the one that lived, field by field.
func (h *history) match(fresh *Tree) error {
	if d := alike(reflect.ValueOf(fresh).Elem(), reflect.ValueOf(h.tree).Elem(), besideTree); d != "" {
		return fmt.Errorf("after record %d another tree: %s", len(h.recs), d)
	}
	for id, was := range h.tree.runs {
		got := fresh.runs[id]
		if d := alike(reflect.ValueOf(got).Elem(), reflect.ValueOf(was).Elem(), besideState); d != "" {
			return fmt.Errorf("after record %d run %s has another %s", len(h.recs), id, d)
		}
		if d := alike(reflect.ValueOf(got.vars).Elem(), reflect.ValueOf(was.vars).Elem(), besideScope); d != "" {
			return fmt.Errorf("after record %d run %s has other variables: %s", len(h.recs), id, d)
		}
		for i := range was.steps {
			if d := alike(reflect.ValueOf(&got.steps[i]).Elem(), reflect.ValueOf(&was.steps[i]).Elem(), besideStep); d != "" {
				return fmt.Errorf("after record %d step %s of %s has another %s", len(h.recs), was.prog.Steps[i].ID, id, d)
			}
		}
	}
	return nil
}

// What is looked at by itself; stirred may have more in it than the records say.
// Whatever is not in these lists and has no tag that says otherwise is state, and
// must be the same in a tree that was built anew.
var (
	besideTree  = []string{"runs", "born"}
	besideState = []string{"vars", "steps", "stirred"}
	besideScope = []string{"up"}
	besideStep  []string
)

// alike says which field two values differ in, but for those beside them.
func alike(a, b reflect.Value, beside []string) string {
	for i := range a.NumField() {
		name := a.Type().Field(i).Name
		if slices.Contains(beside, name) || a.Type().Field(i).Tag.Get(statebytes.Tag) != "" {
			continue
		}
		if d := apart(name, a.Field(i), b.Field(i)); d != "" {
			return d
		}
	}
	return ""
}

// wild is what random histories must have in them to be worth anything.
var wild = []string{
	"act retry", "act resume", "act fresh", "act failover", "act reassign", "act repair", "act decompose", "act recover", "act fallback", "act skip",
	"act give_up", "act abort", "act hold", "role repair", "role plan", "role recovery", "role merge", "found lost", "found unborn", "found adopted", "found harvested",
	"answer until", "answer spent", "answer probe", "end ACHIEVED", "end PARTIAL", "end FAILED", "end HOLLOW", "end ABORTED", "rests HELD",
	"cleared attempts", "cleared budget", "cleared breakers", "reopened", "policy classic", "policy belay", "rule planned", "rule replans_spent", "rolled back",
}

// count notes what happened in a history.
func (h *history) count(seen map[string]int) {
	seen["rests "+string(h.out.Status)]++
	for _, r := range h.recs {
		switch e := r.Event.(type) {
		case event.RecoveryChosen:
			seen["act "+string(e.Plan.Act)]++
			seen["policy "+e.Plan.Policy]++
			if e.Plan.Rule == "planned" || e.Plan.Rule == "replans_spent" {
				seen["rule "+e.Plan.Rule]++
			}
		case event.AttemptJudged:
			if e.Verdict.RolledBack {
				seen["rolled back"]++
			}
		case event.AttemptStarted:
			seen["role "+string(e.Role)]++
		case event.AttemptFound:
			seen["found "+string(e.How)]++
		case event.RunEnded:
			seen["end "+string(e.Status)]++
		case event.RunCleared:
			seen["cleared "+string(e.What)]++
		case event.RunReopened:
			seen["reopened"]++
		case event.AnswerGiven:
			a, _ := e.Answer.(effect.AnswerAgent)
			if !a.Until.IsZero() {
				seen["answer until"]++
			}
			if a.Spent {
				seen["answer spent"]++
			}
			if p, _ := e.Answer.(effect.AnswerProbe); p.Probe != nil {
				seen["answer probe"]++
			}
		}
	}
}

// told is a history for people.
func (h *history) told() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(h.src)) {
		fmt.Fprintf(&b, "--- %s\n%s", name, h.src[name])
	}
	for _, r := range h.recs {
		line, _ := r.MarshalJSON() // it was a record before
		if len(line) > 700 {
			line = append(line[:700], "…"...)
		}
		fmt.Fprintf(&b, "%s\n", line)
	}
	return b.String()
}
