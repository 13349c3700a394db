package roster

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay/agent"
)

// machine is a folder that stands for one: bin has programs, home has logins.
type machine struct {
	t   *testing.T
	dir string
}

func (m machine) put(name string, mode os.FileMode) string {
	m.t.Helper()
	path := filepath.Join(m.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), mode); err != nil {
		m.t.Fatal(err)
	}
	return path
}

func (m machine) roster(own []agent.Agent, env ...string) *Roster {
	m.t.Helper()
	r, err := New([]string{"/bin/belay"}, append([]string{"PATH=" + filepath.Join(m.dir, "bin"), "HOME=" + filepath.Join(m.dir, "home")}, env...), own)
	if err != nil {
		m.t.Fatal(err)
	}
	return r
}

func TestFind(t *testing.T) {
	m := machine{t, t.TempDir()}
	codex := m.put("bin/codex", 0o700)
	m.put("bin/gemini", 0o600) // nobody can run it
	bot := m.put("bot", 0o700)
	r := m.roster([]agent.Agent{
		{Name: "bot", Kind: agent.Command, Program: []string{bot, "--go"}},
		{Name: "played", Kind: agent.Scripted, Script: "/s/one.yaml"},
		{Name: "codex", Model: "big"},
	})
	for name, want := range map[string][]string{
		"codex":                {codex},
		"bot":                  {bot, "--go"},
		"played":               {"/bin/belay", "scripted"},
		"scripted:/s/two.yaml": {"/bin/belay", "scripted"},
	} {
		if e, err := r.Find(name); err != nil || !slices.Equal(e.Program, want) {
			t.Errorf("%s: %v, %v; want %v", name, e.Program, err, want)
		}
	}
	if e, err := r.Find("codex"); err != nil || e.Model != "big" || e.Kind != agent.Codex {
		t.Errorf("an entry of one's own is not taken: %+v, %v", e, err)
	}
	var missing *Missing
	for _, name := range []string{"claude", "gemini"} {
		if _, err := r.Find(name); !errors.As(err, &missing) || !strings.Contains(err.Error(), "not on the PATH") {
			t.Errorf("%s: %v", name, err)
		}
	}
	var unknown *Unknown
	if _, err := r.Find("codx"); !errors.As(err, &unknown) || unknown.Near != "codex" || !slices.Contains(unknown.All, "bot") {
		t.Errorf("%v", err)
	}
	var mute *Unscripted
	if _, err := r.Find("scripted"); !errors.As(err, &mute) {
		t.Errorf("%v", err)
	}
}

// A path that is told from here is the same one for an agent that works
// somewhere else.
func TestPathsAreWhole(t *testing.T) {
	m := machine{t, t.TempDir()}
	bot := m.put("bot", 0o700)
	t.Chdir(m.dir)
	r := m.roster([]agent.Agent{{Name: "bot", Kind: agent.Command, Program: []string{"./bot"}}})
	if e, err := r.Find("bot"); err != nil || !filepath.IsAbs(e.Program[0]) || filepath.Base(e.Program[0]) != filepath.Base(bot) {
		t.Errorf("%v, %v", e.Program, err)
	}
	if e, err := r.Find("scripted:sub/script.yaml"); err != nil || !filepath.IsAbs(e.Script) || !strings.HasSuffix(e.Script, "/sub/script.yaml") {
		t.Errorf("%q, %v", e.Script, err)
	}
}

// With nobody named, the first that is installed and logged in does it; the
// scripted agent never does by chance.
func TestDefault(t *testing.T) {
	m := machine{t, t.TempDir()}
	if name := m.roster(nil).Default(); name != "" {
		t.Errorf("an empty machine has %q", name)
	}
	m.put("bin/claude", 0o700)
	m.put("bin/codex", 0o700)
	if name := m.roster(nil).Default(); name != "claude" {
		t.Errorf("with none logged in: %q", name)
	}
	key := agent.Known(agent.Codex).Login.Env[0]
	if name := m.roster(nil, key+"=x").Default(); name != "codex" {
		t.Errorf("with codex logged in: %q", name)
	}
}

func TestBadEntries(t *testing.T) {
	for want, e := range map[string]agent.Agent{
		"there is no kind":     {Name: "bot", Kind: "robot"},
		"kind command needs":   {Name: "bot", Kind: agent.Command},
		"kind acp needs":       {Name: "bot", Kind: agent.ACP},
		`there is no kind "x"`: {Name: "x"},
	} {
		if _, err := New(nil, nil, []agent.Agent{e}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", e, err, want)
		}
	}
}

// A CLI whose folder was moved has its login there, and not where it usually is.
func TestLoginInAMovedFolder(t *testing.T) {
	for kind, c := range map[agent.Kind]struct{ env, usual, file string }{
		agent.Claude:  {"CLAUDE_CONFIG_DIR", ".claude", ".credentials.json"},
		agent.Codex:   {"CODEX_HOME", ".codex", "auth.json"},
		agent.Copilot: {"COPILOT_HOME", ".copilot", "config.json"},
	} {
		m := machine{t, t.TempDir()}
		moved := c.env + "=" + filepath.Join(m.dir, "moved")
		m.put(filepath.Join("home", c.usual, c.file), 0o600)
		if !m.roster(nil).LoggedIn(agent.Agent{Kind: kind}) || m.roster(nil, moved).LoggedIn(agent.Agent{Kind: kind}) {
			t.Errorf("%s: the usual folder", kind)
		}
		m.put(filepath.Join("moved", c.file), 0o600)
		if !m.roster(nil, moved).LoggedIn(agent.Agent{Kind: kind}) {
			t.Errorf("%s: the moved folder", kind)
		}
	}
}
