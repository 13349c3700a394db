package flow

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
)

const question = "name: n\ncontext: {v: '1.2'}\nsteps:\n- {id: a, needs: [], approve: {prompt: 'Ship {{v}}?'%s}, output: x}\n" +
	"- {id: b, needs: [], command: z}\n- {id: c, needs: [a], command: 'echo {{x}}'}\n"

// reply answers an item, and gives why that was refused.
func (w *world) reply(r event.Request) string {
	w.t.Helper()
	r.ID, r.Run, r.Ask = fmt.Sprint("letter ", len(w.recs)), "r", event.RequestAnswer
	if r.By == "" {
		r.By = "ada"
	}
	w.turn(Fact{"r", event.RequestReceived{Request: r}})
	for _, rec := range w.out.Records {
		if e, refused := rec.Event.(event.RequestRefused); refused {
			return e.Why
		}
	}
	return ""
}

// A question takes no slot, is answered once, and its choice is a value.
// promise: X
func TestAnApprovalIsAnsweredOnce(t *testing.T) {
	w := begun(t, fmt.Sprintf(question, ""), func(e *event.RunStarted) { e.Limits.MaxParallel = 1 })
	w.wantStarts("r:b.1")
	if e := w.item(); e.ID != "a.1" || e.Ask != "Ship 1.2?" || e.About != event.ItemApproval || !e.Until.IsZero() {
		t.Fatalf("asked: %+v", e)
	}
	w.exit("r:b.1", 0)
	w.wantStatus(belay.Held, exit.Held)
	for _, bad := range []struct {
		r    event.Request
		want string
	}{
		{event.Request{Item: "a.1", Choice: "done"}, `unknown answer "done": item a.1 is answered with approve or reject`},
		{event.Request{Item: "a.2", Choice: "approve"}, "there is no item a.2 in this run"},
		{event.Request{Step: "b", Choice: "approve"}, "step b does not wait for an answer"},
	} {
		if got := w.reply(bad.r); got != bad.want {
			t.Errorf("%+v: %q, want %q", bad.r, got, bad.want)
		}
	}
	w.reload(nil)
	if why := w.reply(event.Request{Item: "a", Choice: "approve"}); why != "" {
		t.Fatalf("refused: %s", why)
	}
	w.wantStarts("r:c.1")
	if got := string(w.tree.Run("r").Vars()["x"].JSON); got != `"approve"` {
		t.Errorf("x is %s", got)
	}
	for _, second := range []event.Request{{Item: "a.1", Choice: "reject"}, {Item: "a", Choice: "approve"}, {Step: "a", Choice: "reject"}} {
		if got := w.reply(second); !strings.HasPrefix(got, "item a.1 is settled already: ada answered it with approve at 2") {
			t.Errorf("%+v: %q", second, got)
		}
	}
	w.exit("r:c.1", 0)
	w.wantStatus(belay.Achieved, 0)
}

// A rejected step has failed, for the reason that was given; a person who opens the
// run again is asked again, under another name.
func TestARejectionIsAFailure(t *testing.T) {
	w := begin(t, "name: n\nsteps:\n- {id: a, approve: {prompt: ok, who: [ada, bob]}}\n- {id: b, command: z}\n")
	if got := w.reply(event.Request{Item: "a", Choice: "reject", By: "eve"}); got != "item a.1 is for ada or bob to answer, not for eve" {
		t.Errorf("eve: %q", got)
	}
	if got := w.reply(event.Request{Item: "a", Choice: "reject", By: "bob", Why: "no"}); got != "" {
		t.Errorf("bob: %q", got)
	}
	w.wantStatus(belay.Failed, exit.Failed)
	if f := w.tree.Run("r").Result().Failure; f == nil || f.Cause != "rejected by bob: no" || f.Class != belay.ClassCancelled {
		t.Errorf("failure: %+v", f)
	}
	w.turn(w.tree.Reopen("ada", "better now")...)
	if e := w.item(); e.ID != "a.2" {
		t.Errorf("asked again: %+v", e)
	}
	if got := w.reply(event.Request{Item: "a.1", Choice: "approve"}); !strings.Contains(got, "a.1 is settled already: bob answered it with reject") {
		t.Errorf("an old item: %q", got)
	}
	if got := w.reply(event.Request{Item: "a.2", Choice: "approve"}); got != "" {
		t.Errorf("ada: %q", got)
	}
	w.wantStarts("r:b.1")
}

// What nobody answers in time is held, rejected or counts as a choice, never
// approved; also when nobody drove the run at that moment, and an answer that
// comes later is too late.
func TestATimeoutIsATimeout(t *testing.T) {
	cases := []struct {
		then   string
		status belay.Status
		cause  string
	}{
		{"", belay.Held, ""},
		{"hold", belay.Held, ""},
		{"reject", belay.Failed, "nobody answered within 1m0s: rejected by its timeout"},
		{"later", belay.Running, ""},
	}
	for _, c := range cases {
		for _, driven := range []bool{true, false} {
			more := ", timeout: 1m, choices: [approve, later]"
			if c.then != "" {
				more += ", on_timeout: " + c.then
			}
			w := begin(t, fmt.Sprintf(question, more))
			w.exit("r:b.1", 0)
			if w.out.Status != belay.Running || !w.out.Until.Equal(w.now.Add(time.Minute)) && w.out.Until.IsZero() {
				t.Fatalf("%q: %s until %s", c.then, w.out.Status, w.out.Until)
			}
			w.now = w.now.Add(2 * time.Minute)
			if driven {
				w.turn()
			} else {
				w.reload(nil)
			}
			if w.tree.Status() != c.status {
				t.Errorf("%q: %s, want %s", c.then, w.tree.Status(), c.status)
			}
			late := w.reply(event.Request{Item: "a.1", Choice: "approve"})
			switch c.status {
			case belay.Held:
				if late != "" {
					t.Errorf("%q: what is held can be answered: %s", c.then, late)
				}
			case belay.Failed:
				if f := w.tree.Run("r").Result().Failure; f.Cause != c.cause || f.Class != belay.ClassTimeout {
					t.Errorf("%q: %+v", c.then, f)
				}
			default:
				if late != "item a.1 is settled already: it timed out after 1m0s, which counts as later" {
					t.Errorf("%q: a late answer: %q", c.then, late)
				}
				if got := string(w.tree.Run("r").Vars()["x"].JSON); got != `"later"` {
					t.Errorf("x is %s", got)
				}
			}
		}
	}
}

// An answer in a mailbox that is read after the deadline is late, too.
func TestAnAnswerAfterTheDeadline(t *testing.T) {
	w := begin(t, fmt.Sprintf(question, ", timeout: 1m, on_timeout: reject"))
	w.now = w.now.Add(time.Hour)
	if got := w.reply(event.Request{Item: "a.1", Choice: "approve"}); !strings.Contains(got, "timed out after 1m0s") && !strings.Contains(got, "ended") {
		t.Errorf("%q", got)
	}
}

// A question holds no secret, no hidden value and nothing that is too long to be read.
func TestAQuestionThatCannotBeAsked(t *testing.T) {
	w := begin(t, "name: n\nsecrets: [key]\ncontext: {key: ''}\nsteps:\n- {id: a, approve: {prompt: 'Use {{key}}?'}}\n")
	if f := w.tree.Run("r").Result().Failure; f == nil || !strings.Contains(f.Cause, "a question holds no secret, and {{key}} is one") {
		t.Errorf("%+v", f)
	}
	w = begun(t, "name: n\ncontext: {v: ''}\nsteps:\n- {id: a, approve: {prompt: 'Use {{v}}?'}}\n", func(e *event.RunStarted) {
		e.Vars = map[string]belay.Value{"v": belay.Text(strings.Repeat("é", 3*maxQuestion/4))}
	})
	if e := w.item(); len(e.Ask) > maxQuestion+len("…") || !strings.HasSuffix(e.Ask, "é…") {
		t.Errorf("%d bytes", len(e.Ask))
	}
}

// Each item of a list is a question of its own; what was chosen is their list.
func TestApprovalsOfAList(t *testing.T) {
	w := begin(t, "name: n\ncontext: {l: [x, y]}\nsteps:\n- {id: a, foreach: l, approve: {prompt: '{{item}}?', choices: [yes-do, no-dont]}, output: got}\n- {id: b, command: z}\n")
	w.wantStatus(belay.Held, exit.Held)
	for item, choice := range map[string]string{"item-1": "yes-do", "item-2": "no-dont"} {
		w.turn(Fact{"r/a.1", event.RequestReceived{Request: event.Request{ID: item, Run: "r/a.1", By: "ada", Ask: event.RequestAnswer, Item: item, Choice: choice}}})
	}
	if got := string(w.tree.Run("r").Vars()["got"].JSON); got != `["yes-do","no-dont"]` {
		t.Errorf("got %s", got)
	}
}
