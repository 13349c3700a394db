package proc

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/internal/failpoint"
)

// attempt is one started program, from its birth to its written exit.
type attempt struct {
	s       Spawn
	child   child
	started time.Time
	out     *output
	pipes   []*os.File // read ends
	pumps   sync.WaitGroup

	// Under the keeper's lock.
	why    fault.KilledBy
	killAt time.Time // when its grace ends; zero: nobody ended it
	ending bool      // the leader was seen to have ended
	reaped bool
	timers []*time.Timer
	groups map[int]bool // process groups and sessions known to be its own
	strays map[int]bool // pids that were ended after the leader
}

// birth writes the birth line and forks. An exit is given at once when nothing
// began. The caller holds mu.
func (k *keeper) birth(s *Spawn) (*attempt, *Exit) {
	if s.Grace <= 0 {
		s.Grace = DefaultGrace
	}
	a := &attempt{s: *s, started: time.Now().UTC(), out: newOutput(s), groups: map[int]bool{}, strays: map[int]bool{}}
	k.live[s.Key] = a
	failpoint.Hit("keeper.before_birth")
	if k.begun != nil {
		if err := k.begun(); err != nil {
			return a, a.unborn(fault.Disk, fmt.Errorf("begin keeper log: %w", err))
		}
	}
	if err := k.ledger.add(birthLine{Birth: s.Key}, s.Sync); err != nil {
		return a, a.unborn(fault.Disk, err)
	}
	failpoint.Hit("keeper.after_birth")
	if bad, err := k.start(a); err != nil {
		return a, a.unborn(bad, err)
	}
	k.leaders[a.child.pid] = a
	for _, other := range k.live {
		delete(other.groups, a.child.pid) // the number was free: it means this group now
	}
	a.groups[a.child.pid] = true
	a.timers = append(a.timers, time.AfterFunc(notShort, func() { k.identify(a) }))
	if s.Deadline > 0 {
		a.timers = append(a.timers, time.AfterFunc(s.Deadline, func() { k.end(a, fault.KilledDeadline, 0) }))
	}
	k.reapSoon()
	k.work.Go(func() { k.accompany(a) })
	return a, nil
}

func (a *attempt) unborn(f fault.Fault, err error) *Exit {
	var began *unwatched
	return &Exit{
		Key: a.s.Key, Code: noCode, Began: errors.As(err, &began), Fault: f, Detail: err.Error(),
		Started: a.started, Ended: time.Now().UTC(),
	}
}

// start makes the pipes and forks.
func (k *keeper) start(a *attempt) (fault.Fault, error) {
	if len(a.s.Argv) == 0 {
		return fault.Input, errors.New("no program is named")
	}
	env := k.env.with(a.s.Env, a.s.Key)
	for _, list := range [][]string{a.s.Argv, env} {
		for _, text := range list {
			if strings.IndexByte(text, 0) >= 0 {
				return fault.Input, errors.New("an argument or variable holds a NUL byte")
			}
		}
	}
	path, err := k.env.find(a.s.Argv[0], env)
	if err != nil {
		return fault.Program, err
	}
	ends, err := k.openPipes(a)
	if err == nil {
		files := []uintptr{k.null.Fd(), uintptr(ends[0]), uintptr(ends[len(ends)-1])}
		a.child, err = startChild(path, a.s.Argv, env, a.s.Dir, files)
	}
	for _, fd := range ends {
		_ = syscall.Close(fd) // the child has its own
	}
	if err != nil {
		for _, r := range a.pipes {
			_ = r.Close() // nothing was ever written to it
		}
		return faultOf(err, a.s.Dir)
	}
	k.startPumps(a)
	return fault.None, nil
}

// openPipes makes one pipe for both streams when nothing tells them apart, so
// that the log has them in the order they were written; two when standard
// output is wanted, or when a secret must be found in each by itself.
func (k *keeper) openPipes(a *attempt) ([]int, error) {
	n := 1
	if a.s.Out != "" || len(a.s.Mask) > 0 {
		n = 2
	}
	var ends []int
	for range n {
		r, w, err := pipe()
		if err != nil {
			return ends, err
		}
		a.pipes = append(a.pipes, r)
		ends = append(ends, w)
	}
	return ends, nil
}

func (k *keeper) startPumps(a *attempt) {
	for i, r := range a.pipes {
		var w io.WriteCloser = sink{o: a.out, std: i == 0}
		if k.o.Filter != nil {
			w = k.o.Filter(a.s.Mask, w)
		}
		if i == 0 {
			a.out.door = w
		}
		a.pumps.Go(func() { k.pump(r, w) })
	}
}

// pump carries one stream until its last writer is gone or its time is over.
func (k *keeper) pump(r *os.File, w io.WriteCloser) {
	buf := k.buffers.Get().(*[]byte)
	defer k.buffers.Put(buf)
	write := func(b []byte) { _, _ = w.Write(b) } // a sink takes everything and keeps its own faults
	for {
		n, err := r.Read(*buf)
		write((*buf)[:n])
		if errors.Is(err, os.ErrDeadlineExceeded) {
			Rest(r, *buf, write)
		}
		if err != nil {
			break
		}
	}
	_ = w.Close() // as above
	_ = r.Close() // nothing was written to it
}

// faultOf sorts the error of a fork by its number, and names the working
// directory where it is to blame: the fork itself does not tell.
func faultOf(err error, dir string) (fault.Fault, error) {
	var began *unwatched
	if errors.As(err, &began) {
		return fault.Spawn, err
	}
	if dirErr := enterable(dir); dirErr != nil {
		return fault.Dir, fmt.Errorf("working directory %s: %w", dir, dirErr)
	}
	switch {
	case errors.Is(err, syscall.E2BIG):
		return fault.TooBig, err
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.EACCES), errors.Is(err, syscall.ENOEXEC),
		errors.Is(err, syscall.EPERM), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ELOOP):
		return fault.Program, err
	}
	return fault.Spawn, err
}

// enterable tells why a folder cannot be a working directory.
func enterable(dir string) error {
	if dir == "" {
		return nil
	}
	var st unix.Stat_t
	if err := unix.Stat(dir, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return syscall.ENOTDIR
	}
	return unix.Access(dir, unix.X_OK)
}

// identify writes who the attempt is, when it lives long enough to be looked for.
func (k *keeper) identify(a *attempt) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if a.ending {
		return
	}
	p, err := look(a.child.pid)
	if err != nil {
		return // it is unreaped, so this is the system's trouble, not its
	}
	_ = k.ledger.add(pidLine{Pid: p.pid, Start: p.start, Key: a.s.Key}, false) // for people; nothing decides on it
}

// accompany waits for the leader, ends what it left behind, and records.
func (k *keeper) accompany(a *attempt) {
	_ = a.child.await() // on an error the reaping below waits instead
	exit := k.bury(a)
	grace := a.s.Grace
	if exit.Code == 0 {
		grace = afterGood
	}
	if !a.killAt.IsZero() {
		grace = max(time.Until(a.killAt), 0)
	}
	k.clear(a, exit, grace)
	a.drain()
	a.out.settle(exit)
	k.record(a, exit)
}

// bury tells the group to end while the dead leader still pins its number, then
// reaps the leader.
func (k *keeper) bury(a *attempt) *Exit {
	k.mu.Lock()
	defer k.mu.Unlock()
	a.ending = true
	for _, t := range a.timers {
		t.Stop()
	}
	exit := &Exit{Key: a.s.Key, Pid: a.child.pid, Began: true, Started: a.started, Ended: time.Now().UTC(), KilledBy: a.why}
	_ = syscall.Kill(-a.child.pid, syscall.SIGTERM) // mostly nobody is left to hear it
	_ = syscall.Kill(-a.child.pid, syscall.SIGCONT) // a stopped one would not hear it
	var status syscall.WaitStatus
	var usage syscall.Rusage
	for {
		_, err := syscall.Wait4(a.child.pid, &status, 0, &usage)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil {
			exit.Fault, exit.Detail, exit.Code = fault.Spawn, "reap: "+err.Error(), noCode
		}
		break
	}
	a.reaped = true
	delete(k.leaders, a.child.pid)
	a.child.release()
	if exit.Fault == fault.None {
		fill(exit, status, &usage)
	}
	return exit
}

func fill(e *Exit, status syscall.WaitStatus, usage *syscall.Rusage) {
	e.Code = status.ExitStatus()
	if status.Signaled() {
		e.Signal = int(status.Signal())
		e.Code = 128 + e.Signal
	}
	e.CPUUS = (usage.Utime.Nano() + usage.Stime.Nano()) / int64(time.Microsecond)
	e.RSSKB = peak(usage)
}

// drain waits for the last bytes. Everybody who could write is dead; a pipe
// that stays open was handed to a stranger, and we do not wait for strangers.
func (a *attempt) drain() {
	cut := time.AfterFunc(drainFor, func() {
		for _, r := range a.pipes {
			_ = r.SetReadDeadline(time.Now()) // closed already when its stream ended by itself
		}
	})
	defer cut.Stop()
	a.pumps.Wait()
}

// record writes the exit down, then sends it to the driver of the moment.
func (k *keeper) record(a *attempt, e *Exit) {
	sync := a.s.Sync || e.Ended.Sub(e.Started) > syncAfter
	failpoint.Hit("keeper.before_exit_line")
	where, line := k.write(e, sync)
	failpoint.Hit("keeper.after_exit_line")
	k.mu.Lock()
	k.done[e.Key] = where
	delete(k.live, e.Key)
	driver := k.driver
	k.mu.Unlock()
	if driver != nil && line != nil {
		_ = driver.sendRaw(line) // a driver that hung up finds it in the log
	}
	k.mu.Lock()
	k.leaveIfIdle()
	k.mu.Unlock()
}

// write puts the exit into the log. When the disk refuses, the exit is kept
// here and says so: what cannot be written down must not pass for done.
func (k *keeper) write(e *Exit, sync bool) (place, []byte) {
	line, err := json.Marshal(exitLine{Exit: e})
	if err == nil {
		var at int64
		if at, err = k.ledger.addRaw(line, sync); err == nil {
			return place{at: at, size: len(line)}, line
		}
	}
	e.Fault, e.Detail = fault.Disk, err.Error()
	line, _ = json.Marshal(exitLine{Exit: e}) // on an error there is nothing to send; a hello asks again
	return place{exit: e}, line
}
