package proc

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A keeper's process that is there before it is needed has touched nothing until a
// driver attaches, and is the keeper then.
func TestEarlyKeeper(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	e, err := StartEarly(r.o)
	if err != nil {
		t.Fatal(err)
	}
	r.wait("it runs as a keeper", func() bool { return waits(e.pid, "as-keeper") })
	r.untouched()
	r.o.Early = e
	k, _ := r.attach()
	if k.pid != e.pid || r.keeper().Pid != e.pid {
		t.Errorf("the keeper is %d and %d, and %d was started early", k.pid, r.keeper().Pid, e.pid)
	}
	e.Drop() // it is used: that ends nothing
	if x := r.do(k, r.bash("a", "exit 4")); x.Code != 4 {
		t.Errorf("%+v", x)
	}
	r.close(k)
	k, _ = r.attach() // what is used up is not used again
	if k.pid == e.pid {
		t.Error("a keeper that left is the keeper again")
	}
	r.close(k)
}

// One that nobody wants leaves, and so does one whose starter is killed.
func TestEarlyKeeperLeaves(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	e, err := StartEarly(r.o)
	if err != nil {
		t.Fatal(err)
	}
	e.Drop()
	if _, err := look(e.pid); !errors.Is(err, ErrGone) {
		t.Errorf("it was dropped and is there: %v", err)
	}
	r.untouched()

	driver := exec.Command(r.o.Exe[0], append([]string{"as-early"}, r.o.Exe...)...)
	out, err := driver.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := driver.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := driver.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	pid, bad := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || bad != nil {
		t.Fatal(line, err, bad)
	}
	r.wait("it runs as a keeper", func() bool { return waits(pid, "as-keeper") })
	if err := driver.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = driver.Wait() // it was killed
	r.close2(pid)
	r.untouched()
}

// untouched fails when something is in the folder.
func (r *rig) untouched() {
	r.t.Helper()
	entries, err := os.ReadDir(r.dir)
	if err != nil || len(entries) > 0 {
		r.t.Errorf("in the folder of a keeper that nobody wants yet: %v, %v", entries, err)
	}
}

// waits tells whether a process has come to its program and sleeps.
func waits(pid int, word string) bool {
	argv, err := commandLine(pid)
	return err == nil && len(argv) > 1 && argv[1] == word
}

// earlyRole starts a keeper early, says which process it is, and waits to be killed.
func earlyRole(exe []string) error {
	e, err := StartEarly(Options{Dir: exe[2], Socket: exe[3], Exe: exe})
	if err != nil {
		return err
	}
	fmt.Println(e.pid)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	context.AfterFunc(ctx, func() { os.Exit(1) }) // nothing that passes waits for it
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}
