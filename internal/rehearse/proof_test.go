package rehearse

import (
	"strings"
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/story"
)

// records makes the journal of one run: each line is an attempt, as
// "[RUN] STEP ROLE N OUTCOME".
func records(t *testing.T, lines ...string) []event.Record {
	t.Helper()
	recs := []event.Record{{Run: "r", Event: event.RunStarted{}}}
	for _, l := range lines {
		w := strings.Fields(l)
		if len(w) != 5 {
			t.Fatalf("%q", l)
		}
		run, path, role, n := belay.RunID(w[0]), belay.Path(w[1]), belay.Role(w[2]), int(w[3][0]-'0')
		key := belay.KeyOf(run, path, role, n)
		o := effect.Observation{Began: true}
		var child belay.RunID
		switch w[4] {
		case "ok":
		case "bad":
			o.Exit = 1
		case "killed":
			o.KilledBy = fault.KilledDeadline
		case "claim":
			o.Agent = &effect.AgentReport{Result: belay.AgentResult{Final: true, Stop: belay.StopDone}}
		case "change":
			o.Agent = &effect.AgentReport{Result: belay.AgentResult{Final: true, Stop: belay.StopDone}, Evidence: belay.Evidence{Files: 1}}
		case "cut":
			o.Agent = &effect.AgentReport{Result: belay.AgentResult{Final: true, Stop: belay.StopTruncated}, Evidence: belay.Evidence{Files: 1}}
		case "child":
			child, o.Child = run.Child(path, n), &belay.RunResult{Status: belay.Achieved}
		default:
			t.Fatalf("%q", l)
		}
		recs = append(recs,
			event.Record{Run: run, Event: event.AttemptStarted{Key: key, Path: path, Role: role, Attempt: n, Child: child}},
			event.Record{Run: run, Event: event.AttemptEnded{Key: key, Observation: o}},
			event.Record{Run: run, Event: event.AttemptJudged{Key: key, Verdict: effect.Verdict{OK: true}}}) // whatever it says
	}
	return append(recs, event.Record{Run: "r", Event: event.RunEnded{RunResult: belay.RunResult{Status: belay.Achieved}}})
}

// A 0 is false when the journal holds no attempt that did the work, whatever
// the verdicts say.
// promise: X
func TestFalseSuccess(t *testing.T) {
	t.Parallel()
	targets := []Target{
		{Step: "fix", Type: belay.TypeAgent, Expect: belay.ExpectChange, Agents: true}, {Step: "build", Type: belay.TypeBash, Agents: true},
		{Step: "checked", Type: belay.TypeBash, Checked: true, Agents: true}, {Step: "may", Type: belay.TypeBash, Optional: true},
		{Step: "call", Type: belay.TypeRecipe, Agents: true}, {Step: "proven", Type: belay.TypeRecipe, Checked: true, Agents: true},
		{Step: "all", Type: belay.TypeBash, Each: true}, {Step: "each", Type: belay.TypeRecipe, Each: true, Agents: true}, {Step: "ask", Type: belay.TypeAgent, Agents: true},
	}
	for name, c := range map[string]struct {
		fault string
		lines []string
		want  string // false, claim, good or lost
	}{
		"nobody came after it":          {"fix=crash", []string{"r fix main 1 bad"}, "false"},
		"it says that it is fine":       {"fix=hollow", []string{"r fix main 1 change"}, "false"},
		"the second did it":             {"fix=hollow", []string{"r fix main 1 claim", "r fix main 2 change"}, "good"},
		"the second claims it":          {"fix=hollow", []string{"r fix main 1 claim", "r fix main 2 claim"}, "false"},
		"the second was cut off":        {"fix=crash", []string{"r fix main 1 bad", "r fix main 2 cut"}, "false"},
		"all attempts have it":          {"fix=crash:*", []string{"r fix main 1 bad", "r fix main 2 change"}, "false"},
		"it was split":                  {"fix=token_limit", []string{"r fix main 1 bad", "r fix plan 1 claim", "r fix main 2 child"}, "good"},
		"all have it, and it was split": {"fix=token_limit:*", []string{"r fix main 1 bad", "r fix plan 1 claim", "r fix main 2 child"}, "good"},
		"another recipe instead":        {"checked=crash:*", []string{"r checked main 1 bad", "r checked main 2 child", "r checked verify 2 ok"}, "good"},
		"one that its check refuses":    {"checked=crash:*", []string{"r checked main 1 bad", "r checked main 2 child", "r checked verify 2 bad"}, "false"},
		"the call of each item lies":    {"each=lying_recovery", []string{"r each main 1 child", "r/each.1 item-1 main 1 child", "r/each.1/item-1.1 inner main 1 bad"}, "false"},
		"another one is optional":       {"fix=crash", []string{"r fix main 1 bad", "r may main 1 child", "r/may.1 inner main 1 ok"}, "false"},
		"it is in an optional one":      {"build=crash", []string{"r/may.1 build main 1 bad"}, "lost"},
		"a plan is no work":             {"fix=token_limit", []string{"r fix main 1 bad", "r fix plan 1 change"}, "false"},
		"a repair is not the step":      {"build=crash", []string{"r build main 1 bad", "r build repair 1 change"}, "false"},
		"a repair, and the step":        {"build=crash", []string{"r build main 1 bad", "r build repair 1 change", "r build main 2 ok"}, "good"},
		"a timeout is no end":           {"build=crash", []string{"r build main 1 bad", "r build main 2 killed"}, "false"},
		"its check did not run":         {"checked=crash", []string{"r checked main 1 bad", "r checked main 2 ok"}, "false"},
		"its check failed":              {"checked=crash", []string{"r checked main 1 bad", "r checked main 2 ok", "r checked verify 2 bad"}, "false"},
		"its check passed":              {"checked=crash", []string{"r checked main 1 bad", "r checked main 2 ok", "r checked verify 2 ok"}, "good"},
		"an optional one":               {"may=crash", []string{"r may main 1 bad"}, "lost"},
		"one of two items":              {"all=crash", []string{"r/all.1 item-1 main 1 bad", "r/all.1 item-2 main 1 bad", "r/all.1 item-1 main 2 ok"}, "false"},
		"both items":                    {"all=crash", []string{"r/all.1 item-1 main 1 bad", "r/all.1 item-2 main 1 bad", "r/all.1 item-1 main 2 ok", "r/all.1 item-2 main 2 ok"}, "good"},
		"the caller was called again":   {"build=crash", []string{"r/call.1 build main 1 bad", "r call main 2 child"}, "good"},
		"the call says it is fine":      {"build=crash", []string{"r/call.1 build main 1 bad", "r call main 1 child"}, "false"},
		"a lie with nothing to check":   {"call=lying_recovery", []string{"r/call.1 build main 1 bad", "r call recovery 1 claim"}, "false"},
		"recovered around it":           {"build=crash", []string{"r/call.1 build main 1 bad", "r call recovery 1 change"}, "good"},
		"recovered without its check":   {"build=crash", []string{"r/proven.1 build main 1 bad", "r proven recovery 1 change", "r proven verify 1 bad"}, "false"},
		"a lie, and the check fails":    {"proven=lying_recovery", []string{"r/proven.1 build main 1 bad", "r proven recovery 1 claim"}, "false"},
		"a lie, and the check passes":   {"proven=lying_recovery", []string{"r/proven.1 build main 1 bad", "r proven recovery 1 claim", "r proven verify 1 ok"}, "good"},
		"a claim is what was asked":     {"ask=hollow", []string{"r ask main 1 claim"}, "claim"},
		"slow is not wrong":             {"build=slow", []string{"r build main 1 ok"}, "good"},
		"it was never reached":          {"build=crash", []string{"r fix main 1 change"}, "lost"},
	} {
		in, err := Parse(c.fault)
		if err != nil {
			t.Fatal(err)
		}
		s := Tell("x", story.Tell(nil, records(t, c.lines...)), targets, []Injection{in}, Ended{})
		got := "lost"
		switch f := s.Faults[0]; {
		case f.False:
			got = "false"
		case f.Unverified:
			got = "claim"
		case f.Good != "":
			got = "good"
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s: %+v", name, got, c.want, s.Faults[0])
		}
		if s = Tell("x", story.Tell(nil, records(t, c.lines...)), targets, []Injection{in}, Ended{Code: 1}); s.False() {
			t.Errorf("%s: an exit of 1 is no success", name)
		}
	}
}
