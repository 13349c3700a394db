package belay_test

import (
	"os/exec"
	"strings"
	"testing"
)

// TestBelayIsWithoutTemporal: the program belay and the packages that others import are built without
// the SDK of Temporal, which is a module of its own away.
func TestBelayIsWithoutTemporal(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	deps := strings.Fields(string(out))
	if len(deps) < 100 {
		t.Fatalf("it is built of %d packages only", len(deps))
	}
	for _, path := range deps {
		if strings.HasPrefix(path, "go.temporal.io/") || strings.HasPrefix(path, "google.golang.org/grpc") {
			t.Errorf("it is built with %s", path)
		}
	}
}
