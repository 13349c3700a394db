package ledger_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/belay-run/belay/belaytest/leak"
	"github.com/belay-run/belay/belaytest/scratch"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/ledger"
)

func TestMain(m *testing.M) { os.Exit(scratch.Use(func() int { return leak.None(m.Run) })) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newState is a state directory of its own: the ledger lies in its index.
func newState(t testing.TB) *journal.State {
	t.Helper()
	s, err := journal.OpenState(filepath.Join(t.TempDir(), "state"))
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	return s
}

func open(t testing.TB) *ledger.Ledger {
	t.Helper()
	return newState(t).Ledger()
}
