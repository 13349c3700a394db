//go:build !failpoints || !linux

package failpoint

import (
	"os"
	"path/filepath"
	"testing"
)

// Without the tag the environment arms nothing.
func TestNoOpWithoutTheTag(t *testing.T) {
	trace := filepath.Join(t.TempDir(), "trace")
	t.Setenv("BELAY_FP", "x=1:panic")
	t.Setenv("BELAY_FP_TRACE", trace)
	Hit("x")
	if _, err := os.Stat(trace); !os.IsNotExist(err) {
		t.Errorf("a hit was traced in a build without the tag (stat: %v)", err)
	}
	if Armed {
		t.Error("Armed in a build without the tag")
	}
}
