package recipe

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain lets the heap grow further before it is collected: it is small here, and
// a quarter of the time would go into collecting it again and again.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
