package proc

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/belay-run/belay/fault"
)

// Users choose the ids of their runs: two state directories may hold the same
// one, and what is left of the first is ended without touching the second.
// promise: K4
func TestSameIDInAnotherFolderIsSpared(t *testing.T) {
	t.Parallel()
	mine, other := newRig(t), newRig(t)
	other.o.Run = mine.o.Run
	k, _ := mine.attach()
	kk, _ := other.attach()
	mine.spawn(k, mine.bash("a", `echo $$ > pids; sleep 300`))
	other.spawn(kk, other.bash("a", `echo $$ > pids; sleep 300`))
	ended, spared := mine.pids("pids", 1), other.pids("pids", 1)
	if err := syscall.Kill(k.pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	mine.close(k)
	k2, states := mine.attach(mine.key("a"))
	if states[mine.key("a")].Found != fault.Lost {
		t.Errorf("%+v", states)
	}
	mine.gone(ended)
	if !spared[0].Alive() {
		t.Error("a process of the same id in another folder was ended")
	}
	if err := kk.Signal("", fault.KilledCancel, 0); err != nil {
		t.Fatal(err)
	}
	if e := other.exit(kk, other.key("a")); e.KilledBy != fault.KilledCancel {
		t.Errorf("%+v", e)
	}
	other.close(kk)
	mine.close(k2)
}

// The mark of a folder is made once; one that a power cut tore is carried by
// nobody and made again.
func TestMarkIsMadeOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	none, err := readMark(dir, "r")
	if err != nil || none != "" {
		t.Errorf("before the first: %q %v", none, err)
	}
	first, err := makeMark(dir, "r")
	if err != nil || !strings.HasPrefix(first, "r-") || len(first) != len("r-")+16 {
		t.Fatalf("first: %q %v", first, err)
	}
	again, err := makeMark(dir, "r")
	if err != nil || again != first {
		t.Errorf("again: %q, not %q: %v", again, first, err)
	}
	st, err := os.Stat(dir + "/" + markName)
	if err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", st, err)
	}
	for _, torn := range []string{"", first[:5], "r-" + strings.Repeat("g", 16)} {
		if err := os.WriteFile(dir+"/"+markName, []byte(torn), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := readMark(dir, "r"); err != nil || got != "" {
			t.Errorf("torn %q reads as %q: %v", torn, got, err)
		}
		if got, err := makeMark(dir, "r"); err != nil || got == first || len(got) != len(first) {
			t.Errorf("torn %q: %q %v", torn, got, err)
		}
	}
}
