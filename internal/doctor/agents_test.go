package doctor

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/effect"
)

func TestAgents(t *testing.T) {
	r := newParallelRig(t)
	r.program("claude", "echo '2.1.325 (Claude Code)'")
	r.program("codex", "echo codex-cli 0.999.1")
	r.program("gemini", "echo broken >&2; exit 7")
	r.file(".codex/auth.json", "{}")
	list := Examine(t.Context(), r.p)
	f := want(t, list, "agent.claude", LevelOK, "claude 2.1.325")
	if f.Facts["version"] != "2.1.325" || f.Facts["program"] != filepath.Join(r.bin, "claude") {
		t.Errorf("facts %v", f.Facts)
	}
	want(t, list, "agent.claude.login", LevelWarn, "no sign of a login")
	want(t, list, "agent.codex", LevelNote, "0.999.1 ("+filepath.Join(r.bin, "codex")+"): Belay was tried with 0.166")
	want(t, list, "agent.codex.login", LevelOK, ".codex/auth.json")
	want(t, list, "agent.gemini", LevelWarn, "exit status 7: broken")
	want(t, list, "agents", LevelOK, "claude, codex, gemini; steps that name nobody get codex")
	quirk := map[string]int{}
	for _, f := range list {
		quirk[f.Check]++
	}
	if quirk["agent.claude.quirk"] != len(agent.Known(agent.Claude).Quirks) || quirk["agent.codex.quirk"]+quirk["agent.gemini.quirk"] > 0 {
		t.Errorf("quirks: %v", quirk)
	}
	r.setenv("ANTHROPIC_API_KEY=never-shown")
	f = want(t, Examine(t.Context(), r.p), "agent.claude.login", LevelOK, "ANTHROPIC_API_KEY is set")
	if strings.Contains(f.What, "never-shown") {
		t.Error("a key is shown")
	}
}

// Whoever asked for an agent misses it.
func TestOwnAgents(t *testing.T) {
	r := newRig(t)
	tool := r.program("tool", "exit 0")
	t.Chdir(r.bin)
	r.program("near", "exit 0")
	r.p.Default = "qwen"
	r.own(
		agent.Agent{Name: "mine", Kind: agent.Command, Program: []string{tool, "-x"}},
		agent.Agent{Name: "gone", Kind: agent.ACP, Program: []string{"no-such-program"}},
		agent.Agent{Name: "play", Kind: agent.Scripted, Script: "no-such-script"},
		agent.Agent{Name: "near", Kind: agent.Command, Program: []string{"./near"}},
		agent.Agent{Name: "mute", Kind: agent.Scripted},
	)
	list := Examine(t.Context(), r.p)
	want(t, list, "agent.mine", LevelOK, tool)
	want(t, list, "agent.gone", LevelWarn, "no-such-program is not on the PATH")
	want(t, list, "agent.play", LevelWarn, "its script cannot be read")
	want(t, list, "agent.near", LevelWarn, "another file in each directory")
	want(t, list, "agent.mute", LevelWarn, "no script")
	want(t, list, "agent.qwen", LevelWarn, "qwen is not on the PATH")
	want(t, list, "agent.codex", LevelNote, "codex is not on the PATH")
	want(t, list, "agents", LevelOK, "found: mine, near")
}

func TestCovers(t *testing.T) {
	for _, c := range []struct {
		versions, version string
		want              bool
	}{
		{"2.1.x", "2.1.325", true},
		{"2.1.x", "2.10.0", false},
		{"0.166", "0.166.0", true},
		{"0.166", "0.1660.0", false},
		{"1.0", "1.0", true},
		{"", "9.9.9", true},
	} {
		if got := covers(c.versions, c.version); got != c.want {
			t.Errorf("covers(%q, %q) = %v", c.versions, c.version, got)
		}
	}
}

// The scripted agent stands for agents that answer, fail and hang.
func TestProbe(t *testing.T) {
	r := newParallelRig(t)
	r.p.Probe = true
	r.p.Environ[1] += ":/usr/bin:/bin"
	r.own(
		agent.Agent{Name: "good", Kind: agent.Scripted, Script: r.file("good.yaml", "- tokens: {input: 5, output: 2}\n- answer: Ready.\n")},
		agent.Agent{Name: "odd", Kind: agent.Scripted, Script: r.file("odd.yaml", "- answer: what?\n")},
		agent.Agent{Name: "keyless", Kind: agent.Scripted, Script: r.file("keyless.yaml", "- error: {class: auth, status: 401, text: no key}\n")},
		agent.Agent{Name: "plain", Kind: agent.Command, Program: []string{r.program("plain", "cat >/dev/null; echo ready")}},
	)
	list := Examine(t.Context(), r.p)
	f := want(t, list, "probe.good", LevelOK, `answered "Ready." in `)
	if f.Facts["tokens"] != "7" || f.Facts["took"] == "" {
		t.Errorf("facts %v", f.Facts)
	}
	want(t, list, "probe.odd", LevelNote, `answered "what?"`)
	if f := want(t, list, "probe.keyless", LevelWarn, "class auth: no key"); f.Cure != "log in with it" {
		t.Errorf("cure %q", f.Cure)
	}
	want(t, list, "probe.plain", LevelOK, `answered "ready"`)
	if slices.Contains(names(list), "probe.scripted") {
		t.Error("the scripted agent without a script was asked")
	}
	left, err := filepath.Glob(filepath.Join(r.p.tempDir(), "belay-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
	r.p.Probe = false
	if n := r.p.Probed(); len(n) > 0 {
		t.Errorf("without being asked to it would probe %q", n)
	}
}

func TestProbeOfAHangingAgent(t *testing.T) {
	r := newParallelRig(t)
	r.p.Probe, r.p.Patience = true, 300*time.Millisecond
	r.own(agent.Agent{Name: "stuck", Kind: agent.Scripted, Script: r.file("stuck.yaml", "- say: hm\n- ignore_term: true\n- hang: true\n")})
	began := time.Now()
	want(t, Examine(t.Context(), r.p), "probe.stuck", LevelWarn, "was ended after ")
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("took %s", took)
	}
}

// An agent that cannot be asked is a finding, and no end of the doctor.
func TestProbeWithoutAnAttendant(t *testing.T) {
	r := newParallelRig(t)
	r.p.Probe, r.p.Self = true, []string{r.program("self", "echo no attendant here >&2; exit 4")}
	r.own(agent.Agent{Name: "any", Kind: agent.Command, Program: []string{r.program("any", "exit 0")}})
	want(t, Examine(t.Context(), r.p), "probe.any", LevelWarn, "exit status 4: no attendant here")
}

func TestEveryTroubleHasACure(t *testing.T) {
	e := agent.Agent{Name: "x", Kind: agent.Claude}
	for _, c := range []belay.Class{
		belay.ClassNone, belay.ClassAuth, belay.ClassRateLimit, belay.ClassQuota, belay.ClassTimeout, belay.ClassInfrastructure,
		belay.ClassInvalidInput, belay.ClassPermission, belay.ClassUnknown, belay.Class("of a later version"),
	} {
		r := effect.AgentReport{Result: belay.AgentResult{Class: c, Exit: 1, Cause: "why\nand more", Excerpt: "ready"}}
		f := judgeProbe(Finding{Check: "probe.x", Level: LevelWarn, Facts: map[string]string{}}, e, r, false, time.Second)
		want(t, []Finding{f}, "probe.x", LevelWarn, "ended after 1s with exit code 1")
		if strings.Contains(f.What, "and more") {
			t.Errorf("%q has more than a line", f.What)
		}
	}
	if got := cureOf(e, belay.ClassAuth); got != agent.Known(agent.Claude).Login.Cure {
		t.Errorf("cure %q", got)
	}
}
