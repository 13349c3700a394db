package proc

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/fault"
)

// Ways to leave something behind. Each writes the pids of what it leaves to
// the file "pids" and goes on to the way its step ends.
var escapes = map[string]string{
	"background":  `sleep 300 & echo $! > pids`,
	"deaf":        `(trap '' TERM; echo $BASHPID > pids; while :; do sleep 300; done) & until [ -s pids ]; do sleep 0.01; done`,
	"session":     `setsid sleep 300 & echo $! > pids`,
	"double fork": `(bash -c 'sleep 300 & echo $! > pids'); until [ -s pids ]; do sleep 0.01; done`,
	"daemon":      `(setsid bash -c 'echo $$ > pids; exec sleep 300' >/dev/null 2>&1 &) ; until [ -s pids ]; do sleep 0.01; done`,
	"deaf daemon": `(setsid bash -c 'trap "" TERM; echo $$ > pids; while :; do sleep 300; done' &) ; until [ -s pids ]; do sleep 0.01; done`,
	"no mark":     `(env -i setsid bash -c 'echo $$ > pids; exec sleep 300' &) ; until [ -s pids ]; do sleep 0.01; done`,
	"no trace":    `(env -i setsid bash -c 'echo $$ > pids; exec sleep 300' >/dev/null 2>&1 &) ; until [ -s pids ]; do sleep 0.01; done`,
	"stopped":     `sleep 300 & echo $! > pids; kill -STOP $!`,
	"tree":        `(setsid bash -c 'sleep 300 & echo $! > p; setsid sleep 300 & echo $! >> p; echo $$ >> p; mv p pids; wait' &); until [ -s pids ]; do sleep 0.01; done`,
}

var endings = map[string]struct {
	script string
	why    fault.KilledBy
	code   int
}{
	"success":  {"exit 0", "", 0},
	"failure":  {"exit 3", "", 3},
	"deadline": {"exec sleep 300", fault.KilledDeadline, 143},
	"signal":   {"exec sleep 300", fault.KilledCancel, 143},
}

// promise: K5
func TestNothingIsLeftBehind(t *testing.T) {
	t.Parallel()
	for way, escape := range escapes {
		for ending := range endings {
			t.Run(way+"/"+ending, func(t *testing.T) {
				t.Parallel()
				limit := 700 * time.Millisecond // where there is one; more when it was over too soon
				for !leavesNothing(t, way, escape, ending, limit) && limit < time.Minute {
					limit *= 4
				}
			})
		}
	}
}

// leavesNothing plays one way to escape and one ending. False: the time of the
// step was over before it had left anything behind.
func leavesNothing(t *testing.T, way, escape, ending string, limit time.Duration) bool {
	t.Helper()
	end := endings[ending]
	r := newRig(t)
	k, _ := r.attach()
	defer r.close(k)
	s := r.bash("a", escape+"; touch ready; while [ ! -e go ]; do sleep 0.01; done; "+end.script)
	s.Grace = 200 * time.Millisecond
	if end.why == fault.KilledDeadline {
		s.Deadline = limit
	}
	r.spawn(k, s)
	n := 1
	if way == "tree" {
		n = 3
	}
	ids, e := r.pidsInTime(k, "pids", n)
	if e != nil && e.KilledBy == fault.KilledDeadline && limit < time.Minute {
		return false
	}
	r.touch("go")
	if end.why == fault.KilledCancel {
		if err := k.Signal(s.Key, end.why, 0); err != nil {
			t.Fatal(err)
		}
	}
	if e == nil {
		e = r.exit(k, s.Key)
	}
	r.gone(ids)
	late := end.why != "" && e.Signal == int(syscall.SIGKILL) // it heard TERM, and had no time to leave
	if e.Code != end.code && !late || e.KilledBy != end.why {
		t.Errorf("exit %+v", e)
	}
	deaf := strings.HasPrefix(way, "deaf") // its own children count too
	// A shell between them that is on its way out may count as one more.
	if end.why == "" && (e.Strays < n || e.Strays > n+1 && !deaf) {
		t.Errorf("%d strays, not %d", e.Strays, n)
	}
	return true
}

// pidsInTime is pids, or the exit of the step when that came first.
func (r *rig) pidsInTime(k *Keeper, name string, n int) (ids []Identity, e *Exit) {
	r.t.Helper()
	r.wait(name+" is written", func() bool {
		select {
		case ev := <-k.Events():
			if e = ev.Exit; e == nil {
				r.t.Fatalf("the keeper is gone: %v", ev.Gone)
			}
			return true
		default:
		}
		text := r.text(name)
		if fields := strings.Fields(text); len(fields) < n || !strings.HasSuffix(text, "\n") {
			return false
		}
		ids = r.living(strings.Fields(text))
		return ids != nil
	})
	return ids, e
}

// living is who has these numbers, nil when one of them is gone.
func (r *rig) living(pids []string) (ids []Identity) {
	r.t.Helper()
	for _, text := range pids {
		pid, err := strconv.Atoi(text)
		if err != nil {
			r.t.Fatal(err)
		}
		id, err := Identify(pid)
		if err != nil {
			return nil
		}
		ids = append(ids, id)
	}
	return ids
}

// What one attempt left behind is told from what another one, still running,
// holds: by its mark, its group, its session and its pipe. One that has none of
// these is ended when nothing else is in flight.
// promise: K5
func TestStraysOfSiblingsAreSpared(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	k, _ := r.attach()
	hold := `(setsid sleep 300 >/dev/null 2>&1 & echo $! > %s); (sleep 300 & echo $! >> %s);
		(env -i setsid bash -c 'echo $$ >> %s; exec sleep 300' &) ; until [ $(wc -l < %s) = 3 ]; do sleep 0.01; done
		(env -i setsid bash -c 'echo $$ >> %s; exec sleep 300' >/dev/null 2>&1 &)`
	a := r.bash("a", strings.ReplaceAll(hold, "%s", "a.pids")+`; while [ ! -e a.go ]; do sleep 0.01; done`)
	b := r.bash("b", strings.ReplaceAll(hold, "%s", "b.pids")+`; while [ ! -e b.go ]; do sleep 0.01; done; exit 2`)
	r.spawn(k, a)
	r.spawn(k, b)
	as, bs := r.pids("a.pids", 4), r.pids("b.pids", 4)
	r.touch("a.go")
	e := r.exit(k, a.Key)
	if e.Code != 0 || e.Strays != 3 {
		t.Errorf("a: %+v", e)
	}
	r.gone(as[:3])
	for _, id := range append(as[3:], bs...) {
		if !id.Alive() {
			t.Errorf("%d of a running attempt, or of nobody, was ended", id.Pid)
		}
	}
	r.touch("b.go")
	if e := r.exit(k, b.Key); e.Code != 2 {
		t.Errorf("the sibling's exit was taken: %+v", e)
	}
	r.gone(append(as, bs...))
	if got := strings.Count(r.text(ledgerName), `"unattributed"`); got != 2 {
		t.Errorf("%d unattributed lines", got)
	}
	r.close(k)
}

// A stranger that was handed the pipe does not keep the step open for ever.
func TestPipeHeldOpenByAStranger(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	k, _ := r.attach()
	// The keeper's own end of the pipe stays open when we hold a copy of the
	// writing end: /proc lets this process, no relative of the step, open it.
	s := r.bash("a", `echo $$ > pids; touch ready; while [ ! -e go ]; do sleep 0.01; done; echo last`)
	r.spawn(k, s)
	step := r.pids("pids", 1)[0]
	r.wait("its output is the pipe again", func() bool { return exists(r.file("ready")) })
	w := r.openFile("/proc/" + itoa(step.Pid) + "/fd/1")
	defer w.Close()
	began := time.Now()
	r.touch("go")
	if e := r.exit(k, s.Key); e.Code != 0 || string(e.Tail) != "last\n" {
		t.Errorf("%+v", e)
	}
	if took := time.Since(began); took < drainFor || took > 20*drainFor { // without a limit it would be for ever
		t.Errorf("it took %s", took)
	}
	r.close(k)
}

// A signal reaches what left the group while its leader still runs: the leader
// here only ends because its child in another session was told to.
// promise: K5
func TestSignalReachesTheWholeTree(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	k, _ := r.attach()
	child := `trap "echo heard; exit 0" TERM; echo $$ > pids; while :; do sleep 0.01; done`
	s := r.bash("a", `trap : TERM; setsid -w bash -c '`+child+`'; exit 9`)
	s.Grace = 50 * time.Second
	r.spawn(k, s)
	ids := r.pids("pids", 1)
	began := time.Now()
	if err := k.Signal(s.Key, fault.KilledStop, 0); err != nil {
		t.Fatal(err)
	}
	e := r.exit(k, s.Key)
	if e.Code != 9 || e.Signal != 0 || e.KilledBy != fault.KilledStop || !strings.Contains(string(e.Tail), "heard") {
		t.Errorf("%+v\n%s", e, e.Tail)
	}
	if took := time.Since(began); took > s.Grace/2 {
		t.Errorf("it took %s", took)
	}
	r.gone(ids)
	r.close(k)
}

// One that forks and leaves faster than it can be looked at is caught too, and
// before the end of its step is told.
// promise: K3
func TestHopperIsCaught(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	k, _ := r.attach()
	if err := syscall.Mkfifo(r.file("fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(r.file("hop.sh"), []byte("trap '' TERM INT HUP\nbash hop.sh & exit\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	over := make(chan error, 1)
	go func() { // the pipe ends with the last that has it
		_, err := os.ReadFile(r.file("fifo"))
		over <- err
	}()
	s := r.bash("a", `setsid bash -c 'exec 9>fifo </dev/null >/dev/null 2>&1; touch hops; exec bash hop.sh' &
		until [ -e hops ]; do sleep 0.01; done`)
	r.spawn(k, s)
	if e := r.exit(k, s.Key); e.Code != 0 || e.Strays == 0 {
		t.Errorf("%+v", e)
	}
	select {
	case err := <-over:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("it hops on")
		if err := os.WriteFile(r.file("hop.sh"), nil, 0o600); err != nil { // and ends here
			t.Error(err)
		}
		<-over
	}
	r.close(k)
}
