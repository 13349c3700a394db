package worktree

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay"
)

// script makes a program out of lines of shell.
func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSnapshot(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	tree := Tree{Dir: r.dir}
	r.write("a.txt", "half done")
	r.write("new.txt", "new")
	p := r.look()
	index, files := r.read(".git/index"), r.git("status", "--short")
	ref := SnapshotRef("k3f9q/build.2", "fix it", 3)
	id, err := tree.Snapshot(t.Context(), p, ref, "work of fix it")
	r.must(err)
	if r.read(".git/index") != index || r.git("status", "--short") != files || r.git("rev-parse", "main") != p.Head {
		t.Error("the snapshot touched the index, a file or the branch")
	}
	if r.git("show", ref+":new.txt") != "new" || r.git("rev-parse", ref+"^") != p.Head || r.git("rev-parse", ref) != id {
		t.Error("the snapshot does not hold the work")
	}
	if again, err := tree.Snapshot(t.Context(), p, ref, "other words"); err != nil || again != id {
		t.Errorf("again: %s, %v; want %s", again, err, id)
	}
	list, err := tree.Snapshots(t.Context())
	if err != nil || len(list) != 1 || list[0].Ref != ref || list[0].Commit != id || list[0].Message != "work of fix it" || list[0].At.IsZero() {
		t.Errorf("%+v, %v", list, err)
	}
	r.write("new.txt", "newer")
	next, err := tree.Snapshot(t.Context(), r.look(), ref, "m")
	if err != nil || next == id {
		t.Errorf("of other files: %s, %v", next, err)
	}
	if err := tree.DropSnapshot(t.Context(), ref, id); err == nil {
		t.Error("another one was dropped than was asked for")
	}
	for range 2 {
		r.must(tree.DropSnapshot(t.Context(), ref, next))
	}
	if list, err := tree.Snapshots(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestSnapshotRefusesOtherRefs(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	tree := Tree{Dir: r.dir}
	p := r.look()
	for _, ref := range []string{"refs/heads/main", "refs/belay", "refs/belay/..", "refs/belay/a b", "HEAD", ""} {
		if _, err := tree.Snapshot(t.Context(), p, ref, "m"); err == nil {
			t.Errorf("%q was written", ref)
		}
		if err := tree.DropSnapshot(t.Context(), ref, ""); err == nil {
			t.Errorf("%q was dropped", ref)
		}
	}
	if _, err := tree.Snapshot(t.Context(), belay.TreeState{Tree: "x"}, SnapshotRef("r", "s", 1), "m"); err == nil {
		t.Error("a print of no repository was kept")
	}
}

func TestSnapshotRefs(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, run := range []belay.RunID{"k3f9q", "k3f9q/build.2", "a.lock", ".a", "a..b", "", "ü", "a%2Fb"} {
		for _, step := range []belay.Path{"build", "build.lock", "a b", "a/b", "..", "", "@{", "x~^:?*[\\"} {
			ref := SnapshotRef(run, step, 1)
			if out, err := exec.CommandContext(t.Context(), "git", "check-ref-format", ref).CombinedOutput(); err != nil || seen[ref] {
				t.Errorf("%q: %v %s, seen %t", ref, err, out, seen[ref])
			}
			seen[ref] = true
			if r, s := refOwner(ref); r != run || s != step {
				t.Errorf("%q reads as %q %q, want %q %q", ref, r, s, run, step)
			}
			if strings.Count(ref, "/") != 3 {
				t.Errorf("%q has other parts than a run and a step", ref)
			}
		}
	}
}
