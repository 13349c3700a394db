package worktree

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay"
)

// grow makes a file bigger than what is kept. It is a hole with an end: it
// takes no room.
func (r rig) grow(name string, size int64, end string) {
	r.t.Helper()
	r.write(name, "")
	f, err := os.OpenFile(r.path(name), os.O_WRONLY, 0)
	r.must(err)
	_, err = f.WriteAt([]byte(end), size-int64(len(end)))
	r.must(err)
	r.must(f.Close())
}

func (r rig) touch(name string) {
	r.t.Helper()
	old := time.Now().Add(-time.Hour)
	r.must(os.Chtimes(r.path(name), old, old))
}

// promise: H3
func TestPrintOfBigFiles(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	before := r.look()
	r.grow("deep/big.bin", maxContent+1, "one")
	one := r.look()
	if one.Tree == before.Tree {
		t.Error("a big file is not seen")
	}
	if names := r.git("ls-tree", "-r", "--name-only", one.Tree); strings.Contains("\n"+names, "\ndeep/") {
		t.Errorf("something stands in its place:\n%s", names)
	}
	r.touch("deep/big.bin")
	if r.look() != one {
		t.Error("touch counts as a change")
	}
	r.git("add", "deep/big.bin")
	if r.look() != one {
		t.Error("to stage it counts as a change")
	}
	r.git("rm", "-q", "--cached", "deep/big.bin")
	r.grow("deep/big.bin", maxContent+1, "two")
	if e := r.unkept(one, "deep/big.bin"); e.Files != 1 || e.Changed[0] != (belay.FileChange{Path: "deep/big.bin", Change: belay.FileModified}) {
		t.Errorf("other content of the same size: %+v", e)
	}
	r.write("deep/big.bin", "small\n")
	e := Tree{Dir: r.dir}.Since(t.Context(), one, r.look(), nil)
	if want := []belay.FileChange{{Path: "deep/big.bin", Change: belay.FileModified, Added: 1}}; !slices.Equal(e.Changed, want) || e.Error != "" {
		t.Errorf("small now: %+v", e)
	}
}

// unkept is the evidence since a print, which must say that a file is not kept.
func (r rig) unkept(base belay.TreeState, name string) belay.Evidence {
	r.t.Helper()
	e := Tree{Dir: r.dir}.Since(r.t.Context(), base, r.look(), nil)
	if e.Error != "too big to keep, so in no snapshot: "+name || e.After.Error != "" {
		r.t.Errorf("error %q, %q", e.Error, e.After.Error)
	}
	return e
}

func TestPrintDoesNotReadHugeFiles(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.grow("huge", maxHashed+1, "x")
	one := r.look()
	if r.look() != one {
		t.Error("a second look differs")
	}
	r.touch("huge")
	if r.look() == one {
		t.Error("its time does not count")
	}
}

// To restore a snapshot never puts anything in the place of a file that the
// snapshot does not hold.
func TestSnapshotHoldsNoStandIns(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("tracked.bin", "small")
	r.commit("with a file that will grow")
	base := r.look()
	r.grow("big.bin", maxContent+1, "big")
	r.grow("tracked.bin", maxContent+1, "grown")
	r.write("a.txt", "work")
	p := r.look()
	ref := SnapshotRef("r", "s", 1)
	id, err := Tree{Dir: r.dir}.Snapshot(t.Context(), p, ref, "work of s")
	r.must(err)
	if again, err := (Tree{Dir: r.dir}).Snapshot(t.Context(), p, ref, "work of s"); err != nil || again != id {
		t.Errorf("again: %s, %v", again, err)
	}
	if names := r.git("ls-tree", "-r", "--name-only", ref); names != ".gitignore\na.txt\nsrc/main.go" {
		t.Errorf("the snapshot holds\n%s", names)
	}
	message := r.git("log", "-1", "--format=%B", ref)
	if !strings.HasPrefix(message, "work of s\n") || !strings.Contains(message, "big.bin, tracked.bin") {
		t.Errorf("message %q", message)
	}
	r.write("a.txt", "lost")
	r.git("checkout", "-q", ref, "--", ".")
	for _, name := range []string{"big.bin", "tracked.bin"} {
		if fi, err := os.Stat(r.path(name)); err != nil || fi.Size() != maxContent+1 {
			t.Errorf("%s after the restore: %v, %v", name, fi, err)
		}
	}
	if r.read("a.txt") != "work" {
		t.Error("the work was not restored")
	}
	e := Tree{Dir: r.dir}.Since(t.Context(), base, p, nil)
	want := []belay.FileChange{
		{Path: "a.txt", Change: belay.FileModified, Added: 1, Deleted: 3},
		{Path: "big.bin", Change: belay.FileAdded},
		{Path: "tracked.bin", Change: belay.FileModified},
	}
	if !slices.Equal(e.Changed, want) {
		t.Errorf("%+v, want %+v", e.Changed, want)
	}
}
