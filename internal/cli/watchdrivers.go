package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/readable"
)

// drivers are the drivers that a watch has started and that have not ended. They
// outlive it.
type drivers map[int]driver

type driver struct {
	run belay.RunID
	cmd *exec.Cmd
	out *os.File
}

// driverEnd is how a driver ended.
type driverEnd struct {
	run belay.RunID
	how string
}

// maxLastLine is how much of a driver's last words is kept.
const maxLastLine = 300

// start starts a driver for a run in a session of its own, as belay resume does.
func (d drivers) start(a *app, ws *workshop, id belay.RunID) error {
	cmd, out, err := a.driverCommand(ws, id, "--unattended")
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return errors.Join(err, out.Close())
	}
	d[cmd.Process.Pid] = driver{id, cmd, out}
	return nil
}

// starting tells whether a driver of a run is there: it may not have said so yet.
func (d drivers) starting(id belay.RunID) bool {
	for _, v := range d {
		if v.run == id {
			return true
		}
	}
	return false
}

// ended are the drivers that ended since the last call, with those left out that
// say nothing of the next try: they did what they should, another was there
// first, or they were killed.
func (d drivers) ended() (ends []driverEnd) {
	for pid, v := range d {
		var ws unix.WaitStatus
		if got, err := unix.Wait4(pid, &ws, unix.WNOHANG, nil); got != pid && !errors.Is(err, unix.ECHILD) {
			continue
		}
		switch code := ws.ExitStatus(); code {
		case exit.OK, exit.Busy, exit.Held, exit.Window, -1:
		default:
			ends = append(ends, driverEnd{v.run, fmt.Sprintf("exit %d: %s", code, lastWords(v.out))})
		}
		_ = errors.Join(v.out.Close(), v.cmd.Process.Release()) // it was only read, and the process is gone
		delete(d, pid)
	}
	return ends
}

// lastWords is the last error that a driver told in a file, or its last line.
func lastWords(f *os.File) string {
	size, err := f.Seek(0, 2)
	if err != nil {
		return ""
	}
	buf := make([]byte, min(size, 4<<10))
	n, _ := f.ReadAt(buf, size-int64(len(buf))) // as much as there is
	lines := strings.Split(strings.TrimSpace(string(buf[:n])), "\n")
	text := lines[len(lines)-1]
	for _, line := range lines {
		if what, ok := strings.CutPrefix(line, "belay: error: "); ok {
			text = what
		}
	}
	return readable.Cut(readable.Clean(text), maxLastLine)
}
