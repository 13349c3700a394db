package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/recipe"
	"github.com/belay-run/belay/recovery"
	"github.com/belay-run/belay/story"
)

func told(t *testing.T) func(event.Event) string {
	t.Helper()
	r, problems := recipe.Parse("r.yaml", []byte("name: r\nsteps:\n- {id: fix, agent: one, prompt: x, role: tester}\n- {id: call, recipe: sub}\n"))
	if r == nil {
		t.Fatal(problems)
	}
	tree := flow.NewTree("k", flow.Library{Recipes: map[string]*recipe.Recipe{r.Digest: r}, Names: map[string]string{}})
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	if _, err := tree.Turn(now, flow.Fact{Run: "k", Event: event.RunStarted{Schema: event.Schema, Name: "r", Recipe: r.Digest, Dir: "/d", Limits: belay.DefaultLimits()}}); err != nil {
		t.Fatal(err)
	}
	teller := logLines{story.Live(tree)}
	return func(e event.Event) string {
		var lines []string
		for _, l := range teller.of(&teller.story.Add(event.Record{At: now, Run: "k", Event: e})[0]) {
			lines = append(lines, strings.ToUpper(string(l.level))+" "+l.text)
		}
		return strings.Join(lines, "\n")
	}
}

// promise: R13
func TestOneLineForEachDecisionAndOneThatItIsRecorded(t *testing.T) {
	due := time.Date(2026, 1, 2, 3, 4, 7, 0, time.UTC)
	for want, p := range map[string]belay.Plan{
		"rule=transient strategy=retry attempt=2 backoff_ms=2000": {Act: belay.ActRetry, Rule: "transient", Due: due},
		"rule=timeout strategy=retry attempt=1 backoff_ms=2000":   {Act: belay.ActRetry, Rule: "timeout", Due: due, Policy: recovery.PolicyClassic},
		"rule=denied strategy=reassign from=tester to=devops":     {Act: belay.ActReassign, Rule: "denied", Role: "devops"},
		"rule=quota strategy=failover from=one to=scripted":       {Act: belay.ActFailover, Rule: "quota", Agent: "scripted:/x.yaml"},
		"rule=too_big strategy=decompose subtask_count=2":         {Act: belay.ActDecompose, Rule: "too_big", Parts: make([]belay.Part, 2)},
		"rule=critical strategy=escalate":                         {Act: belay.ActHold, Rule: "critical"},
		"rule=optional strategy=skip":                             {Act: belay.ActSkip, Rule: "optional"},
		"rule=attempts_spent strategy=give_up":                    {Act: belay.ActGiveUp, Rule: "attempts_spent"},
		"rule=work_failure strategy=repair attempt=2":             {Act: belay.ActRepair, Rule: "work_failure"},
	} {
		p.Reason = "because \"so\"\nand so"
		tell := told(t)
		tell(event.AttemptStarted{Key: "k:fix.2", Path: "fix", Role: belay.RoleMain, Attempt: 2, Agent: "one"})
		_, kind, _ := strings.Cut(want, "strategy=")
		kind, _, _ = strings.Cut(kind, " ")
		whole := "INFO task=\"fix\" " + want + "\nINFO task=\"fix\" recorded=" + kind + ` reason="because \"so\"\nand so"`
		if got := tell(event.RecoveryChosen{Path: "fix", Plan: p}); got != whole {
			t.Errorf("got\n%s\nwant\n%s", got, whole)
		}
	}
}

// promise: A10
func TestLinesOfRecoveries(t *testing.T) {
	agentEnded := func(r belay.AgentResult) effect.Observation {
		return effect.Observation{Agent: &effect.AgentReport{Result: r}}
	}
	failed := effect.Verdict{Failure: &belay.Failure{Cause: "the cause"}}
	for want, c := range map[string]struct {
		ended effect.Observation
		v     effect.Verdict
	}{
		"INFO Agent recovery succeeded for sub-recipe 'sub' (step 'call')":                              {agentEnded(belay.AgentResult{Final: true, Excerpt: "x"}), effect.Verdict{OK: true}},
		"WARNING Agent recovery returned empty output for sub-recipe 'sub'":                             {agentEnded(belay.AgentResult{Final: true, Excerpt: " \n"}), failed},
		"WARNING Agent recovery reported unrecoverable failure for sub-recipe 'sub': unrecoverable, no": {agentEnded(belay.AgentResult{Final: true, Excerpt: "unrecoverable,\nno", GaveUp: true}), failed},
		"WARNING Agent recovery invocation failed for sub-recipe 'sub': the cause":                      {agentEnded(belay.AgentResult{Final: true, Error: true}), failed},
		"WARNING Agent recovery of sub-recipe 'sub' was not accepted: the cause":                        {agentEnded(belay.AgentResult{Final: true, Excerpt: "x"}), failed},
	} {
		tell := told(t)
		tell(event.AttemptEnded{Key: "k:call@recovery.1", Observation: c.ended})
		if got := tell(event.AttemptJudged{Key: "k:call@recovery.1", Verdict: c.v}); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
	tell := told(t)
	if got := tell(event.AttemptJudged{Key: "k:call@recovery.1", Verdict: failed}); got != "WARNING Agent recovery invocation failed for sub-recipe 'sub': the cause" {
		t.Errorf("without a report: %s", got)
	}
	if got := tell(event.AnswerGiven{Key: "k:call@recovery.1?agent", Answer: effect.AnswerAgent{Error: "the service is down"}}); got != "WARNING Agent recovery invocation failed for sub-recipe 'sub': the service is down" {
		t.Errorf("an agent that may not start: %s", got)
	}
	p := belay.Plan{Act: belay.ActGiveUp, Refused: []belay.NotTaken{{Act: belay.ActRecover, Why: recovery.NoAgent}}}
	if got := tell(event.RecoveryChosen{Path: "call", Plan: p}); !strings.HasSuffix(got, "\nWARNING Cannot attempt agent recovery: no adapter configured") {
		t.Errorf("without an agent: %s", got)
	}
	if got := tell(event.AttemptJudged{Key: "k:fix.1", Verdict: failed}); got != "" {
		t.Errorf("another attempt: %s", got)
	}
}
