package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

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

// driverLog is the file, in the folder of a run, with what the last driver said
// that a watch started.
const driverLog = "watch.log"

// maxLastLine is how much of a driver's last words is kept.
const maxLastLine = 300

// start starts a driver for a run in a session of its own, as belay resume does.
func (d drivers) start(a *app, ws *workshop, id belay.RunID) error {
	path := filepath.Join(string(ws.state.Folder(id)), driverLog)
	out, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	cmd := a.driverCommand(ws, id, "--unattended")
	cmd.Stdout, cmd.Stderr = out, out
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
			ends = append(ends, driverEnd{v.run, fmt.Sprintf("exit %d: %s", code, lastLine(v.out))})
		}
		_ = errors.Join(v.out.Close(), v.cmd.Process.Release()) // it was only read, and the process is gone
		delete(d, pid)
	}
	return ends
}

// lastLine is the last line of a file.
func lastLine(f *os.File) string {
	size, err := f.Seek(0, 2)
	if err != nil {
		return ""
	}
	buf := make([]byte, min(size, 4<<10))
	n, _ := f.ReadAt(buf, size-int64(len(buf))) // as much as there is
	text := bytes.TrimSpace(buf[:n])
	if i := bytes.LastIndexByte(text, '\n'); i >= 0 {
		text = text[i+1:]
	}
	return readable.Cut(readable.Clean(string(text)), maxLastLine)
}
