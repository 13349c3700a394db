package main_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// On Windows there is a binary that builds, and that has nothing in it but the line
// that says no.
// promise: X
func TestWindowsSaysNo(t *testing.T) {
	t.Parallel()
	exe := filepath.Join(t.TempDir(), "belay.exe")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-ldflags", "-s -w", "-o", exe, ".")
	cmd.Env = append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	binary, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(binary, []byte("belay does not run on Windows yet")) || len(binary) > 4<<20 {
		t.Errorf("a binary of %d bytes, without the line", len(binary))
	}
}
