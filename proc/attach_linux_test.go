package proc

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/belaytest/scratch"
	"github.com/belay-run/belay/fault"
)

// driverRole attaches, starts three steps and waits to be killed.
func driverRole(args []string) error {
	if err := BecomeSubreaper(); err != nil {
		return err
	}
	dir, socket, exe, run := args[0], args[1], args[2], belay.RunID(args[3])
	o := Options{Dir: dir, Socket: socket, Exe: []string{exe, "as-keeper", dir, socket}, Run: run, Epoch: 1, Env: os.Environ()}
	k, _, err := Attach(context.Background(), o, nil)
	if err != nil {
		return err
	}
	for name, script := range map[string]string{
		"short": `exit 5`,
		"long":  `echo $$ > long.pid; while [ ! -e go ]; do sleep 0.01; done; exit 6`,
	} {
		s := Spawn{Key: belay.KeyOf(run, belay.Path(name), belay.RoleMain, 1), Argv: []string{"bash", "-c", script}, Dir: dir}
		if err := k.Spawn(s); err != nil {
			return err
		}
	}
	for range k.Events() {
		continue // until somebody kills us
	}
	return nil
}

// promise: K1
// promise: K2
func TestKilledDriverEndsNoStep(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	exe := r.o.Exe[0]
	driver := exec.Command(exe, "as-driver", r.dir, r.o.Socket, exe, string(r.o.Run))
	if err := driver.Start(); err != nil {
		t.Fatal(err)
	}
	long := r.pids("long.pid", 1)[0]
	r.wait("short has ended", func() bool { return strings.Contains(r.text(ledgerName), `"code":5`) })
	if err := driver.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = driver.Wait() // it was killed
	if !long.Alive() {
		t.Fatal("the step died with its driver")
	}
	r.o.Epoch = 2
	k, states := r.attach(r.key("short"), r.key("long"), r.key("never"))
	if s := states[r.key("short")]; s.Found != fault.Harvested || s.Exit == nil || s.Exit.Code != 5 {
		t.Errorf("short: %+v", s)
	}
	if s := states[r.key("long")]; s.Found != fault.Adopted || s.Exit != nil {
		t.Errorf("long: %+v", s)
	}
	if s := states[r.key("never")]; s.Found != fault.Unborn {
		t.Errorf("never: %+v", s)
	}
	if err := os.WriteFile(r.file("go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if e := r.exit(k, r.key("long")); e.Code != 6 || e.Pid != long.Pid {
		t.Errorf("long: %+v", e)
	}
	r.close(k)
}

// promise: K2
// promise: K3
func TestHarvestAfterTheKeeperLeft(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	k, _ := r.attach()
	s := r.bash("a", `while [ ! -e go ]; do sleep 0.01; done; echo bye; exit 9`)
	r.spawn(k, s)
	r.wait("a was born", func() bool { return strings.Contains(r.text(ledgerName), string(s.Key)) })
	pid := k.pid
	if err := k.hangUp(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(r.file("go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r.wait("the keeper has left", func() bool {
		p, err := look(pid)
		return err != nil || p.zombie
	})
	k2, states := r.attach(s.Key, r.key("b"))
	if st := states[s.Key]; st.Found != fault.Harvested || st.Exit.Code != 9 || string(st.Exit.Tail) != "bye\n" {
		t.Errorf("a: %+v", st)
	}
	if st := states[r.key("b")]; st.Found != fault.Unborn {
		t.Errorf("b: %+v", st)
	}
	r.close(k2)
	r.close2(pid)
}

// close2 reaps a keeper whose client was hung up without Close.
func (r *rig) close2(pid int) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // nothing that passes waits for it
	defer cancel()
	if err := reapWithin(ctx, pid); err != nil {
		r.t.Error(err)
	}
}

// promise: K4
func TestKilledKeeper(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	k, _ := r.attach()
	r.do(k, r.bash("done", `exit 3`))
	script := `echo $$ > pids; sleep 300 & echo $! >> pids; setsid sleep 300 & echo $! >> pids; trap '' TERM; wait; sleep 300`
	r.spawn(k, r.bash("run", script))
	ids := r.pids("pids", 3)
	if err := syscall.Kill(k.pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	ev := <-k.Events()
	if !errors.Is(ev.Gone, ErrKeeperGone) {
		t.Errorf("event %+v", ev)
	}
	if _, more := <-k.Events(); more {
		t.Error("an event after Gone")
	}
	r.close(k)
	k2, states := r.attach(r.key("done"), r.key("run"), r.key("next"))
	r.gone(ids)
	for _, id := range ids {
		if _, err := look(id.Pid); !errors.Is(err, ErrGone) {
			t.Errorf("process %d was not reaped: %v", id.Pid, err)
		}
	}
	want := map[string]fault.Found{"done": fault.Harvested, "run": fault.Lost, "next": fault.Unborn}
	for name, how := range want {
		if got := states[r.key(name)]; got.Found != how {
			t.Errorf("%s: %+v", name, got)
		}
	}
	// A driver that dies before it wrote this down must be told the same by
	// the new keeper, which never saw these keys.
	r.spawn(k2, r.bash("other", `sleep 300`))
	r.wait("other was born", func() bool { return strings.Contains(r.text(ledgerName), string(r.key("other"))) })
	pid := k2.pid
	if err := k2.hangUp(); err != nil {
		t.Fatal(err)
	}
	k3, states := r.attach(r.key("done"), r.key("run"), r.key("next"), r.key("other"))
	want["other"] = fault.Adopted
	for name, how := range want {
		if got := states[r.key(name)]; got.Found != how {
			t.Errorf("again %s: %+v", name, got)
		}
	}
	if err := k3.Signal("", fault.KilledCancel, 0); err != nil {
		t.Fatal(err)
	}
	r.exit(k3, r.key("other"))
	r.close(k3)
	r.close2(pid)
}

// A dead driver's request that lies unread while the next driver says hello is
// born before the answer, or never.
// promise: K2
func TestEpochFence(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	k, _ := r.attach()
	count := map[fault.Found]int{}
	for i := range 40 {
		pid := r.keeper().Pid // another one when the last had nothing to do
		s := r.bash("f"+itoa(i), `echo x >> ran`+itoa(i))
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		r.wait("the keeper is stopped", func() bool { return stopped(t, pid) })
		r.spawn(k, s)
		if i%2 == 0 { // the driver is dead; else it only hangs
			if err := k.hangUp(); err != nil {
				t.Fatal(err)
			}
		}
		old := k
		found := make(chan State, 1)
		r.o.silence = time.Minute
		go func() {
			k2, states, err := Attach(context.Background(), r.o, []belay.Key{s.Key})
			if err != nil {
				t.Error(err)
			}
			k = k2
			found <- states[s.Key]
		}()
		if i%4 < 2 { // else the hello races with the wake-up
			r.wait("the hello lies in the socket", func() bool { return unread(t, r.o.Socket) >= 1 })
		}
		if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		state := <-found
		r.o.Epoch++
		if t.Failed() {
			return
		}
		count[state.Found]++
		ran := "ran" + itoa(i)
		if state.Found == fault.Unborn {
			r.do(k, r.bash("g"+itoa(i), `true`)) // whatever was on its way has arrived
			if r.text(ran) != "" {
				t.Fatal("born after the answer said that it was not")
			}
			r.do(k, s)
		} else if state.Found == fault.Adopted {
			r.exit(k, s.Key)
		}
		if got := r.text(ran); got != "x\n" {
			t.Fatalf("trial %d, %s: ran %q", i, state.Found, got)
		}
		if i%2 == 1 {
			if err := old.hangUp(); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Logf("found %v", count)
	r.close(k)
}

// stopped tells whether a process stands still: until the kernel has told each of
// its threads, the others may still read and answer.
func stopped(t *testing.T, pid int) bool {
	t.Helper()
	dir := "/proc/" + itoa(pid) + "/task/"
	tids, err := readNames(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, tid := range tids {
		if b, err := os.ReadFile(dir + tid + "/stat"); err == nil && !strings.Contains(string(b), ") T ") {
			return false
		}
	}
	return len(tids) > 0
}

// unread is how many connections to the socket wait to be accepted: those that
// the kernel lists as connecting.
func unread(t *testing.T, path string) int {
	t.Helper()
	b, err := os.ReadFile("/proc/net/unix")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, line := range strings.Split(string(b), "\n") {
		f := strings.Fields(line)
		if len(f) == 8 && f[7] == path && f[5] == "02" {
			n++
		}
	}
	return n
}

func TestStaleDriverIsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.o.Epoch = 5
	k, _ := r.attach()
	r.o.Epoch = 4
	if _, _, err := Attach(context.Background(), r.o, nil); !errors.Is(err, ErrStale) {
		t.Errorf("lower epoch: %v", err)
	}
	other := r.o
	other.Epoch, other.Run = 9, "another"
	if _, _, err := Attach(context.Background(), other, nil); !errors.Is(err, ErrRefused) {
		t.Errorf("another run: %v", err)
	}
	r.close(k)
	if _, _, err := Attach(context.Background(), r.o, nil); !errors.Is(err, ErrStale) {
		t.Errorf("lower epoch, next keeper: %v", err)
	}
}

func TestStoppedKeeperIsSilent(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	k, _ := r.attach()
	s := r.bash("a", `while [ ! -e go ]; do sleep 0.01; done`)
	r.spawn(k, s)
	r.wait("a was born", func() bool { return strings.Contains(r.text(ledgerName), string(s.Key)) })
	if err := syscall.Kill(k.pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	r.wait("the keeper is stopped", func() bool { return stopped(t, k.pid) })
	r.o.Epoch, r.o.silence = 2, 200*time.Millisecond
	if _, _, err := Attach(context.Background(), r.o, []belay.Key{s.Key}); !errors.Is(err, ErrKeeperSilent) {
		t.Errorf("stopped keeper: %v", err)
	}
	if err := syscall.Kill(k.pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	pid := k.pid
	r.o.Epoch, r.o.silence = 3, 0
	k2, states := r.attach(s.Key)
	if states[s.Key].Found != fault.Adopted {
		t.Errorf("%+v", states)
	}
	if err := os.WriteFile(r.file("go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r.exit(k2, s.Key)
	k2.pid = pid
	r.close(k2)
}

// promise: K3
func TestGraceWithoutDriver(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.o.Exe = append(r.o.Exe, "150ms")
	k, _ := r.attach()
	free, bound := r.bash("free", `echo up; sleep 300`), r.bash("bound", `echo up; sleep 0.6; exit 8`)
	bound.Deadline = time.Minute
	r.spawn(k, free)
	r.spawn(k, bound)
	r.wait("both are up", func() bool { return r.text("free.log")+r.text("bound.log") == "up\nup\n" })
	pid := k.pid
	if err := k.hangUp(); err != nil {
		t.Fatal(err)
	}
	r.wait("the keeper has left", func() bool {
		p, err := look(pid)
		return err != nil || p.zombie
	})
	k2, states := r.attach(free.Key, bound.Key)
	if s := states[free.Key]; s.Found != fault.Harvested || s.Exit.KilledBy != fault.KilledGrace {
		t.Errorf("free: %+v", s)
	}
	if s := states[bound.Key]; s.Found != fault.Harvested || s.Exit.KilledBy != "" || s.Exit.Code != 8 {
		t.Errorf("bound: %+v", s)
	}
	r.close(k2)
	r.close2(pid)
}

func TestKeeperThatCannotStart(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.o.Exe = []string{"/no/such/keeper"}
	if _, _, err := Attach(context.Background(), r.o, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no program: %v", err)
	}
	r = newRig(t)
	r.o.Exe[3] = r.file("none/k.sock")
	if _, _, err := Attach(context.Background(), r.o, nil); err == nil || !strings.Contains(err.Error(), "it said: listen") {
		t.Errorf("no socket: %v", err)
	}
}

// What was concluded from a reboot is concluded once: the new keeper is of this
// boot, and a driver that died in between must be told the same.
// promise: K4
func TestLostByRebootStaysLost(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	line := `{"keeper":{"pid":7,"start":8,"boot":"an earlier one"},"epoch":1}` + "\n" + `{"birth":"torn`
	if err := os.WriteFile(r.file(ledgerName), []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	r.o.Epoch = 2
	for range 2 {
		k, states := r.attach(r.key("a"))
		if states[r.key("a")].Found != fault.Lost {
			t.Errorf("%+v", states)
		}
		r.close(k)
	}
	if n := strings.Count(r.text(ledgerName), `{"lost"`); n != 1 {
		t.Errorf("%d lost lines", n)
	}
}

// A keeper's line is on disk before any attempt can be open. A log without one
// was lost with all it said, so nothing can be said not to have begun; and what
// is left of the run is ended all the same.
// promise: K2
// promise: K4
func TestLostLogIsNoProof(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(string) error{
		"removed": os.Remove,
		"emptied": func(path string) error { return os.Truncate(path, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			k, _ := r.attach()
			r.spawn(k, r.bash("a", `echo $$ > pids; sleep 300`))
			ids := r.pids("pids", 1)
			if err := syscall.Kill(k.pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			r.close(k)
			if err := damage(r.file(ledgerName)); err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second time the log is a new one
				k, states := r.attach(r.key("a"), r.key("b"))
				r.gone(ids)
				for key, st := range states {
					if st.Found != fault.Lost {
						t.Errorf("%s: %+v", key, st)
					}
				}
				r.close(k)
			}
		})
	}
}

// More exits than fit into one answer are harvested all the same.
// promise: K2
func TestLongHarvestOfManyBigOutputs(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	r := newRig(t)
	k, _ := r.attach()
	const many = 720 // each takes about 24 KiB of the answer
	r.spawn(k, r.bash("long", `while [ ! -e go ]; do sleep 0.2; done`))
	open := []belay.Key{r.key("long")}
	for i := range many {
		s := Spawn{Key: r.key("s" + itoa(i)), Argv: []string{"head", "-c", itoa(belay.MaxInline), "/dev/zero"}, Dir: r.dir}
		s.Out = r.file("s.out")
		open = append(open, s.Key)
		r.do(k, s)
	}
	pid := k.pid
	if err := k.hangUp(); err != nil {
		t.Fatal(err)
	}
	r.o.silence = time.Minute // that all of it comes is what is looked at
	k2, states := r.attach(open...)
	for _, key := range open[1:] {
		if s := states[key]; s.Found != fault.Harvested || len(s.Exit.OutInline) != belay.MaxInline {
			t.Fatalf("%s: %s", key, s.Found)
		}
	}
	if states[open[0]].Found != fault.Adopted {
		t.Errorf("long: %+v", states[open[0]])
	}
	r.touch("go")
	r.exit(k2, open[0])
	k2.pid = pid
	r.close(k2)
}
