package cli

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/recovery/classic"
	"github.com/belay-run/belay/story"
)

// all are one plan of every kind, in the order of the list of acts.
func all() []belay.Plan {
	return []belay.Plan{
		{Act: belay.ActRetry, Rule: "r", Reason: "why 1", Due: night.Add(time.Hour)},
		{Act: belay.ActResume, Rule: "r", Reason: "why 2"},
		{Act: belay.ActFresh, Rule: "r", Reason: "why 3"},
		{Act: belay.ActFailover, Rule: "r", Reason: "why 4", Agent: "codex", Counts: true},
		{Act: belay.ActReassign, Rule: "denied", Policy: "classic", Reason: "why 5", Role: "reviewer"},
		{Act: belay.ActRepair, Rule: "r", Reason: "why 6", Refused: []belay.NotTaken{{Act: belay.ActRetry, Why: "the same again"}}},
		{Act: belay.ActDecompose, Rule: "too_big", Policy: "classic", Reason: "why 7", Role: "coder", Parts: []belay.Part{{Title: "one"}, {Title: "two", Needs: []int{1}}}},
		{Act: belay.ActRecover, Rule: "r", Reason: "why 8"},
		{Act: belay.ActFallback, Rule: "r", Reason: "why 9"},
		{Act: belay.ActSkip, Rule: "r", Reason: "why 10"},
		{Act: belay.ActAbort, Rule: "r", Reason: "why 11"},
		{Act: belay.ActHold, Rule: "r", Reason: "why 12"},
		{Act: belay.ActGiveUp, Rule: "r", Reason: "why 13"},
	}
}

// chronicled are the decisions of records that need not fit together: the tree
// is folded as far as they do.
func chronicled(w *tale) []decision {
	tree := flow.NewTree("k3f9q", w.lib)
	for _, r := range w.recs {
		if tree.Apply(r) != nil {
			break
		}
	}
	v := &runView{id: "k3f9q", Story: story.Tell(tree, w.recs)}
	return v.decisions()
}

// Every recovery has its place in the history: the six of old in the form that
// every reader of histories knows, the others in one of the same kind.
//
// promise: R8, R14
func TestHistoryOfEveryAct(t *testing.T) {
	t.Parallel()
	w := newTale(t, nightly, nil)
	w.try("k3f9q", "fix", 1, "claude", effect.Observation{Exit: 1}, &belay.Failure{Kind: belay.BashFailure, Class: belay.ClassQuota, Level: belay.LevelTyped, Print: "f00"})
	w.now = night.Add(time.Hour - 1500*time.Millisecond)
	for _, p := range all() {
		w.recs = append(w.recs, event.Record{At: w.now, Run: "k3f9q", Event: event.RecoveryChosen{Path: "fix", Plan: p}})
	}
	want := []string{
		`{"retry":{"max_attempts":2,"backoff_ms":1500}}`, `{"resume":{}}`, `{"fresh":{}}`, `{"failover":{"to":"codex"}}`,
		`{"reassign":{"new_role":"reviewer"}}`, `{"repair":{}}`,
		`{"decompose":{"subtasks":[{"description":"one","assigned_to":"coder","dependencies":[]},{"description":"two","assigned_to":"coder","dependencies":["one"]}]}}`,
		`{"recover":{}}`, `{"fallback":{}}`, `{"skip":{"reason":"why 10"}}`, `{"abort":{"reason":"why 11"}}`, `"escalate"`, `{"give_up":{}}`,
	}
	for _, a := range belay.Acts() {
		if a.Row().Planned && !slices.ContainsFunc(all(), func(p belay.Plan) bool { return p.Act == a }) {
			t.Errorf("no plan with the act %q is tried here", a)
		}
	}
	list := chronicled(w)
	if len(list) != len(want) {
		t.Fatalf("%d decisions, want %d", len(list), len(want))
	}
	for i, d := range list {
		got, err := json.Marshal(d)
		must(t, err)
		var entry struct {
			Task     string          `json:"task_id"`
			Reason   string          `json:"reason"`
			Strategy json.RawMessage `json:"strategy_chosen"`
			Class    belay.Class     `json:"class"`
			Level    belay.Level     `json:"level"`
			Print    string          `json:"fingerprint"`
			Agent    string          `json:"agent"`
			At       time.Time       `json:"timestamp"`
		}
		must(t, json.Unmarshal(got, &entry))
		if string(entry.Strategy) != want[i] {
			t.Errorf("%d: %s, want %s", i, entry.Strategy, want[i])
		}
		if entry.Task != "fix" || !strings.HasPrefix(entry.Reason, "why ") || entry.Class != belay.ClassQuota || entry.Level != belay.LevelTyped ||
			entry.Print != "f00" || entry.Agent != "claude" || !entry.At.Equal(w.now) {
			t.Errorf("%d: %s", i, got)
		}
		if words := d.words(); words == "" || strings.Contains(words, "  ") {
			t.Errorf("%d: words %q", i, words)
		}
	}
	if got := list[3].words(); got != "failover claude → codex" {
		t.Errorf("failover: %q", got)
	}
}

// Who takes over is named in full, and roles are told apart from agents.
func TestHistoryNamesWhoTakesOver(t *testing.T) {
	t.Parallel()
	w := newTale(t, nightly, nil)
	w.try("k3f9q", "fix", 1, "scripted:/a.yaml", effect.Observation{Exit: 1}, &belay.Failure{Kind: belay.BashFailure})
	plans := []belay.Plan{
		{Act: belay.ActReassign, Role: "custom:helper"},
		{Act: belay.ActReassign, Role: "devops", Agent: "codex"},
		{Act: belay.ActFailover, Agent: "scripted:/b.yaml"},
		{Act: belay.ActFailover, Agent: "codex"},
		{Act: belay.ActRepair},
	}
	for _, p := range plans {
		w.recs = append(w.recs, event.Record{At: w.now, Run: "k3f9q", Event: event.RecoveryChosen{Path: "fix", Plan: p}})
	}
	want := []string{
		"reassign coder → custom:helper", "reassign custom:helper → devops",
		"failover scripted → scripted", "failover scripted → codex", "repair (agent scripted)",
	}
	for i, d := range chronicled(w) {
		if got := d.words(); got != want[i] {
			t.Errorf("%d: %q, want %q", i, got, want[i])
		}
	}
}

// A history of classic decisions is a record that the recovery room reads, and
// writes again as it was.
//
// promise: R14
func TestHistoryIsARecord(t *testing.T) {
	t.Parallel()
	w := newTale(t, nightly, nil)
	w.try("k3f9q", "fix", 1, "claude", effect.Observation{Exit: 1}, &belay.Failure{Kind: belay.BashFailure})
	for _, p := range all() {
		switch p.Act {
		case belay.ActRetry, belay.ActReassign, belay.ActDecompose, belay.ActSkip, belay.ActAbort, belay.ActHold:
			w.plan("k3f9q", "fix", p)
		case belay.ActResume, belay.ActFresh, belay.ActFailover, belay.ActRepair, belay.ActRecover, belay.ActFallback, belay.ActGiveUp:
		}
	}
	b, err := json.Marshal(chronicled(w))
	must(t, err)
	var rec classic.Record
	must(t, json.Unmarshal(b, &rec))
	if rec.Total() != 6 || len(rec.Of("fix")) != 6 || len(rec.Of("nobody")) != 0 {
		t.Fatalf("%d entries of %s", rec.Total(), b)
	}
	again, err := json.Marshal(rec)
	must(t, err)
	var back classic.Record
	must(t, json.Unmarshal(again, &back))
	if !reflect.DeepEqual(rec.All(), back.All()) {
		t.Errorf("%+v\n%+v", rec.All(), back.All())
	}
}

// What persons decided is in the history, with who it was.
//
// promise: R8
func TestHistoryOfPersons(t *testing.T) {
	t.Parallel()
	w := newTale(t, nightly, nil)
	w.say("k3f9q/deploy.2", event.ItemOpened{ID: "push.1", Path: "push", Ask: "which?", Choices: []string{"done"}})
	w.say("k3f9q/deploy.2", event.ItemAnswered{ID: "push.1", Path: "push", By: "ada", Choice: "skip", Why: "late"})
	w.say("k3f9q/deploy.2", event.StepSkipped{Path: "push", By: "ada", Why: "late"})
	w.say("k3f9q", event.RunCleared{What: event.CountAttempts, By: "bob", Why: "mended"})
	w.say("k3f9q", event.RunReopened{By: "bob", Why: "again"})
	var got []string
	for _, d := range chronicled(w) {
		b, err := json.Marshal(d.Chosen)
		must(t, err)
		got = append(got, strings.Join([]string{d.TaskID, d.words(), d.By, d.Reason, string(b)}, "|"))
	}
	want := []string{
		`deploy.2/push|a person is asked||which?|{"ask":{"choices":["done"],"item":"push.1"}}`,
		`deploy.2/push|answered skip by ada|ada|late|{"answer":{"choice":"skip","item":"push.1"}}`,
		`deploy.2/push|left out by ada|ada|late|{"skip":{"reason":"late"}}`,
		`|cleared attempts by bob|bob|mended|{"clear":{"what":"attempts"}}`,
		`|opened again by bob|bob|again|{"reopen":{}}`,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// The classic policy counts its retries; a timeout is tried once more than the
// failures before it.
//
// promise: R3
func TestHistoryOfClassicRetries(t *testing.T) {
	t.Parallel()
	w := newTale(t, nightly, nil)
	for n := 1; n <= 2; n++ {
		w.try("k3f9q", "fix", n, "claude", effect.Observation{Exit: 1}, &belay.Failure{Kind: belay.AgentTimeout})
		rule := classic.RuleAttemptsLeft
		if n == 2 {
			rule = classic.RuleTimeout
		}
		w.plan("k3f9q", "fix", belay.Plan{Act: belay.ActRetry, Rule: string(rule), Policy: "classic", Reason: "r"})
	}
	list := chronicled(w)
	if a, b := list[0].StrategyChosen.MaxAttempts, list[1].StrategyChosen.MaxAttempts; a != classic.DefaultMaxRetries || b != 2 {
		t.Errorf("max_attempts %d and %d", a, b)
	}
}
