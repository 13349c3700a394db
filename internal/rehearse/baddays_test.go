package rehearse

import (
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Injection{
		"fix=hang":      {Step: "fix", Fault: Hang, Times: 1},
		"fix=500:3":     {Step: "fix", Fault: ServerError, Times: 3},
		"fix=crash:*":   {Step: "fix", Fault: Crash, Times: Always},
		"fix=429":       {Step: "fix", Fault: RateLimited, Times: 1, Reset: 20 * time.Second},
		"fix=429:2:90":  {Step: "fix", Fault: RateLimited, Times: 2, Reset: 90 * time.Second},
		"fix=429:*:900": {Step: "fix", Fault: RateLimited, Times: Always, Reset: 15 * time.Minute},
	} {
		got, err := Parse(text)
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
		if again, err := Parse(got.String()); err != nil || again != got {
			t.Errorf("%s is written %s, which is %+v, %v", text, got, again, err)
		}
	}
	for text, want := range map[string]string{
		"fix": "STEP=FAULT", "=hang": "STEP=FAULT", "fix=": "STEP=FAULT", "fix=hng": `did you mean "hang"`,
		"fix=hang:0": "1 to 1000", "fix=hang:x": "1 to 1000", "fix=hang:1:2": "too much",
		"fix=429:1:x": "number of seconds", "fix=429:1:2:3": "too much", "fix=429:1:9999999": "number of seconds",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// Every fault is told apart at an agent, and those that can happen to a shell
// step change its script.
func TestEveryFaultDoesSomething(t *testing.T) {
	t.Parallel()
	seen := map[string]Fault{}
	for _, f := range Faults() {
		text := agentFault(Injection{Fault: f, Reset: time.Second}, "/rest.yaml")
		if other, double := seen[text]; text == "" || double {
			t.Errorf("%s does %q, as %q", f, text, other)
		}
		seen[text] = f
		shell := Target{Step: "x", Type: belay.TypeBash, Timeout: time.Minute, Agents: true}
		if fits := shell.Fits(f) == nil; fits != (shellFault(f) != "") {
			t.Errorf("%s: fits a shell step: %v, does %q", f, fits, shellFault(f))
		}
		if f.works() != strings.Contains(text, "play:") {
			t.Errorf("%s works: %v, and it does %q", f, f.works(), text)
		}
	}
}

func TestStage(t *testing.T) {
	t.Parallel()
	targets := []Target{
		{Step: "build", Type: belay.TypeBash, Timeout: time.Hour, Agents: true}, {Step: "fix", Type: belay.TypeAgent, Agents: true},
		{Step: "all", Type: belay.TypeBash, Each: true}, {Step: "call", Type: belay.TypeRecipe, Agents: true},
	}
	env := map[string]string{"A": "b"}
	job := func(run, path string, role belay.Role, n int, agent bool) effect.Job {
		j := effect.Job{Run: belay.RunID(run), Path: belay.Path(path), Role: role, Attempt: n, Script: "echo x", Env: env, Timeout: time.Hour}
		if agent {
			j.Script, j.Agent = "", &effect.AgentJob{Name: "claude"}
		}
		return j
	}
	for name, c := range map[string]struct {
		fault string
		job   effect.Job
		hit   bool
	}{
		"the first attempt":       {"build=crash", job("r", "build", belay.RoleMain, 1, false), true},
		"not the second":          {"build=crash", job("r", "build", belay.RoleMain, 2, false), false},
		"two":                     {"build=crash:2", job("r", "build", belay.RoleMain, 2, false), true},
		"all":                     {"build=crash:*", job("r", "build", belay.RoleMain, 99, false), true},
		"no other":                {"build=crash:*", job("r", "fix", belay.RoleMain, 1, true), false},
		"no check":                {"build=crash:*", job("r", "build", belay.RoleVerify, 1, false), false},
		"in a recipe":             {"build=crash", job("r/call.1", "build", belay.RoleMain, 1, false), true},
		"an item":                 {"all=crash", job("r/all.1", "item-2", belay.RoleMain, 1, false), true},
		"the item of another":     {"all=crash", job("r/more.1", "item-2", belay.RoleMain, 1, false), false},
		"a liar":                  {"build=lying_recovery", job("r", "build", belay.RoleRepair, 7, true), true},
		"what the liar mends":     {"build=lying_recovery", job("r", "build", belay.RoleMain, 1, false), true},
		"a repair that is honest": {"build=crash", job("r", "build", belay.RoleRepair, 1, true), false},
		"in what was called":      {"call=lying_recovery", job("r/call.1", "inner", belay.RoleMain, 3, false), true},
		"in the next call":        {"call=lying_recovery", job("r/call.2", "inner", belay.RoleMain, 1, false), true},
		"not mended by a lie":     {"build=lying_recovery", job("r", "build", belay.RoleMain, 2, false), true},
		"an agent tries again":    {"fix=lying_recovery", job("r", "fix", belay.RoleMain, 2, true), false},
		"who recovers the call":   {"call=lying_recovery", job("r", "call", belay.RoleRecovery, 1, true), true},
	} {
		in, err := Parse(c.fault)
		if err != nil {
			t.Fatal(err)
		}
		got := Stage{Folder: "/f", Speed: 1000, Faults: []Injection{in}, Targets: targets}.Set(c.job)
		changed := got.Script != c.job.Script || got.Agent != nil && got.Agent.Name != "claude"
		if changed != c.hit {
			t.Errorf("%s: changed %v, want %v", name, changed, c.hit)
		}
	}
	if len(env) != 1 {
		t.Errorf("the step's own variables were changed: %v", env)
	}
}

// Only a step that hangs on purpose has less time: what others do is real.
func TestStageTime(t *testing.T) {
	t.Parallel()
	targets := []Target{{Step: "build", Type: belay.TypeBash, Timeout: time.Hour}}
	s := Stage{Speed: 1000, Targets: targets, Faults: []Injection{{Step: "build", Fault: Hang, Times: 1}}}
	j := effect.Job{Path: "build", Role: belay.RoleMain, Attempt: 1, Timeout: time.Hour}
	if got := s.Set(j).Timeout; got != 3600*time.Millisecond {
		t.Errorf("a hang has %s", got)
	}
	j.Timeout = time.Minute
	if got := s.Set(j).Timeout; got != minShell {
		t.Errorf("a hang of a minute has %s", got)
	}
	j.Attempt = 2
	if got := s.Set(j).Timeout; got != time.Minute {
		t.Errorf("a real command has %s", got)
	}
	s.Faults = []Injection{{Step: "build", Fault: Slow, Times: Always}}
	if got := s.Set(j).Timeout; got != time.Minute {
		t.Errorf("a slow command has %s", got)
	}
	j.Agent = &effect.AgentJob{}
	if got := s.Set(j).Timeout; got != minAgent {
		t.Errorf("an agent has %s", got)
	}
}
