package flow

import "testing"

// The words of phases are printed by show --json: they do not change with a name
// in the code.
func TestPhaseWords(t *testing.T) {
	t.Parallel()
	for phase, word := range map[Phase]string{
		Waiting: "waiting", Running: "running", Ended: "ended", Checking: "checking", Broken: "broken", Helped: "aided",
		Merging: "merging", Held: "held", Done: "done", NotTaken: "not_taken", Skipped: "skipped", Failed: "failed",
	} {
		if string(phase) != word {
			t.Errorf("%q is printed for %q", string(phase), word)
		}
	}
}
