package task

import (
	"encoding/json"
	"fmt"
	"strings"
)

// DefaultReviewRounds is how often a plan is reviewed at most.
const DefaultReviewRounds = 5

// The states of a review.
const (
	reviewApproved  = "approved"
	reviewContinue  = "continue"
	reviewStalemate = "stalemate"
	synthFailure    = "synth_failure"           // the plan could not be rewritten
	synthStalemate  = "synth_failure_stalemate" // the same, and no round is left
)

// Stop reasons, as the STALEMATE line has them.
const (
	stopMaxRounds  = "max_rounds"
	stopRegression = "regression"
	stopReRaised   = "re_raised_only"
	stopSynthCap   = "synth_failure_at_round_cap"
	stopPromoted   = "synth_failure_promoted_on_resume"
	stopCarried    = "synth_failure_stalemate_carried_over"
)

// reviewEnd is how a review goes on, or ends.
type reviewEnd struct {
	Stop     bool   `json:"stop"`
	Approved bool   `json:"approved"`
	Status   string `json:"status"`
	Reason   string `json:"reason"`
	Event    any    `json:"event"`
	Why      string `json:"why"`
	Round    int    `json:"round"`
	Ends     string `json:"ends"`
}

func callReviewStop() Function {
	return Function{
		Name: "review-stop",
		Does: "Whether the review of a plan ends: approved, in a stalemate with its reason, or not yet.",
		Inputs: []Field{
			{"round", TypeNumber, true, "Which round it is, from 1."},
			{"triage", TypeObject, false, "What triage gave in this round."},
			{"last", TypeObject, false, "What it gave in the round before."},
			{"max_rounds", TypeNumber, false, "The hard cap; 5 where it is left out."},
			{"adaptive", TypeFlag, false, "false: only the cap ends a review that is not approved."},
			{"synthesis", TypeText, false, "failed: the plan could not be rewritten in this round."},
			{"decided", TypeObject, false, "What this function gave before in this round; it holds unless the synthesis failed."},
			{"resumed_as", TypeText, false, "The status in which a run was left that goes on now: stalemate, synth_failure or synth_failure_stalemate."},
			{"resumed_reason", TypeText, false, "The reason that it was left with."},
			{"plan_changed", TypeFlag, false, "Somebody changed the plan since: what it was left in does not count any more."},
			{"unusable", TypeFlag, false, "Somebody changed it to something that is no plan."},
			{"run", TypeText, false, "The id of the run, for the event."},
		},
		Outputs: []Field{
			{"stop", TypeFlag, true, "No further round."},
			{"approved", TypeFlag, true, "The plan is approved."},
			{"status", TypeText, true, "approved, continue, stalemate, synth_failure or synth_failure_stalemate."},
			{"reason", TypeText, true, "Of a stalemate: max_rounds, regression, re_raised_only, synth_failure_at_round_cap, synth_failure_promoted_on_resume or synth_failure_stalemate_carried_over."},
			{"event", TypeObject, true, "Of a stalemate: the object of the STALEMATE line; else null."},
			{"why", TypeText, true, "The same in words."},
			{"round", TypeNumber, true, "Which round it is."},
			{"ends", TypeText, true, "The status of the round for `ends:`, with its reason: ACHIEVED, PARTIAL while it goes on, STALEMATE or FAILED."},
		},
		Example: Example{
			With: json.RawMessage(`{"round": 2, "triage": {"approved": false, "blocking": 1, "new": [], "re_raised": [{"id": "f-1"}]}, "last": {"blocking": 1}, "run": "k3f"}`),
			Gives: json.RawMessage(`{"stop": true, "approved": false, "status": "stalemate", "reason": "re_raised_only",
				"event": {"event": "STALEMATE", "reason": "re_raised_only", "round": 2, "maxRounds": 5, "run": "k3f"},
				"why": "the same findings are raised again, and nothing new", "round": 2,
				"ends": "STALEMATE -- the same findings are raised again, and nothing new"}`),
		},
		do: reviewStop,
	}
}

func reviewStop(in *inputs) any {
	round, most := in.number("round", 0), in.number("max_rounds", DefaultReviewRounds)
	if round < 1 {
		in.fail("round", "it is counted from 1, found %d", round)
		return nil
	}
	if most < 1 {
		in.fail("max_rounds", "there is at least one round, found %d", most)
		return nil
	}
	if before := in.object("decided"); before != nil && in.text("synthesis") != "failed" {
		return before
	}
	e := decideReview(in, round, most)
	e.Round, e.Ends = round, "ACHIEVED"
	if e.Status == reviewContinue {
		e.Ends = "PARTIAL -- not approved yet: " + e.Why
	}
	if e.Status == synthFailure {
		e.Ends = "FAILED -- " + e.Why
	}
	if e.Status == reviewStalemate || e.Status == synthStalemate {
		e.Stop = true
		e.Ends = "STALEMATE -- " + e.Why
		e.Event = struct {
			Event     string `json:"event"`
			Reason    string `json:"reason"`
			Round     int    `json:"round"`
			MaxRounds int    `json:"maxRounds"` //nolint:tagliatelle // a word of the older reviewer, which others read
			Run       string `json:"run"`
		}{"STALEMATE", e.Reason, round, most, in.text("run")}
	}
	return e
}

// decideReview goes through the reasons to stop in their order: the cap, the first
// round, adaptive off, regression, nothing but what was raised before.
func decideReview(in *inputs, round, most int) reviewEnd {
	stuck := func(status, reason, why string) reviewEnd {
		return reviewEnd{Status: status, Reason: reason, Why: why}
	}
	if !in.flag("plan_changed") {
		since := "nobody changed the plan since"
		if in.flag("unusable") {
			since = "what somebody wrote since is no plan: it needs goal, criteria and streams, as JSON"
		}
		switch in.text("resumed_as") {
		case reviewStalemate:
			return stuck(reviewStalemate, carried(in.text("resumed_reason")), "the review was in a stalemate when the run was left, and "+since)
		case synthFailure:
			return stuck(synthStalemate, stopPromoted, "the plan could not be rewritten before the run was left, and "+since)
		case synthStalemate:
			return stuck(synthStalemate, stopCarried, "the review was in a stalemate when the run was left, and "+since)
		}
	}
	if in.text("synthesis") == "failed" {
		if round >= most {
			return stuck(synthStalemate, stopSynthCap, fmt.Sprintf("the plan could not be rewritten in round %d of %d", round, most))
		}
		return reviewEnd{Stop: true, Status: synthFailure, Why: "the plan could not be rewritten"}
	}
	now, last := in.object("triage"), in.object("last")
	if approved, _ := now["approved"].(bool); approved {
		return reviewEnd{Stop: true, Approved: true, Status: reviewApproved, Why: "no blocking finding is open"}
	}
	on, said := in.values["adaptive"].(bool)
	switch {
	case round >= most:
		return stuck(reviewStalemate, stopMaxRounds, strings.TrimSuffix(fmt.Sprintf("not approved after round %d of %d: %s", round, most, first(now, "why")), ": "))
	case round == 1:
		return reviewEnd{Status: reviewContinue, Why: "the first round never ends a review"}
	case said && !on:
		return reviewEnd{Status: reviewContinue, Why: "only the cap ends it"}
	case last != nil && size(now["blocking"]) > size(last["blocking"]):
		return stuck(reviewStalemate, stopRegression, fmt.Sprintf("%d blocking findings are open, and in the round before it were %d", size(now["blocking"]), size(last["blocking"])))
	case size(now["new"]) == 0 && size(now["re_raised"]) > 0:
		return stuck(reviewStalemate, stopReRaised, "the same findings are raised again, and nothing new")
	case size(now["new"]) == 0 && size(now["unread"]) > 0 && size(last["unread"]) > 0: // asking again is no other answer
		return stuck(reviewStalemate, stopReRaised, first(now, "why")+", as in the round before, and nothing new was found")
	}
	return reviewEnd{Status: reviewContinue, Why: "there is something new to be fixed"}
}

// carried is the reason of a stalemate that is the same as before.
func carried(reason string) string {
	switch reason {
	case stopMaxRounds, stopRegression, stopReRaised:
		return reason
	}
	return stopCarried
}

// size is a number, or how long a list is.
func size(v any) int {
	switch v := v.(type) {
	case []any:
		return len(v)
	case json.Number:
		n, err := v.Int64()
		if err == nil {
			return int(n)
		}
	}
	return 0
}
