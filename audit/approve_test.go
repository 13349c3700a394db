package audit

import (
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
)

// asks is an approval; it has timed out for long, or will not for long.
func asks(then string, past bool) event.ItemOpened {
	until := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	if past {
		until = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return event.ItemOpened{ID: "a.1", Path: "a", Choices: []string{"approve", "later", "reject"}, About: event.ItemApproval, Who: []string{"ada"}, Until: until, OnTimeout: then}
}

func says(by, choice string) event.ItemAnswered {
	return event.ItemAnswered{ID: "a.1", Path: "a", By: by, Choice: choice, About: event.ItemApproval}
}

func expires(then string) event.ItemExpired {
	return event.ItemExpired{ID: "a.1", Path: "a", Then: then}
}

// Approvals that keep the rules, and those that break one: nobody approves by a
// timeout, before the time, twice, or in the place of another.
func TestApprovals(t *testing.T) {
	t.Parallel()
	again := asks("hold", true)
	again.ID = "a.2"
	for name, j := range map[string][]event.Record{
		"approved":            journal(began(), do(asks("hold", false), says("ada", "approve"), over(belay.Achieved))),
		"rejected":            journal(began(), do(asks("hold", false), says("ada", "reject"), over(belay.Failed))),
		"rejected, and again": journal(began(), do(asks("hold", false), says("ada", "reject"), over(belay.Failed), event.RunReopened{}, again)),
		"timed out, a choice": journal(began(), do(asks("later", true), expires("later"), over(belay.Achieved))),
		"timed out, held":     journal(began(), do(asks("hold", true), expires("hold"), says("ada", "approve"), over(belay.Achieved))),
	} {
		if v := Check(j); len(v) > 0 {
			t.Errorf("%s: %v", name, v)
		}
	}
	for name, j := range map[string][]event.Record{
		"approved by a timeout":       journal(began(), do(asks("approve", true), expires("approve"))),
		"timed out too early":         journal(began(), do(asks("reject", false), expires("reject"))),
		"timed out otherwise":         journal(began(), do(asks("reject", true), expires("later"))),
		"timed out after an answer":   journal(began(), do(asks("reject", true), says("ada", "approve"), expires("reject"))),
		"answered after it timed out": journal(began(), do(asks("reject", true), expires("reject"), says("ada", "approve"))),
		"answered by another":         journal(began(), do(asks("hold", false), says("eve", "approve"))),
		"no choice of it":             journal(began(), do(asks("hold", false), says("ada", "done"))),
		"as a held step":              journal(began(), do(asks("hold", false), event.ItemAnswered{ID: "a.1", Path: "a", By: "ada", Choice: "approve"})),
		"asked again":                 journal(began(), do(asks("hold", false), says("ada", "approve"), again)),
	} {
		v := Check(j)
		if len(v) == 0 || v[0].Rule != RuleItem && v[0].Rule != RuleFinal {
			t.Errorf("%s: %v", name, v)
		}
	}
}
