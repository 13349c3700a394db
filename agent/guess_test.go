package agent_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/belay-run/belay/agent"
)

// Every capture of a real run that holds records says whose it is.
func TestGuessKnowsEveryCapture(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "captures", "*", "*.jsonl"))
	if err != nil || len(files) < 200 {
		t.Fatalf("%d captures, %v", len(files), err)
	}
	known := 0
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		want := agent.Kind(filepath.Base(filepath.Dir(f)))
		switch got := agent.Guess(b); got {
		case want:
			known++
		case agent.Command: // it holds no record
		default:
			if want == agent.Qwen && got == agent.Claude && !bytes.Contains(b, []byte("qwen_code_version")) {
				continue // the same format, and nothing in it says who
			}
			t.Errorf("%s is taken for %s", f, got)
		}
	}
	t.Logf("%d of %d captures are known by their records", known, len(files))
	if known*10 < len(files)*8 {
		t.Errorf("only %d of %d are known", known, len(files))
	}
	if got := agent.Guess([]byte("I fixed it.\n{\"a\": 1}\n")); got != agent.Command {
		t.Errorf("plain text is taken for %s", got)
	}
}
