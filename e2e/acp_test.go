//go:build e2e && linux

package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/belaytest/model"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/exit"
)

// TestACPAgent drives a real CLI through the Agent Client Protocol instead of
// its own adapter: Gemini, which asks for permission and writes files itself.
// promise: H3, K5
func TestACPAgent(t *testing.T) {
	t.Parallel()
	bin := acpOnly(t)
	for _, r := range acpTable() {
		t.Run(string(r.behaviour), func(t *testing.T) {
			t.Parallel()
			belayRun(t, bin, agent.ACP, r)
		})
	}
}

// acpOnly builds belay where the CLI that speaks the protocol is to be had.
func acpOnly(t *testing.T) string {
	t.Helper()
	if os.Getenv("AGENTS") != "all" {
		t.Skip("the CLI that speaks the protocol needs Node: make e2e AGENTS=all")
	}
	clis(t) // it is one of them
	return build(t)
}

// TestACPPermission shows that the one that writes had asked before: it is let,
// or it is not and its tool is denied.
// promise: H3
func TestACPPermission(t *testing.T) {
	t.Parallel()
	bin := acpOnly(t)
	for access, write := range map[agent.Access]bool{agent.AccessEdit: true, agent.AccessRead: false} {
		t.Run(string(access), func(t *testing.T) {
			t.Parallel()
			d := drive(t, bin, agent.ACP, row{expect: belay.ExpectChange, access: access}, []model.Behaviour{model.Tool}, patience)
			if asked := bytes.Contains(d.out, []byte(`session/request_permission`)); !asked {
				t.Error("it did not ask")
			}
			if denied := bytes.Contains(d.out, []byte(`"denied":["edit"]`)); denied == write {
				t.Errorf("its tool was denied: %v", denied)
			}
			if used := bytes.Contains(d.out, []byte(`"usage":{"input":2000,"output":100}`)); write && !used {
				t.Error("its tokens were not counted")
			}
			d.check(t, write)
		})
	}
}

// TestACPSession shows that its session goes on after a silence, and that a new
// one is told everything when it does not know the old one any more. Gemini
// writes over the file of a session that it loads within the minute in which it
// began, and then says that there is none.
// promise: F2
func TestACPSession(t *testing.T) {
	t.Parallel()
	bin := acpOnly(t)
	for name, c := range map[string]struct {
		steps   []model.Behaviour
		silence string
		least   int // sessions
		most    int
	}{
		"loaded":    {[]model.Behaviour{model.Tool, model.Hang, model.Text}, "56s", 1, 1}, // it gives up by itself after 60 s, and takes 5 to be ended
		"forgotten": {[]model.Behaviour{model.Hang, model.Tool}, "8s", 1, 2},              // perhaps a new minute has begun
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := row{expect: belay.ExpectChange, access: agent.AccessEdit}
			d := drive(t, bin, agent.ACP, r, c.steps, 2*patience, "BELAY_AGENTS_SILENCE="+c.silence)
			if d.exit != exit.OK || !bytes.Contains(d.out, []byte(`"resumes":1`)) {
				t.Errorf("belay exit %d", d.exit)
			}
			if n := sessions(t, d.out); n < c.least || n > c.most {
				t.Errorf("%d sessions, want %d to %d", n, c.least, c.most)
			}
			if !bytes.Contains(d.out, []byte(`"output":{"json":"Done."}`)) {
				t.Error("its answer is not the one that the model gave last")
			}
			kept, _ := d.model.Requests()
			last := kept[len(kept)-1].Body
			for _, text := range []string{prompt, "You were interrupted"} {
				if !bytes.Contains(last, []byte(text)) {
					t.Errorf("the model was not told %q", text)
				}
			}
			d.check(t, true)
		})
	}
}

// sessions counts the sessions that the records of a run name.
func sessions(t *testing.T, records []byte) int {
	t.Helper()
	seen := map[string]bool{}
	for line := range bytes.Lines(records) {
		var r struct{ Kind, What, Text string }
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		if r.Kind == "attempt.noted" && r.What == string(effect.NoteSession) {
			seen[r.Text] = true
		}
	}
	return len(seen)
}

// acpTable is what becomes of Gemini's behaviour when it speaks the protocol.
func acpTable() []row {
	one := func(c cell) map[agent.Kind]cell { return map[agent.Kind]cell{agent.ACP: c} }
	answer, change := belay.ExpectAnswer, belay.ExpectChange
	edit, read := agent.AccessEdit, agent.AccessRead
	return []row{
		{model.Text, answer, edit, false, one(said)},
		{model.Tool, change, edit, true, one(said)},
		{model.Denied, change, read, false, one(denied)},
		{model.HTTP401, answer, edit, false, one(auth)},
		{model.HTTP429, answer, edit, false, one(rate)},
		{model.HTTP500, answer, edit, false, one(transient)},
		{model.HTTP529, answer, edit, false, one(transient)},
		{model.HTTP404, answer, edit, false, one(failed(belay.ClassInvalidInput))},
		{model.HTTP429Long, answer, edit, false, one(rate)},
		{model.Quota, answer, edit, false, one(quota)},
		{model.Ctx400, answer, edit, false, one(failed(belay.ClassTokenLimit))},
		// It ends its turn as if all were well; only what is missing can show it.
		{model.Refusal, answer, edit, false, one(hollow)},
		{model.MaxTok, answer, edit, false, one(cell{})},
		{model.Empty, answer, edit, false, one(hollow)},
		{model.Drop, answer, edit, false, one(transient)},
		{model.Hang, answer, edit, false, one(endless)},
		{model.HangMid, answer, edit, false, one(endless)},
		{model.Forever, answer, edit, false, one(endless)},
		{model.ToolThen500, change, edit, true, one(transient)},
		{model.Background, answer, edit, false, one(said)},
	}
}
