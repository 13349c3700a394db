package sim

import (
	"testing"

	"github.com/belay-run/belay/belaytest"
)

// TestConform holds the simulator against the suite that every driver passes.
//
// promise: F3, F4, F6, F9, K4, X
func TestConform(t *testing.T) {
	t.Parallel()
	belaytest.Conform(t, Driver{})
}

// TestShellRefusesWhatItCannotRead: a script that the fake shell would have to
// guess at must not pass for one that it ran.
func TestShellRefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	for _, script := range []string{"rm -rf x", "exit", "echo a | cat", "sleep x", "if true; then exit 1; fi", "test -f a || exit 1"} {
		if _, err := readScript(script); err == nil {
			t.Errorf("%q was read", script)
		}
	}
}
