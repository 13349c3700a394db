package scripted

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// What an attempt is for and who plays choose a part, alone and within others.
func TestRolesAndAgents(t *testing.T) {
	t.Parallel()
	const script = `roles:
  plan: [exit: 3]
  repair: {agents: {understudy: [exit: 4], "*": [exit: 5]}}
  "*": {steps: {build: [exit: 6], "*": [exit: 7]}}
`
	if err := Check([]byte(script)); err != nil {
		t.Fatal(err)
	}
	for want, env := range map[int]map[string]string{
		3: {"BELAY_ROLE": "plan", "BELAY_STEP": "build"},
		4: {"BELAY_ROLE": "repair", "BELAY_AGENT_NAME": "understudy"},
		5: {"BELAY_ROLE": "repair", "BELAY_AGENT_NAME": "claude"},
		6: {"BELAY_ROLE": "main", "BELAY_STEP": "build"},
		7: {}, // nobody told
	} {
		if _, code, err := play(t, script, env); err != nil || code != want {
			t.Errorf("%v: exit %d, %v, want %d", env, code, err, want)
		}
	}
	for _, wrong := range []string{"roles:\n  boss: [say: x]", "roles:\n  [say: x]", "agents:\n  a: [dance: x]"} {
		var at *Bad
		if err := Check([]byte(wrong)); !errors.As(err, &at) || at.Line != 2 {
			t.Errorf("%q: %v, want a mistake in line 2", wrong, err)
		}
	}
}

// A script goes on with another one, which is chosen from by the same start.
func TestGoOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	other := filepath.Join(dir, "other.yaml")
	if err := os.WriteFile(other, []byte("steps: {a: [say: from a, exit: 9], '*': [say: there]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	records, code, err := play(t, "- say: here\n- play: "+other+"\n", nil)
	if err != nil || code != 0 || kinds(records) != "session text text final" {
		t.Errorf("exit %d, %v, %s", code, err, kinds(records))
	}
	if _, code, err = play(t, "- play: "+other+"\n", map[string]string{"BELAY_STEP": "a"}); err != nil || code != 9 {
		t.Errorf("exit %d, %v", code, err)
	}
	if err := os.WriteFile(other, []byte("- play: "+other+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, code, err = play(t, "- play: "+other+"\n", nil); err == nil || code != 1 {
		t.Errorf("a script that goes on with itself: exit %d, %v", code, err)
	}
}
