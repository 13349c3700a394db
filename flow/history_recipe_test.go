package flow

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
)

// chance draws everything that is random about one history.
type chance struct{ *rand.Rand }

// in tells whether one of n came out.
func (c chance) in(n int) bool { return c.IntN(n) == 0 }

func pick[T any](c chance, list ...T) T { return list[c.IntN(len(list))] }

// drawnRecipe is a random recipe of up to five steps; each subs is a recipe that
// it may call.
func (c chance) drawnRecipe(name string, subs []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "name: %s\n", name)
	if c.in(4) {
		fmt.Fprintf(&b, "policy: %s\n", pick(c, "belay", "classic"))
	}
	if c.in(4) {
		fmt.Fprintf(&b, "recovery: %s\n", pick(c, "on", "off", "classic"))
	}
	if c.in(6) {
		b.WriteString("hooks: {post_step: echo, on_error: echo}\n")
	}
	b.WriteString("context: {list: [1, 2]}\nsteps:\n")
	n := 1 + c.IntN(4)
	for k := range n {
		c.drawnStep(&b, k, subs)
	}
	if strings.Contains(b.String(), "step: aside") {
		fmt.Fprintf(&b, "- {id: aside, %s}\n", pick(c, "command: x", "agent: one, prompt: x"))
	}
	return b.String()
}

// drawnStep writes one random step.
func (c chance) drawnStep(b *strings.Builder, k int, subs []string) {
	kind := pick(c, "bash", "bash", "agent", "agent", "agent", "recipe", "recipe")
	if kind == "recipe" && len(subs) == 0 {
		kind = "agent"
	}
	fmt.Fprintf(b, "- id: s%d\n", k)
	add := func(one int, format string, args ...any) {
		if c.in(one) {
			fmt.Fprintf(b, "  "+format+"\n", args...)
		}
	}
	switch kind {
	case "bash":
		add(1, "command: x")
		add(5, "once: true")
	case "agent":
		add(1, "agent: %s", pick(c, "one", "two"))
		add(1, "prompt: do it")
		add(3, "role: %s", pick(c, "coder", "tester", "custom:mine"))
		add(2, "expect: %s", pick(c, "none", "answer", "change", "tests", "pr"))
		add(8, "once: true")
	case "recipe":
		add(1, "recipe: %s", pick(c, subs...))
		add(3, "recovery: %s", pick(c, "on", "off", "classic"))
		add(4, "expect: %s", pick(c, "answer", "change"))
	}
	add(4, "verify: y")
	add(3, "output: o%d", k)
	add(4, "optional: true")
	add(4, "retry: {max_attempts: %d, backoff: %ds}", 2+c.IntN(2), c.IntN(3))
	add(6, "on_failure: escalate")
	add(5, "policy: %s", pick(c, "belay", "classic"))
	add(3, "timeout: 60")
	if len(subs) > 0 && c.in(6) {
		add(1, "fallback: {recipe: %s}", pick(c, subs...))
	} else if c.in(8) && !strings.Contains(b.String(), "step: aside") {
		add(1, "fallback: {step: aside}")
	}
	add(6, "foreach: list")
	if k > 0 && c.in(2) {
		add(1, "needs: [%s]", pick(c, "", fmt.Sprintf("s%d", c.IntN(k))))
	}
}

// drawnStart is the first record of a random run.
func (c chance) drawnStart() event.RunStarted {
	lim := belay.DefaultLimits()
	lim.MaxParallel = pick(c, 1, 2, 8)
	lim.MaxReplans = pick(c, 0, 1, 3, 5)
	lim.MaxAgents = pick(c, 0, 0, 1, 3, 8)
	lim.MaxLost = pick(c, 1, 3)
	e := event.RunStarted{
		Schema: event.Schema, Dir: "/d", Limits: lim, Agent: "one", Session: &belay.Session{Tree: "r"},
		Agents: !c.in(4), Policy: pick(c, "", "", "belay", "classic"), MaxRetries: c.IntN(3), Recovery: pick(c, "", "on", "off", "classic"),
		Staff: pick(c, nil, []string{"two"}, []string{"two", "three"}, []string{"one", "two", "three"}),
	}
	if c.in(2) {
		e.Roles = map[string]event.Profile{
			"coder": {Access: "edit"}, "reviewer": {Access: "full", Agent: "three"}, "architect": {Access: "full", Tools: []string{"shell"}},
		}
	}
	return e
}
