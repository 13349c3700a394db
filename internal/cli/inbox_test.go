package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/watch"
)

const askedStep = "name: one\nsteps:\n  - {id: a, command: 'true', on_failure: escalate}\n"

func inboxOf(t *testing.T, state string) []letter {
	t.Helper()
	out, talk, code := belayOn(t, state, "inbox", "--json")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, talk)
	}
	var list []letter
	must(t, json.Unmarshal([]byte(out), &list))
	return list
}

// noted puts a line of a run into the index, with a folder that has no journal:
// whoever opens it finds out.
func noted(t *testing.T, state string, sums ...journal.Summary) {
	t.Helper()
	st, err := journal.OpenState(state)
	must(t, err)
	for _, sum := range sums {
		must(t, os.MkdirAll(filepath.Join(state, "runs", string(sum.ID)), 0o700))
		must(t, st.NoteRun(sum))
	}
	must(t, st.Close())
}

// Among hundreds of runs that want nothing, only the journals of those that may
// wait are opened; one that cannot be read is a letter, not an error.
//
// promise: X
func TestInboxOpensWhatWaits(t *testing.T) {
	t.Parallel()
	state := written(t, askedStep)
	ended := []belay.Status{belay.Failed, belay.Partial, belay.Aborted, belay.Stopped, belay.Achieved} // and the last one settles what was before
	var sums []journal.Summary
	for i := range 300 {
		sums = append(sums, journal.Summary{ID: belay.RunID(fmt.Sprintf("e%d", i)), Name: "old", Status: ended[i%len(ended)], Started: night, Updated: night})
	}
	noted(t, state, append(sums,
		journal.Summary{ID: "hollow1", Name: "young", Status: belay.Hollow, Started: night, Ended: night, Reason: "step fix: nothing changed"},
		journal.Summary{ID: "gone1", Name: "old", Status: belay.Held, Started: night, Updated: night})...)
	began := time.Now()
	list := inboxOf(t, state)
	t.Logf("%d runs in %s", len(sums)+3, time.Since(began))
	got := map[belay.RunID]letterKind{}
	for _, l := range list {
		got[l.Run] = l.Kind
	}
	if len(list) != 3 || got["r1"] != letterCrashed || got["hollow1"] != letterHollow || got["gone1"] != letterDamaged {
		t.Errorf("%+v", list)
	}
	out, _, _ := belayOn(t, state, "inbox")
	for _, want := range []string{"belay resume r1", "belay why hollow1", "nothing changed", "belay audit gone1"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

// A held run whose driver died before it could say so has its question listed;
// once it is answered, what is left is to go on.
func TestInboxOfAQuestion(t *testing.T) {
	t.Parallel()
	asked := []event.Event{
		event.AttemptStarted{Key: "r1:a.1", Path: "a", Role: belay.RoleMain, Attempt: 1},
		event.AttemptEnded{Key: "r1:a.1", Observation: effect.Observation{Began: true, Exit: 1}},
		event.AttemptJudged{Key: "r1:a.1", Verdict: effect.Verdict{Failure: &belay.Failure{Kind: belay.BashFailure, Cause: "exit 1"}}},
		event.RecoveryChosen{Path: "a", Plan: belay.Plan{Act: belay.ActHold, Rule: "on_failure"}},
		event.ItemOpened{ID: "a.1", Path: "a", Ask: "is it there?", Choices: choices()},
		event.RunHeld{Items: []string{"a.1"}},
	}
	state := written(t, askedStep, asked...)
	list := inboxOf(t, state)
	if len(list) != 1 || list[0].Kind != letterQuestion || list[0].Question != "is it there?" ||
		list[0].Command != "belay answer r1 a done|again|fail|skip --why TEXT" || list[0].Then != "belay resume r1" || list[0].Since.IsZero() {
		t.Errorf("%+v", list)
	}
	state = written(t, askedStep, append(asked, event.ItemAnswered{ID: "a.1", Path: "a", By: "ada", Choice: event.ChoiceAgain, Why: "w"})...)
	st, err := journal.OpenState(state)
	must(t, err)
	must(t, st.NoteRun(journal.Summary{ID: "r1", Name: "one", Status: belay.Held, Started: night}))
	must(t, st.Close())
	if list := inboxOf(t, state); len(list) != 1 || list[0].Kind != letterDecided || list[0].Command != "belay resume r1" {
		t.Errorf("%+v", list)
	}
}

// A run that is held and asks nothing that has an answer is listed, with what to do.
func TestInboxOfAHeldRun(t *testing.T) {
	t.Parallel()
	const why = "host w1 has not answered for 3m0s"
	state := written(t, askedStep, event.RunHeld{Why: why})
	st, err := journal.OpenState(state)
	must(t, err)
	must(t, st.NoteRun(journal.Summary{ID: "r1", Name: "one", Status: belay.Held, Started: night}))
	must(t, st.Close())
	if list := inboxOf(t, state); len(list) != 1 || list[0].Kind != letterHeld || list[0].Question != why || list[0].Command != "belay resume r1" {
		t.Errorf("%+v", list)
	}
}

// Each way in which a run can stand is a letter or none, by the index alone.
//
// promise: X
func TestLetterOfEachStatus(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	must(t, os.Chmod(state, 0o700))
	want := map[belay.Status]string{
		belay.Achieved: "", belay.Aborted: "",
		belay.Failed:      "failed belay why %s / belay clear %s inbox --why TEXT",
		belay.NotAchieved: "failed belay why %s / belay clear %s inbox --why TEXT",
		belay.Partial:     "partial belay why %s / belay clear %s inbox --why TEXT",
		belay.Hollow:      "hollow belay why %s / belay clear %s inbox --why TEXT",
		belay.Stalemate:   "stalemate belay why %s / belay clear %s inbox --why TEXT",
		belay.Stopped:     "stopped belay why %s / belay clear %s inbox --why TEXT",
		belay.Paused:      "paused belay why %s / ",
	}
	for status := range want {
		noted(t, state, journal.Summary{ID: belay.RunID(strings.ToLower(string(status))), Name: string(status), Status: status, Started: night, Updated: night})
	}
	got := map[string]string{}
	for _, l := range inboxOf(t, state) {
		got[l.Recipe] = string(l.Kind) + " " + l.Command + " / " + l.Clear
		if l.Kind.asks() {
			t.Errorf("%s would end --wait", l.Kind)
		}
	}
	for status, text := range want {
		if text = strings.ReplaceAll(text, "%s", strings.ToLower(string(status))); got[string(status)] != text {
			t.Errorf("%s: %q, want %q", status, got[string(status)], text)
		}
	}
}

// What the watch refuses is no mere crash: it says why, and what to type.
func TestARefusedResumeIsALetter(t *testing.T) {
	t.Parallel()
	a := &app{}
	crashed := letter{Kind: letterCrashed, Run: "r1", Root: "r1", Command: "belay resume r1"}
	for event, want := range map[watch.Event]string{
		watch.RestartCap: "refused belay clear r1 restarts --why TEXT belay resume r1",
		watch.Stalemate:  "refused belay why r1 ",
		watch.NeedsYou:   "refused belay why r1 ",
		watch.Stale:      "crashed belay resume r1 ",
	} {
		l := a.watched(crashed, journal.Summary{ID: "r1"}, watch.Memory{Event: event, Reason: "so"})
		if got := string(l.Kind) + " " + l.Command + " " + l.Then; got != want {
			t.Errorf("%s: %q, want %q", event, got, want)
		}
	}
}
