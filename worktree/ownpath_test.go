package worktree

import (
	"slices"
	"testing"
)

func TestPlacesIn(t *testing.T) {
	t.Parallel()
	const diff = "diff --git a.sh a.sh\n--- a.sh\n+++ a.sh\n@@ -2 +2,2 @@ x\n-. /s/runs/r/trees/t/old\n+++ no file\n+. /s/runs/r/trees/t/lib.sh\n" +
		"@@ -9,0 +11 @@\n+cd /s/runs/r/trees/t\n@@ -20,2 +21,0 @@\n-/s/runs/r/trees/t\n-b\n" +
		"diff --git l l\nnew file mode 120000\n--- /dev/null\n+++ l k\t\n@@ -0,0 +1 @@\n+/s/runs/r/trees/t/x\n\\ No newline at end of file\n" +
		"diff --git b.bin b.bin\nBinary files b.bin and b.bin differ\n"
	if got, want := placesIn(diff, "/runs/r/trees/"), []string{"a.sh:3", "a.sh:11", "l k:1"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestLeadsOut(t *testing.T) {
	t.Parallel()
	for target, out := range map[string]bool{
		"/tmp/x": true, "/": true, "../../x": true, "../..": true, "/dev/../etc/x": true, "/dev/shm/x": true, "/dev": true,
		"x": false, "../x": false, "..": false, "./y/../../x": false, "/dev/null": false, "..x": false,
	} {
		if leadsOut("a/link", target) != out {
			t.Errorf("a/link -> %s: leads out %t, want %t", target, !out, out)
		}
	}
}
