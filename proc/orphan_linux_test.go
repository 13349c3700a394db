package proc

import (
	"os"
	"testing"
)

// zombiesOf counts the dead children of a process that nobody took away.
func zombiesOf(t *testing.T, pid int) int {
	t.Helper()
	all, err := processes()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, p := range all {
		if p.ppid == pid && p.zombie {
			n++
		}
	}
	return n
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Orphans that end while their step runs are taken away, and no leader's exit
// with them.
func TestOrphansAreReapedWhileStepsRun(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	k, _ := r.attach()
	long := r.bash("long", `for i in $(seq 200); do (sleep 0.01 &); done; touch made; while [ ! -e go ]; do sleep 0.01; done; exit 7`)
	r.spawn(k, long)
	for i := range 20 {
		r.spawn(k, r.bash("s"+itoa(i), `sleep 0.0`+itoa(i)+`; exit `+itoa(i)))
	}
	for range 20 {
		ev := <-k.Events()
		if ev.Exit == nil || ev.Exit.Key != r.key("s"+itoa(ev.Exit.Code)) {
			t.Fatalf("%+v", ev)
		}
	}
	r.wait("the orphans are made", func() bool { return exists(r.file("made")) })
	r.wait("no zombie is left", func() bool { return zombiesOf(t, k.pid) == 0 })
	r.touch("go")
	if e := r.exit(k, long.Key); e.Code != 7 || e.Strays != 0 {
		t.Errorf("%+v", e)
	}
	r.close(k)
}
