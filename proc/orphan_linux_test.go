package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay"
)

// childrenOf counts the children of a process, the dead ones among them.
func childrenOf(t *testing.T, pid int) int {
	t.Helper()
	all, err := processes()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, p := range all {
		if p.ppid == pid {
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
	// On a busy machine an orphan may still be about to sleep: it is a stray then.
	r.wait("only the step itself is left", func() bool { return childrenOf(t, k.pid) == 1 })
	r.touch("go")
	if e := r.exit(k, long.Key); e.Code != 7 || e.Strays != 0 {
		t.Errorf("%+v", e)
	}
	r.close(k)
}

// orphanRole is a driver whose keeper dies: it attaches again and leaves the
// new keeper to whoever comes.
func orphanRole(args []string) error {
	if err := BecomeSubreaper(); err != nil {
		return err
	}
	dir, socket, exe, run := args[0], args[1], args[2], belay.RunID(args[3])
	o := Options{Dir: dir, Socket: socket, Exe: []string{exe, "as-keeper", dir, socket}, Run: run, Epoch: 1, Env: os.Environ()}
	k, _, err := Attach(context.Background(), o, nil)
	if err != nil {
		return err
	}
	s := Spawn{Key: belay.KeyOf(run, "a", belay.RoleMain, 1), Argv: []string{"bash", "-c", args[4]}, Dir: dir}
	if err := k.Spawn(s); err != nil {
		return err
	}
	for e := range k.Events() { // the test kills the keeper
		if e.Exit != nil {
			return fmt.Errorf("the step ended: %+v", e.Exit)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := k.Close(ctx); err != nil {
		return err
	}
	o.Epoch, o.Orphans = 2, len(args) > 5
	k, states, err := Attach(ctx, o, []belay.Key{s.Key})
	if err != nil {
		return err
	}
	pids, err := children()
	fmt.Println(states[s.Key].Found, "and", len(pids), "children")
	return errors.Join(err, k.Close(ctx))
}

// With the keeper dead and its driver alive, what shed every mark is the
// driver's own child: it is ended before anything new is born, deaf or not,
// and with all that is below it.
// promise: K4
// promise: K5
func TestOrphansOfADeadKeeperAreEnded(t *testing.T) {
	t.Parallel()
	const script = `(env -i setsid bash -c 'trap "" TERM; (sleep 300 & echo $! > b); setsid sleep 300 & echo $$ $! $(cat b) > p; mv p pids; exec sleep 300' >/dev/null 2>&1 &); sleep 300`
	for _, asked := range []bool{true, false} {
		r := newRig(t)
		exe := r.o.Exe[0]
		args := []string{"as-orphan", r.dir, r.o.Socket, exe, string(r.o.Run), script}
		if asked {
			args = append(args, "orphans")
		}
		driver := exec.Command(exe, args...)
		var said, talk strings.Builder
		driver.Stdout, driver.Stderr = &said, &talk
		if err := driver.Start(); err != nil {
			t.Fatal(err)
		}
		ids := r.pids("pids", 3)
		if err := syscall.Kill(r.keeper().Pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if err := driver.Wait(); err != nil {
			t.Fatalf("%v: %s", err, talk.String())
		}
		for _, id := range ids {
			if id.Alive() == asked { // a process with other children of its own does not ask
				t.Errorf("asked %t: process %d is alive: %t", asked, id.Pid, asked)
			}
			_ = id.Signal(syscall.SIGKILL) // seen above
		}
		if got := said.String(); asked && got != "lost and 1 children\n" { // the new keeper
			t.Errorf("it said %q", got)
		}
	}
}

// The caller waits for a dying keeper until it is dead as a whole, and leaves
// the reaping to its starter; it does not wait for what is not its child.
func TestAwaitDeparture(t *testing.T) {
	t.Parallel()
	pid, err := syscall.ForkExec("/bin/sleep", []string{"sleep", "0.1"}, &syscall.ProcAttr{})
	if err != nil {
		t.Fatal(err)
	}
	id, err := Identify(pid)
	if err != nil {
		t.Fatal(err)
	}
	awaitDeparture(id)
	if p, err := look(pid); err != nil || !p.zombie {
		t.Errorf("%+v %v", p, err)
	}
	if _, err := syscall.Wait4(pid, nil, 0, nil); err != nil {
		t.Errorf("its exit was taken: %v", err)
	}
	began := time.Now()
	awaitDeparture(id)
	parent, err := Identify(os.Getppid())
	if err != nil {
		t.Fatal(err)
	}
	awaitDeparture(parent)
	if took := time.Since(began); took > killPatience/2 {
		t.Errorf("it waited %s for nothing", took)
	}
}
