package client_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestFromOutside builds and runs the program of examples/library as somebody else
// would: in a module of its own, elsewhere.
// promise: C1
func TestFromOutside(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(root, "examples", "library"))); err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(strings.ReplaceAll(string(mod), "../..", root)), 0o600); err != nil {
		t.Fatal(err)
	}
	// Both are main modules then, so that what was built for the tests is not built again.
	work := filepath.Join(dir, "go.work")
	if err := os.WriteFile(work, []byte("go 1.26.0\nuse (\n\t.\n\t"+strconv.Quote(root)+"\n)\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	in := func(work, name string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PWD="+dir, "GOWORK="+work, "GOFLAGS="+os.Getenv("GOFLAGS")+" -mod=readonly -buildvcs=false", // what stands above the temporary folder is not ours
			"BELAY_STATE="+filepath.Join(dir, "state"))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s\nwhere go.mod is stale, run make gen", name, args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	in("off", "go", "list", "-deps", ".") // its own go.mod is enough
	in(work, "go", "vet", ".")
	in(work, "go", "build", "-o", "poem", ".")
	if out := in(work, "./poem", "the", "sea"); out != "ACHIEVED: I must go down to the sea again" {
		t.Errorf("it prints %q", out)
	}
}
