package config

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/worktree"
)

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLaterPlacesWin(t *testing.T) {
	t.Parallel()
	text := "logs:\n  max_bytes: 64MiB\nlimits: {max_parallel: 3, output_bytes: 1048576}\nkill:\n  grace: 2s\nsecrets: [TOKEN, KEY]\n" +
		"agent: codex\nagents:\n  silence: 1m\n  mybot: {kind: command, program: [mybot, --go], access: read}\nbudget: {max_usd: 2.50}\n" +
		"recovery: {policy: classic, max_retries: 4, staff: []}\nroles: {Coder: {agent: codex, tools: [Read]}, poet: {model: big, access: read, persona: 'a:b'}}\ntests: make check\n"
	path := write(t, text)
	c, err := Load([]string{"BELAY_CONFIG=" + path, "BELAY_LIMITS_MAX_PARALLEL=5", "BELAY_KEEPER_GRACE=10m", "BELAY_LIMITS_MAX_REPLANS=3"})
	if err != nil {
		t.Fatal(err)
	}
	want := &Config{
		LogBytes:    Setting[int64]{64 << 20, Origin("file " + path + ":2")},
		RecipeBytes: Setting[int64]{16 << 20, OriginDefault},
		OutputBytes: Setting[int64]{1 << 20, Origin("file " + path + ":3")},
		MaxParallel: Setting[int]{5, "environment BELAY_LIMITS_MAX_PARALLEL"},
		KeeperGrace: Setting[time.Duration]{10 * time.Minute, "environment BELAY_KEEPER_GRACE"},
		KillGrace:   Setting[time.Duration]{2 * time.Second, Origin("file " + path + ":5")},
		Include:     Setting[[]string]{worktree.DefaultInclude(), OriginDefault},
		Secrets:     Setting[[]string]{[]string{"TOKEN", "KEY"}, Origin("file " + path + ":6")},
		Tests:       Setting[string]{"make check", Origin("file " + path + ":14")},
		Engine:      Setting[string]{EngineLocal, OriginDefault},
		PlanReview:  Setting[string]{"several", OriginDefault}, ReviewRounds: Setting[int]{5, OriginDefault},
		Issues: defaultIssues(),
		Watch:  defaultWatch(),
		Notify: defaultNotify(),
		Agents: Agents{
			Default:     Setting[string]{"codex", Origin("file " + path + ":7")},
			Silence:     Setting[time.Duration]{time.Minute, Origin("file " + path + ":9")},
			Containment: Setting[int]{1, OriginDefault},
			MaxAgents:   Setting[int]{belay.Budget{}.Starts(), OriginDefault},
			MaxMicroUSD: Setting[int64]{2_500_000, Origin("file " + path + ":11")},
			Own:         map[string]agent.Agent{"mybot": {Name: "mybot", Kind: "command", Program: []string{"mybot", "--go"}, Access: "read"}},
		},
		Recovery: Recovery{
			Policy:     Setting[string]{"classic", Origin("file " + path + ":12")},
			MaxRetries: Setting[int]{4, Origin("file " + path + ":12")},
			Staff:      Setting[[]string]{nil, Origin("file " + path + ":12")},
			MaxReplans: Setting[int]{3, "environment BELAY_LIMITS_MAX_REPLANS"},
			Roles: map[string]event.Profile{
				"coder": {Agent: "codex", Tools: []string{"Read"}}, "custom:poet": {Model: "big", Access: "read", Persona: "a:b"},
			},
			Tools: map[string]Place{"coder": {File: path, Line: 13, Col: 31, Text: []byte(text)}},
		},
	}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("got  %+v\nwant %+v", c, want)
	}
	if err := c.SetMaxParallel(7, "--max-parallel"); err != nil {
		t.Fatal(err)
	}
	if c.MaxParallel != (Setting[int]{7, "flag --max-parallel"}) {
		t.Errorf("the flag does not win: %+v", c.MaxParallel)
	}
	if err := c.SetMaxParallel(0, "--max-parallel"); err == nil {
		t.Error("--max-parallel 0 is taken")
	}
}

func TestMalformedIsRefusedWithItsPlace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"unknown key", "logs:\n  max_byte: 1\n", `:2: unknown setting "logs.max_byte"; did you mean "logs.max_bytes"?`},
		{"unknown group", "\nlimit: {max_parallel: 2}\n", `:2: unknown setting "limit"; did you mean "limits"?`},
		{"unknown and far", "colour: red\n", `:1: unknown setting "colour"`},
		{"not a size", "logs: {max_bytes: lots}\n", `:1: logs.max_bytes: "lots" is not a size`},
		{"too big a size", "logs: {max_bytes: 9999999999GiB}\n", "that can be used"},
		{"not a number", "limits:\n  max_parallel: 0\n", `:2: limits.max_parallel: "0" is not a number from 1 up`},
		{"not a duration", "kill: {grace: soon}\n", `"soon" is not a duration`},
		{"negative duration", "keeper: {grace: -1s}\n", `"-1s" is not a duration`},
		{"list for a value", "kill: {grace: [1s]}\n", "needs one plain value"},
		{"value for a list", "secrets: TOKEN\n", "needs a list"},
		{"not a name", "secrets: ['hunter 2']\n", "names of variables"},
		{"group is no mapping", "logs: 5\n", ":1: logs is not a mapping"},
		{"twice", "kill:\n  grace: 1s\n  grace: 2s\n", "kill.grace is given twice"},
		{"not a policy", "recovery: {policy: old}\n", `:1: recovery.policy: "old" is none of belay and classic`},
		{"not an access", "roles: {coder: {access: all}}\n", `:1: roles.coder.access: "all" is none of read, edit and full`},
		{"not a role's key", "roles:\n  coder: {colour: red}\n", `:2: unknown setting "roles.coder.colour"; a role has agent, model, access, tools, persona`},
		{"not an agent's key", "agents:\n  mine: {command: x}\n", `:2: unknown setting "agents.mine.command"; an agent of your own has kind, program, args, model, access, script`},
		{"not a role's name", "roles: {'Big One': {model: x}}\n", `:1: unknown setting "roles.Big One"`},
		{"not a persona", "roles: {poet: {persona: me}}\n", `"me" is not a persona; write namespace:name`},
		{"roles are no mapping", "roles: coder\n", ":1: roles is not a mapping"},
		{"no such level", "agents: {containment: 7}\n", `:1: agents.containment: "7" is no level of containment; write 1 (below a subreaper) or 2 (in a PID namespace)`},
		{"no level at all", "agents: {containment: 0}\n", `"0" is no level of containment`},
		{"not YAML", "{", "yaml"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := write(t, c.text)
			_, err := Load([]string{"BELAY_CONFIG=" + path})
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
				t.Fatalf("got %v, want %q and the file", err, c.want)
			}
			if strings.Contains(err.Error(), "hunter") {
				t.Errorf("what may be a secret is repeated: %v", err)
			}
			if code := exit.Code(err); code != exit.Invalid {
				t.Errorf("exit code %d", code)
			}
			var bad *Invalid
			if !errors.As(err, &bad) {
				t.Errorf("not typed: %T", err)
			}
		})
	}
}

func TestEnvironmentIsChecked(t *testing.T) {
	t.Parallel()
	_, err := Load([]string{"BELAY_KILL_GRACE=never"})
	if err == nil || !strings.Contains(err.Error(), "BELAY_KILL_GRACE") {
		t.Fatalf("got %v", err)
	}
	c, err := Load([]string{"BELAY_SECRETS=A,B C"})
	if err != nil || !reflect.DeepEqual(c.Secrets.Value, []string{"A", "B", "C"}) {
		t.Fatalf("got %+v, %v", c, err)
	}
}

func TestMissingFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c, err := Load([]string{"XDG_CONFIG_HOME=" + dir})
	if err != nil || !reflect.DeepEqual(c, Defaults()) {
		t.Errorf("no file: %+v, %v", c, err)
	}
	if _, err := Load([]string{"BELAY_CONFIG=" + filepath.Join(dir, "none.yaml")}); exit.Code(err) != exit.Invalid {
		t.Errorf("a file that was asked for: %v", err)
	}
	if err := os.MkdirAll(filepath.Join(dir, ".config", "belay"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".config", "belay", "config.yaml"), []byte("# nothing\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := Load([]string{"HOME=" + dir}); err != nil || !reflect.DeepEqual(c, Defaults()) {
		t.Errorf("only comments: %+v, %v", c, err)
	}
}

// TestFarSettings: what the file says about the other engine becomes variables, and
// what the environment says is over it.
func TestFarSettings(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "config.yaml")
	text := "engine: temporal\ntemporal: {address: 'a:1', tls: true, runs_on: [gpu, mac], lost_after: 0, blobs: /b, task_queue: q}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Load([]string{"BELAY_CONFIG=" + file})
	if err != nil {
		t.Fatal(err)
	}
	if c.Engine.Value != EngineTemporal {
		t.Errorf("the engine is %q", c.Engine.Value)
	}
	env := map[string]string{"BELAY_TEMPORAL_TASK_QUEUE": "mine"}
	want := []string{"TEMPORAL_ADDRESS=a:1", "TEMPORAL_TLS=true", "BELAY_TEMPORAL_RUNS_ON=gpu,mac", "BELAY_TEMPORAL_LOST_AFTER=0", "BELAY_TEMPORAL_BLOBS=/b"}
	if got := c.Far(func(name string) string { return env[name] }); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	for _, bad := range []string{"engine: best", "temporal: {lost_after: soon}", "temporal: {tls: perhaps}", "temporal: {blobs: b}", "temporal: {addrss: a}"} {
		if err := os.WriteFile(file, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load([]string{"BELAY_CONFIG=" + file}); err == nil || !strings.Contains(err.Error(), file+":1") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
