//go:build linux

package supervise

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/belay-run/belay/agent"
)

// Settings beneath the user's own are laid only where nobody has theirs in that
// place, and only where the CLI would believe them.
func TestDefaultsYield(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	there := filepath.Join(dir, "there.json")
	if err := os.WriteFile(there, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		env    []string
		system string
		laid   bool
	}{
		"nobody has any":            {nil, "missing.json", true},
		"the variable is empty":     {[]string{"DEFAULTS="}, "missing.json", true},
		"the user has named a file": {[]string{"DEFAULTS=/mine.json"}, "missing.json", false},
		"in another way":            {[]string{"SETTINGS=/mine.json"}, "missing.json", false},
		"the machine has one":       {nil, "there.json", false},
	} {
		file := filepath.Join(t.TempDir(), "private", "d.json")
		got, err := lay(&agent.Defaults{
			Env: "DEFAULTS", File: file, Text: "{1}", Yields: []string{"SETTINGS"}, System: filepath.Join(dir, c.system),
		}, c.env)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := os.ReadFile(file) // none is nothing
		switch {
		case !c.laid && (got != nil || text != nil):
			t.Errorf("%s: %q is laid", name, got)
		case c.laid && (len(got) != 1 || got[0] != "DEFAULTS="+file || string(text) != "{1}"):
			t.Errorf("%s: %q, %q", name, got, text)
		}
		if info, err := os.Stat(file); c.laid && (err != nil || info.Mode().Perm() != 0o600) {
			t.Errorf("%s: %v %v", name, info, err)
		}
	}
	if got, err := lay(nil, nil); got != nil || err != nil {
		t.Errorf("none: %v %v", got, err)
	}
}

// A CLI that believes root alone is given nothing that others could have
// written.
func TestDefaultsOfRoot(t *testing.T) {
	t.Parallel()
	if !roots("/") {
		t.Skip("the root of the file system here does not belong to root alone")
	}
	open := filepath.Join(t.TempDir(), "open")
	if err := os.Mkdir(open, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o777); err != nil { // whatever the mask says
		t.Fatal(err)
	}
	got, err := lay(&agent.Defaults{Env: "DEFAULTS", File: filepath.Join(open, "d.json"), System: "/no/such/file", Root: true}, nil)
	if got != nil || err != nil {
		t.Errorf("others can write there: %v %v", got, err)
	}
	if !roots("/proc/version") || roots("/proc/self/exe") {
		t.Error("a file of root's is not told from a link")
	}
}
