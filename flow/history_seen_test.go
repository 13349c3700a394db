package flow

import (
	"fmt"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/fault"
)

// classes of an agent's error.
var classes = []belay.Class{
	belay.ClassNone, belay.ClassCancelled, belay.ClassTimeout, belay.ClassTransient, belay.ClassRateLimit, belay.ClassQuota, belay.ClassAuth,
	belay.ClassPermission, belay.ClassTokenLimit, belay.ClassTurnLimit, belay.ClassComplexity, belay.ClassBudget, belay.ClassRefusal,
	belay.ClassWorkFailure, belay.ClassConflict, belay.ClassInfrastructure, belay.ClassInvalidInput, belay.ClassHollow, belay.ClassBenign, belay.ClassUnknown,
}

// answer is what the hands say to a question.
func (h *history) answer(c effect.Ask) effect.Answer {
	switch q := c.Question.(type) {
	case effect.AskAgent:
		of, _ := c.Key.Is(belay.TopicAgent)
		return h.permit(of, q)
	case effect.AskTree:
		if h.in(20) {
			return effect.AnswerTree{Dir: q.Dir, Error: "it can never be had"}
		}
		if h.in(10) {
			h.taken++ // somebody else had it
		}
		return effect.AnswerTree{OK: true, Dir: q.Dir, Tree: q.Dir, Taken: h.taken + 1, Waited: time.Duration(h.IntN(3)) * time.Second}
	case effect.AskProbe:
		if h.in(4) {
			return effect.AnswerProbe{Error: "it could not be looked at"}
		}
		return effect.AnswerProbe{OK: true, Probe: &effect.Probe{DiskFull: h.in(4), ReadOnly: h.in(6), OOMKill: h.in(3)}}
	case effect.AskLook:
		return h.looked(q)
	case effect.AskWorktree:
		if q.Optional && h.in(4) {
			return effect.AnswerWorktree{OK: true, Error: "there can be none"}
		}
		a := effect.AnswerWorktree{OK: true, Dir: "/tree", Ref: "branch", Merge: q.Merge}
		if q.Stand != "" {
			a.Stood = &belay.Value{Sha: "stood", Size: 1}
		}
		return a
	}
	return yes(c.Question)
}

func (h *history) looked(q effect.AskLook) effect.Answer {
	if q.Stood != nil { // the user's checkout, at the end
		return effect.AnswerLook{OK: true, UserCheckout: &effect.UserCheckout{Dir: q.Dir, Files: q.Files}}
	}
	if h.in(4) {
		return effect.AnswerLook{Error: "it could not be looked at"}
	}
	var e belay.Evidence
	if q.Base != nil {
		e.Before, e.After = *q.Base, *q.Base
	}
	if q.Base == nil && q.Guard == nil {
		e.After.Tree = "tree"
	}
	if q.Guard != nil && h.in(4) {
		e.Tampered = []belay.FileChange{{Path: "a_test.go", Change: belay.FileModified}}
	}
	if h.in(2) {
		e.After.Tree += "'"
	}
	return effect.AnswerLook{OK: true, Seen: &e}
}

// permit keeps the purse that all sessions share, then asks the service.
func (h *history) permit(k belay.Key, q effect.AskAgent) effect.Answer {
	limits := h.tree.Started().Limits
	if !h.granted[k] && len(h.granted) >= limits.Starts() {
		return effect.AnswerAgent{Error: "the starts are used"}
	}
	switch {
	case h.in(8):
		return effect.AnswerAgent{Error: "its service is down", Until: h.now.Add(time.Duration(h.IntN(300)) * time.Second)}
	case q.Retry && h.in(8):
		return effect.AnswerAgent{Error: "no retries left", Spent: true}
	case h.in(30):
		return effect.AnswerAgent{Error: "what is known of it could not be read"}
	}
	h.granted[k] = true
	return effect.AnswerAgent{OK: true}
}

func (h *history) well() bool { return h.IntN(100) < h.luck }

// shellSeen is the end of a script.
func (h *history) shellSeen(j effect.Job) effect.Observation {
	v := belay.Text("out")
	o := effect.Observation{Began: true}
	if j.Output {
		o.Output = &v
	}
	if h.well() {
		return o
	}
	o.Exit = pick(h.chance, 1, 1, 2, 7, 28, 75, 78, 127, 137)
	o.Tail = pick(h.chance, "", "it is broken", "--- FAIL: TestA\n--- FAIL: TestB\nFAIL", "--- FAIL: TestA\nFAIL", "curl: (7) Failed to connect",
		"No space left on device", "could not resolve host: example.org", "fatal: Unable to create '/d/.git/index.lock': File exists.",
		"CONFLICT (content): Merge conflict in a", "permission denied", "error: cannot find module x", "Killed")
	switch h.IntN(12) {
	case 0:
		o.Signal, o.Exit = 9, 137
	case 1:
		o.Signal, o.Exit, o.KilledBy = 15, 143, pick(h.chance, fault.KilledDeadline, fault.KilledGrace)
	case 2:
		o = effect.Observation{Fault: pick(h.chance, fault.Disk, fault.Spawn, fault.Dir, fault.Program), Detail: "no"}
	}
	return o
}

// agentSeen is the end of an agent.
func (h *history) agentSeen(j effect.Job) effect.Observation {
	state := func() belay.TreeState { return belay.TreeState{Tree: fmt.Sprint("tree", h.IntN(4)), Head: "h"} }
	r := &effect.AgentReport{Name: j.Agent.Name, Result: belay.AgentResult{Session: pick(h.chance, "", "S1", "S2"), Retries: h.IntN(2)}}
	r.Evidence.Before = state()
	r.Evidence.After = r.Evidence.Before
	if h.in(2) {
		r.Evidence.After, r.Evidence.Files, r.Evidence.Added = state(), 1, 5
		r.Evidence.Changed = []belay.FileChange{{Path: "f", Change: belay.FileModified, Added: 5}}
		r.Result.Tools = []belay.ToolCall{{Name: "edit", Path: "f"}}
		r.Result.ToolCount = 1
	}
	if r.Evidence.After == r.Evidence.Before {
		r.Evidence.Files, r.Evidence.Added, r.Evidence.Changed = 0, 0, nil
	}
	o := effect.Observation{Began: true, Agent: r}
	if h.well() {
		h.agentWell(j, &o)
		return o
	}
	h.agentBad(&o)
	return o
}

// agentWell is an agent that came to its end, with an answer or with something
// that only looks like one.
func (h *history) agentWell(j effect.Job, o *effect.Observation) {
	a := &o.Agent.Result
	text := pick(h.chance, "I fixed the crash in main.go:3 and the tests pass.", "I fixed the crash in main.go:3.", "", "I don't have access to the codebase.")
	a.Final, a.Stop, a.Excerpt, a.TextSize = true, belay.StopDone, text, int64(len(text))
	a.GaveUp = h.in(8)
	v := belay.Text(text)
	if j.Role == belay.RolePlan {
		v = belay.Value{JSON: []byte(pick(h.chance, `{"parts":[{"title":"a","task":"first"},{"title":"b","task":"second","needs":[1]}]}`,
			`[{"title":"a","task":"first","files":["a"]},{"title":"b","task":"second","files":["b"]}]`, `{"parts":[]}`, `"no"`, `{"parts":[{"task":"do it"},{"task":"x"}]}`))}
	}
	o.Output = &v
	o.Agent.Resumes = h.IntN(2)
}

// agentBad is an agent that did not come to a good end.
func (h *history) agentBad(o *effect.Observation) {
	a := &o.Agent.Result
	a.Exit, o.Exit = 1, 1
	a.Error, a.Class = true, pick(h.chance, classes...)
	a.Cause = pick(h.chance, "", "it does not work", "security problem", "permission denied: cannot write", "overloaded")
	a.Status = pick(h.chance, 0, 404, 429, 529)
	if h.in(3) {
		a.RetryAfter = time.Duration(h.IntN(600)) * time.Second
	}
	if h.in(4) {
		a.Reset = h.now.Add(time.Duration(h.IntN(48)) * time.Hour)
	}
	if h.in(4) {
		a.Denied = []string{"shell"}
	}
	switch h.IntN(11) {
	case 10: // a wrong set-up, told by nothing but the code
		*a, o.Exit = belay.AgentResult{Exit: 78}, 78
	case 0:
		o.Agent.Ended = pick(h.chance, effect.EndedFirst, effect.EndedSilence, effect.EndedTool, effect.EndedBabble, effect.EndedDeadline, effect.EndedRetries)
	case 1:
		o.Agent, o.Signal, o.Exit = nil, 9, 137
	case 2:
		o.Agent, o.Fault, o.Began = nil, pick(h.chance, fault.Agent, fault.Disk, fault.Spawn), false
	case 3:
		*a = belay.AgentResult{Stop: pick(h.chance, belay.StopTruncated, belay.StopLimit, belay.StopRefused), Final: true}
		o.Exit = 0
	case 4: // it left without a word
		*a, o.Exit = belay.AgentResult{}, 0
	case 5:
		o.Agent, o.KilledBy, o.Signal = nil, pick(h.chance, fault.KilledDeadline, fault.KilledGrace), 15
	}
}
