//go:build e2e && linux

package e2e

import (
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/belaytest/model"
	"github.com/belay-run/belay/exit"
)

// cell is what one CLI makes of one behaviour of the model, and what Belay
// makes of that.
type cell struct {
	exit  int  // of the CLI
	cut   bool // it does not end by itself
	class belay.Class
	stop  belay.StopReason // "" = does not matter
	text  bool             // there is a final text
	calls int              // at most; 0 = does not matter
	code  int              // of a Belay run with this one step
	kind  belay.FailureKind
	slow  bool // its inner retries take longer than patience
}

// row is one behaviour, for all of them.
type row struct {
	behaviour model.Behaviour
	expect    belay.Expect
	access    agent.Access
	file      bool // the file is there at the end
	cells     map[agent.Kind]cell
}

// bound is how long a run may go on after it first called the model, when it
// is known not to end by itself; patience, when it does. What cannot be turned
// down further ends within its own bound.
const (
	bound    = 3 * time.Second
	patience = 60 * time.Second
	slowest  = 150 * time.Second
)

// The ends that are the same for several cells.
var (
	done      = cell{stop: belay.StopDone, text: true}
	said      = cell{text: true} // codex and gemini do not say why they stop
	auth      = infra(belay.ClassAuth)
	rate      = infra(belay.ClassRateLimit)
	quota     = infra(belay.ClassQuota)
	transient = infra(belay.ClassTransient)
	endless   = cell{cut: true, class: belay.ClassTimeout, code: exit.Failed, kind: belay.AgentTimeout}
	denied    = cell{class: belay.ClassPermission, code: exit.Hollow, kind: belay.HollowSuccess}
	hollow    = cell{class: belay.ClassHollow, code: exit.Hollow, kind: belay.HollowSuccess}
)

// infra is a failure that no other wording of the task would mend.
func infra(class belay.Class) cell {
	return cell{exit: 1, class: class, code: exit.Infra, kind: belay.Infrastructure}
}

// failed is a failure of this task with this agent.
func failed(class belay.Class) cell {
	return cell{exit: 1, class: class, code: exit.Failed, kind: belay.BashFailure}
}

func (c cell) exits(n int) cell {
	c.exit = n
	return c
}

func (c cell) stops(s belay.StopReason) cell {
	c.stop = s
	return c
}

func (c cell) says() cell {
	c.text = true
	return c
}

func (c cell) slows() cell {
	c.slow = true
	return c
}

// timeout is how long the CLI may take.
func (c cell) timeout() time.Duration {
	if c.slow {
		return slowest
	}
	return patience
}

func (c cell) within(calls int) cell {
	c.calls = calls
	return c
}

// rows are those of both tables that a CLI has a cell in.
func rows(kind agent.Kind) []row {
	var list []row
	for _, r := range append(table(), further()...) {
		if _, ok := r.cells[kind]; ok {
			list = append(list, r)
		}
	}
	return list
}

// further is the behaviour of those that only AGENTS=all runs, for what matters
// most; each of them takes seconds to start. All calls are counted: what Belay
// turned down stays down.
func further() []row {
	all := func(qwen, opencode, copilot cell) map[agent.Kind]cell {
		return map[agent.Kind]cell{agent.Qwen: qwen, agent.OpenCode: opencode, agent.Copilot: copilot}
	}
	answer, change := belay.ExpectAnswer, belay.ExpectChange
	edit, read := agent.AccessEdit, agent.AccessRead
	return []row{
		{model.Tool, change, edit, true, all(said, done, said)},
		{model.HTTP401, answer, edit, false, all(auth.within(1), auth.within(1), auth.within(3))},
		{model.HTTP404, answer, edit, false, all(failed(belay.ClassInvalidInput).within(1), failed(belay.ClassInvalidInput).within(1), failed(belay.ClassInvalidInput).within(1))},
		{model.HTTP429, answer, edit, false, all(rate.within(7), rate.within(6), rate.within(6))},
		{model.HTTP500, answer, edit, false, all(transient.within(7).slows(), transient.within(6).slows(), transient.within(6))},
		{model.Ctx400, answer, edit, false, all(failed(belay.ClassTokenLimit), failed(belay.ClassTokenLimit), failed(belay.ClassTokenLimit))},
		// qwen and copilot do not tell that an answer was cut.
		{model.MaxTok, answer, edit, false, all(cell{}, failed(belay.ClassTokenLimit).exits(0), cell{})},
		{model.Hang, answer, edit, false, all(endless, endless, endless)},
		// Only copilot offers what it then denies.
		{model.Denied, change, read, false, all(hollow.says(), hollow.says(), denied.says())},
		{model.Background, answer, edit, false, all(said, done, said)},
	}
}

// table is the behaviour of the pinned versions. gemini leaves with the HTTP
// status modulo 256.
func table() []row {
	all := func(claude, codex, gemini cell) map[agent.Kind]cell {
		return map[agent.Kind]cell{agent.Claude: claude, agent.Codex: codex, agent.Gemini: gemini}
	}
	answer, change := belay.ExpectAnswer, belay.ExpectChange
	edit, read := agent.AccessEdit, agent.AccessRead
	return []row{
		{model.Text, answer, edit, false, all(done, said, said)},
		{model.Tool, change, edit, true, all(done, said, said)},
		{model.HTTP401, answer, edit, false, all(auth, auth, auth.exits(145))},
		{model.HTTP403, answer, edit, false, all(auth, auth, auth.exits(147))},
		{model.HTTP404, answer, edit, false, all(failed(belay.ClassInvalidInput), failed(belay.ClassInvalidInput), failed(belay.ClassInvalidInput))},
		{model.HTTP429, answer, edit, false, all(rate, rate, rate.exits(173))},
		{model.HTTP429Long, answer, edit, false, all(rate.within(1), rate, rate.exits(173))},
		{model.Quota, answer, edit, false, all(quota.within(1), quota.within(1), quota.exits(173))},
		{model.HTTP500, answer, edit, false, all(transient, transient, transient.exits(244))},
		{model.HTTP529, answer, edit, false, all(transient, transient, transient.exits(247))},
		{model.Ctx400, answer, edit, false, all(failed(belay.ClassTokenLimit), failed(belay.ClassTokenLimit), failed(belay.ClassTokenLimit).exits(144))},
		// codex does not tell a refusal: its turn completes without a word.
		{model.Refusal, answer, edit, false, all(failed(belay.ClassRefusal).stops(belay.StopRefused), hollow, failed(belay.ClassRefusal).exits(0))},
		// gemini does not tell that an answer was cut: only what is missing can show it.
		{model.MaxTok, answer, edit, false, all(failed(belay.ClassTokenLimit), failed(belay.ClassTokenLimit), cell{})},
		{model.Empty, answer, edit, false, all(hollow, hollow, transient.exits(0))},
		{model.Drop, answer, edit, false, all(transient, transient, transient)},
		{model.Hang, answer, edit, false, all(endless, endless, endless)},
		{model.HangMid, answer, edit, false, all(endless, endless, endless)},
		{model.Forever, answer, edit, false, all(endless, endless, endless)},
		{model.ToolThen500, change, edit, true, all(transient, transient, transient.exits(244))},
		// Only claude tells that a tool was denied.
		{model.Denied, change, read, false, all(denied.says(), hollow.says(), hollow.says())},
		{model.Background, answer, edit, false, all(done, said, said)},
	}
}
