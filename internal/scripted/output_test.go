package scripted

import (
	"strings"
	"testing"

	"github.com/belay-run/belay/agent"
)

// What a command prints is told with its end: whole, or the two ends of much.
func TestWhatCommandsPrint(t *testing.T) {
	t.Parallel()
	for script, c := range map[string]struct {
		starts, ends string
		most, exit   int
	}{
		"echo one; echo two >&2":            {"one\ntwo\n", "\ntwo\n", 8, 0},
		"echo no; exit 3":                   {"no\n", "no\n", 3, 3},
		"true":                              {"", "", 0, 0},
		"echo first; seq 100000; echo last": {"first\n1\n", "100000\nlast\n", 2*endSize + 8, 0},
		"sleep 5 & echo $!; exit 0":         {"", "\n", 20, 0},
		"nosuchprogram":                     {"bash: ", "not found\n", 200, 127},
		"head -c 3000000 /dev/zero | tr '\\0' x; echo": {"xxx", "xxx\n", 2*endSize + 8, 0},
	} {
		records, _, err := play(t, "- run: "+quoted(script), nil)
		if err != nil {
			t.Fatal(err)
		}
		var end agent.ScriptedRecord
		for _, r := range records {
			if r.Type == agent.ScriptedDone {
				end = r
			}
		}
		if end.Tool == nil || *end.Tool.Exit != c.exit {
			t.Errorf("%q: %+v", script, end.Tool)
		}
		if out := end.Output; !strings.HasPrefix(out, c.starts) || !strings.HasSuffix(out, c.ends) || len(out) > c.most {
			t.Errorf("%q printed %d bytes: %.40q", script, len(out), out)
		}
	}
}

func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
