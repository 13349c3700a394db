package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// temporalPlace is a Temporal server with Belay's worker, a bare worker, and the program
// that gives both their work: all of them processes.
type temporalPlace struct {
	*bench
	started []*exec.Cmd // they end in the opposite order
	in      interface{ Write([]byte) (int, error) }
	out     *bufio.Scanner
}

// temporalSlots is how many attempts each of the two workers makes at the same time.
const temporalSlots = 200

// up builds and starts all of it, and has each worker make a run, so that what is
// measured later began before.
func (t *temporalPlace) up() error {
	server, err := t.built()
	if err != nil {
		return err
	}
	port := freeEight()
	address, slots := fmt.Sprintf("127.0.0.1:%d", port), fmt.Sprint(temporalSlots)
	_, out, err := t.begin(server, "-db", filepath.Join(t.dir, "temporal.db"), "-port", fmt.Sprint(port))
	if err != nil {
		return err
	}
	if !out.Scan() || !strings.HasPrefix(out.Text(), "ready") {
		return errors.New("the server did not start")
	}
	_, _, err = t.begin(filepath.Join(t.dir, "belay-temporal"), "--state", filepath.Join(t.dir, "host"), "--quiet",
		"worker", "--address", address, "--task-queue", "pace", "--host", "pace", "--slots", slots)
	if err != nil {
		return err
	}
	pace := filepath.Join(t.dir, "pace")
	if _, _, err = t.begin(pace, "-work", "-address", address, "-slots", slots); err != nil {
		return err
	}
	if t.in, t.out, err = t.begin(pace, "-address", address, "-state", filepath.Join(t.dir, "client")); err != nil {
		return err
	}
	file, err := t.recipe("temporal-first", 1, `command: "true"`)
	if err != nil {
		return err
	}
	_, err = t.order("belay %s 1 1", file)
	if err == nil {
		_, err = t.order("bare noop 1 1")
	}
	return err
}

// built is the program of the server. All programs of the module temporal are built here.
func (t *temporalPlace) built() (server string, err error) {
	build := func(dir, what, to string) error {
		cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", filepath.Join(t.dir, to), what)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", to, err, out)
		}
		return nil
	}
	module := filepath.Join("..", "temporal")
	err = errors.Join(build(module, "./cmd/belay-temporal", "belay-temporal"), build(module, "./cmd/pace", "pace"))
	if server = os.Getenv("BELAY_TEMPORAL_SERVER"); server == "" && err == nil {
		server, err = filepath.Join(t.dir, "devserver"), build(filepath.Join(module, "devserver"), ".", "devserver")
	}
	return server, err
}

// begin starts a program.
func (t *temporalPlace) begin(program string, args ...string) (interface{ Write([]byte) (int, error) }, *bufio.Scanner, error) {
	c := exec.Command(program, args...)
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		return nil, nil, fmt.Errorf("start %s: %w", program, err)
	}
	t.started = append(t.started, c)
	return in, bufio.NewScanner(out), nil
}

// end ends what was started, and keepers with it: runs that have ended have none.
func (t *temporalPlace) end() {
	for i := len(t.started) - 1; i >= 0; i-- {
		c := t.started[i]
		_ = c.Process.Signal(syscall.SIGTERM) // what it made is thrown away
		kill := time.AfterFunc(10*time.Second, func() { _ = c.Process.Kill() })
		_ = c.Wait() // it was told to end
		kill.Stop()
	}
}

// order has pace measure something.
func (t *temporalPlace) order(format string, args ...any) (m paced, err error) {
	if _, err := fmt.Fprintf(t.in, format+"\n", args...); err != nil {
		return m, err
	}
	if !t.out.Scan() {
		return m, fmt.Errorf("pace ended: %s", fmt.Sprintf(format, args...))
	}
	return m, json.Unmarshal(t.out.Bytes(), &m)
}

// freeEight is the first of eight ports that nobody listens at.
func freeEight() int {
	for {
		port, free := 20000+rand.IntN(1200)*8, true
		for i := range 8 {
			l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port+i))
			if free = free && err == nil; err == nil {
				_ = l.Close() // nobody has connected
			}
		}
		if free {
			return port
		}
	}
}
