package audit

import (
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/fault"
)

const (
	root = belay.RunID("k3f9q")
	kid  = belay.RunID("k3f9q/sub.1")
)

// line is one record in the making; journal gives it its number, time and epoch.
type line struct {
	run belay.RunID
	e   event.Event
}

// journal makes records of lines, a second apart, in the epoch of the last attach.
func journal(parts ...[]line) []event.Record {
	var recs []event.Record
	var epoch int64 = 1
	at := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	for _, part := range parts {
		for _, l := range part {
			if a, ok := l.e.(event.RunAttached); ok {
				epoch = a.Epoch
			}
			at = at.Add(time.Second)
			recs = append(recs, event.Record{Seq: int64(len(recs) + 1), Epoch: epoch, At: at, Run: l.run, Event: l.e})
		}
	}
	return recs
}

// in puts events into a run.
func in(run belay.RunID, events ...event.Event) []line {
	var out []line
	for _, e := range events {
		out = append(out, line{run, e})
	}
	return out
}

func do(events ...event.Event) []line { return in(root, events...) }

func began() []line {
	return do(event.RunStarted{Schema: event.Schema, Name: "r", Limits: belay.DefaultLimits()}, attach(1))
}

func attach(epoch int64) event.Event { return event.RunAttached{Epoch: epoch, Version: "v"} }

func key(p belay.Path, n int) belay.Key { return belay.KeyOf(root, p, belay.RoleMain, n) }

func checkKey(p belay.Path, n int) belay.Key { return belay.KeyOf(root, p, belay.RoleVerify, n) }

func start(p belay.Path, n int) event.Event {
	return event.AttemptStarted{Key: key(p, n), Path: p, Role: belay.RoleMain, Attempt: n}
}

func startOnce(p belay.Path, n int) event.Event {
	return event.AttemptStarted{Key: key(p, n), Path: p, Role: belay.RoleMain, Attempt: n, Once: true}
}

func startCheck(p belay.Path, n int) event.Event {
	return event.AttemptStarted{Key: checkKey(p, n), Path: p, Role: belay.RoleVerify, Attempt: n}
}

func startHook(p belay.Path, n int) event.Event {
	return event.AttemptStarted{Key: hookKey(p, n), Path: p, Role: belay.RoleHook, Attempt: n}
}

func hookKey(p belay.Path, n int) belay.Key { return belay.KeyOf(root, p, belay.RoleHook, n) }

func startKid(n int, child belay.RunID) event.Event {
	return event.AttemptStarted{Key: key("sub", n), Path: "sub", Role: belay.RoleMain, Attempt: n, Child: child}
}

func end(k belay.Key, exit int) event.Event {
	return event.AttemptEnded{Key: k, Observation: effect.Observation{Began: true, Exit: exit}}
}

func killed(k belay.Key, by fault.KilledBy) event.Event {
	return event.AttemptEnded{Key: k, Observation: effect.Observation{Began: true, Signal: 15, KilledBy: by}}
}

func ok(k belay.Key) event.Event {
	return event.AttemptJudged{Key: k, Verdict: effect.Verdict{OK: true}}
}

func bad(k belay.Key) event.Event {
	return event.AttemptJudged{Key: k, Verdict: effect.Verdict{Failure: &belay.Failure{Kind: belay.BashFailure, Cause: "exit 1"}}}
}

func unknown(k belay.Key) event.Event {
	return event.AttemptJudged{Key: k, Verdict: effect.Verdict{Unknown: true}}
}

func givenBack(k belay.Key) event.Event {
	return event.AttemptJudged{Key: k, Verdict: effect.Verdict{GivenBack: true}}
}

func found(k belay.Key, how fault.Found) event.Event { return event.AttemptFound{Key: k, How: how} }

func stopping(k belay.Key, why fault.KilledBy) event.Event {
	return event.AttemptStopping{Key: k, Why: why}
}

func plan(p belay.Path, act belay.Act) event.Event {
	return event.RecoveryChosen{Path: p, Plan: belay.Plan{Act: act}}
}

func opened(id string, p belay.Path) event.Event { return event.ItemOpened{ID: id, Path: p} }

func answered(id string, p belay.Path, choice string) event.Event {
	return event.ItemAnswered{ID: id, Path: p, By: "ada", Choice: choice}
}

func asked(id string, w event.RequestKind) event.Event {
	return event.RequestReceived{Request: event.Request{ID: id, Run: root, Ask: w}}
}

func over(s belay.Status) event.Event {
	code := map[belay.Status]int{belay.Failed: 1, belay.Partial: 5, belay.Aborted: 4}[s]
	return event.RunEnded{RunResult: belay.RunResult{Status: s, Code: code}}
}

// done is a whole step that goes well.
func done(p belay.Path, n int) []event.Event {
	return []event.Event{start(p, n), end(key(p, n), 0), ok(key(p, n))}
}

// broke is a whole attempt that fails.
func broke(p belay.Path, n int) []event.Event {
	return []event.Event{start(p, n), end(key(p, n), 1), bad(key(p, n))}
}

// The parts of a child run.

func kidStarted() event.Event {
	return event.RunStarted{Schema: event.Schema, Name: "s", Parent: key("sub", 1), Limits: belay.DefaultLimits()}
}

func kidKey(p belay.Path, n int) belay.Key { return belay.KeyOf(kid, p, belay.RoleMain, n) }

func kidStart(p belay.Path, n int) event.Event {
	return event.AttemptStarted{Key: kidKey(p, n), Path: p, Role: belay.RoleMain, Attempt: n}
}

func kidEnd(n int, s belay.Status, code int) event.Event {
	return event.AttemptEnded{Key: key("sub", n), Observation: effect.Observation{
		Began: true, Child: &belay.RunResult{Status: s, Code: code},
	}}
}
