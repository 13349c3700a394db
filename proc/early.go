package proc

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
)

// Early is the process of a keeper that was started before its driver needs it: it
// waits for a line on its standard input and has touched nothing until that comes. When
// the input ends instead, because its starter does not want it or is dead, it leaves.
type Early struct {
	pid   int
	begin *os.File // its standard input
	says  *os.File // its standard output
	used  bool
}

// oneThread lets a keeper begin with what it sets itself otherwise, which stops
// and starts its world. Its attempts have an environment of their own.
const oneThread = "GOMAXPROCS=1"

// StartEarly starts the process of a keeper in a session of its own.
func StartEarly(o Options) (e *Early, err error) {
	var files [4]*os.File // its input and output: each end for it, and ours
	defer func() {
		for i, f := range files {
			if f != nil && (err != nil || i < 2) {
				_ = f.Close() // nothing was written
			}
		}
		if err != nil {
			err = fmt.Errorf("start keeper: %w", err)
		}
	}()
	if files[0], files[2], err = os.Pipe(); err != nil {
		return nil, err
	}
	if files[3], files[1], err = os.Pipe(); err != nil {
		return nil, err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	pid, err := syscall.ForkExec(o.Exe[0], o.Exe, &syscall.ProcAttr{
		Dir: o.Dir, Env: append(os.Environ(), oneThread), Files: []uintptr{files[0].Fd(), files[1].Fd(), null.Fd()},
		Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Exe[0], err)
	}
	return &Early{pid: pid, begin: files[2], says: files[3]}, nil
}

// Drop lets the process leave that nobody wants. One that was used is somebody else's.
func (e *Early) Drop() {
	if e == nil || e.used {
		return
	}
	_ = e.begin.Close() // which tells it
	for until := time.Now().Add(answerWithin); time.Now().Before(until); awaitExit(e.pid, reapEach) {
		if gone, err := reaped(e.pid); gone || err != nil { // one that does not leave is nobody's parent, and is left
			break
		}
	}
	_ = e.says.Close() // it was only read
}

// ready tells the process to begin and waits until it says that it did.
func (e *Early) ready(ctx context.Context) error {
	e.used = true
	defer e.says.Close()
	_, _ = e.begin.WriteString(sayBegin + "\n")                                       // one that is gone says nothing either
	_ = e.begin.Close()                                                               // so too here
	stop := context.AfterFunc(ctx, func() { _ = e.says.SetReadDeadline(time.Now()) }) // closed when it is too late
	defer stop()
	line, err := bufio.NewReader(e.says).ReadString('\n')
	if word := strings.TrimSpace(line); err == nil && word == sayReady {
		return nil
	}
	return startError(ctx, line, err)
}

// wanted waits for the word to begin. Who started a keeper without a pipe wants it at once.
func wanted(in *os.File) bool {
	info, err := in.Stat()
	if err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return true
	}
	n, _ := in.Read(make([]byte, len(sayBegin)+1)) // the end is an answer, too
	return n > 0
}
