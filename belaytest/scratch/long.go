package scratch

import (
	"os"
	"testing"
)

// Long leaves out a test that sweeps over many rows where nobody waits for all of
// them: go test ./... is what people type between two edits.
func Long(t *testing.T) {
	t.Helper()
	if os.Getenv("BELAY_LONG") == "" {
		t.Skip("a long one: make long runs it, and so do make check and CI")
	}
}
