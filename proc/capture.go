package proc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// Capture runs a command and hands on what is printed until its end: all of it,
// also when nobody came to read for a while because the machine stood still. A
// child that goes its own way with the pipe is heard a moment longer, and not
// waited for; it changes nothing about how the command ended. A nil talk is out.
func Capture(cmd *exec.Cmd, late time.Duration, out, talk io.Writer) error {
	var ours, theirs []*os.File
	defer func() {
		for _, f := range append(ours, theirs...) {
			_ = f.Close() // what was in it was read
		}
	}()
	for range 2 {
		r, w, err := os.Pipe()
		if err != nil {
			return fmt.Errorf("make a pipe: %w", err)
		}
		ours, theirs = append(ours, r), append(theirs, w)
		if talk == nil {
			break
		}
	}
	cmd.Stdout, cmd.Stderr = theirs[0], theirs[len(theirs)-1]
	cmd.WaitDelay = max(late, 1) // for its input, when it does not read that
	if err := cmd.Start(); err != nil {
		return err
	}
	for _, w := range theirs {
		_ = w.Close() // the command has its own
	}
	theirs = nil
	var pumps sync.WaitGroup
	for i, to := range []io.Writer{out, talk}[:len(ours)] {
		pumps.Go(func() { carry(ours[i], to) })
	}
	err := cmd.Wait()
	for _, r := range ours {
		_ = r.SetReadDeadline(time.Now().Add(late)) // a pipe has deadlines
	}
	pumps.Wait()
	if errors.Is(err, exec.ErrWaitDelay) {
		return nil
	}
	return err
}

// carry reads until the last writer is gone or the time is over, and then what
// lies there.
func carry(r *os.File, to io.Writer) {
	buf := make([]byte, pumpSize)
	write := func(b []byte) { _, _ = to.Write(b) } // who keeps it keeps its own faults
	for {
		n, err := r.Read(buf)
		write(buf[:n])
		if errors.Is(err, os.ErrDeadlineExceeded) {
			Rest(r, buf, write)
		}
		if err != nil {
			return
		}
	}
}
