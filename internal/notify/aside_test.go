package notify

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// What people were told is kept in a folder of this user alone: one that somebody else may
// have made in a directory of everybody is not written and not read.
func TestAsideIsPrivate(t *testing.T) {
	t.Parallel()
	own := "belay-" + strconv.Itoa(os.Geteuid())
	linked, open, good := t.TempDir(), t.TempDir(), t.TempDir()
	if err := os.Symlink(t.TempDir(), filepath.Join(linked, own)); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(open, own), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(open, own), 0o770); err != nil { //nolint:gosec // that is the point
		t.Fatal(err)
	}
	bad := Aside{Places: []string{linked, open, filepath.Join(good, "none")}, State: "/s"}
	if bad.Keep("r", "x") || len(bad.Recall("r")) != 0 {
		t.Error("kept where others write")
	}
	a := Aside{Places: append(bad.Places, good), State: "/s"}
	if !a.Keep("r", "x") || !a.Keep("r", "y") {
		t.Fatal("not kept")
	}
	if got := a.Recall("r"); len(got) != 1 || got[0] != "y" || !a.Some()("r") || a.Some()("other") {
		t.Errorf("%q is kept", got)
	}
	if other := (Aside{Places: a.Places, State: "/other"}); len(other.Recall("r")) != 0 || other.Some()("r") {
		t.Error("the run of another state directory is the same")
	}
	if a.Forget("r"); len(a.Recall("r")) != 0 || a.Some()("r") {
		t.Error("not forgotten")
	}
}
