package temporal_test

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"

	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/belaytest/scratch"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/cli"
	"github.com/belay-run/belay/internal/library"
	"github.com/belay-run/belay/internal/step"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/temporal"
	"github.com/belay-run/belay/temporal/shown"
)

// TestMain is also every other program of a run: worker, keeper, attendant and
// agent, and a step that is a run of its own.
func TestMain(m *testing.M) {
	ctx, name := context.Background(), ""
	if len(os.Args) > 1 {
		name = os.Args[1]
	}
	switch name {
	case "keeper", "attend", "mergeback", "check", "nsinit", string(agent.Scripted):
		std := cli.Streams{Out: os.Stdout, Err: os.Stderr}
		os.Exit(exit.Code(cli.Main(ctx, std, os.Args[1:], os.Environ(), cli.Program{Version: "test"})))
	case "work":
		os.Exit(ending(0, work(ctx)))
	case "nest":
		os.Exit(ending(nest(ctx, os.Args[2], os.Args[3])))
	}
	flag.Parse()
	if err := scratch.SideBySide(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	stopServer()
	os.Exit(code)
}

// ending is the exit code of a program.
func ending(code int, err error) int {
	if err == nil {
		return code
	}
	fmt.Fprintln(os.Stderr, err)
	return exit.Code(err)
}

// place is where the files of a host and a client lie.
type place struct {
	Server, Host, State, Client, Agents, Blobs, Shelf, Who string
	Workflows                                              string // the queue of them; "" = its own
	Every                                                  int
	Limit                                                  int64
}

func (p place) queue() string { return cmp.Or(p.Workflows, "belay-"+p.Host) }

// script is the file that an agent plays.
func (p place) script(name string) string { return filepath.Join(p.Agents, name+".yaml") }

func (p place) dial() (client.Client, error) {
	return client.Dial(client.Options{HostPort: p.Server, DataConverter: temporal.Codec{Dir: p.Blobs}.Converter(), Logger: quiet{}})
}

// quiet is a log of the SDK that only says what is wrong.
type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(msg string, kv ...any) {
	if os.Getenv("TEST_LOUD") != "" {
		fmt.Fprintln(os.Stderr, append([]any{"warn:", msg}, kv...)...)
	}
}
func (q quiet) Error(msg string, kv ...any) { q.Warn(msg, kv...) }

var _ sdklog.Logger = quiet{}

// open is an engine in an environment. Whoever opens it closes its state.
func (p place) open(dir string, env []string) (*engine.Local, error) {
	state, err := journal.OpenState(dir)
	if err != nil {
		return nil, err
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, errors.Join(err, state.Close())
	}
	return &engine.Local{
		State: state, Keeper: []string{exe, "keeper"}, Version: "test", Env: env,
		Limits: step.Limits{MaxLog: 1 << 20, MaxOut: cmp.Or(p.Limit, 1<<20), Grace: time.Second},
		Host: step.Host{Self: []string{exe}, Find: func(name string) (agent.Agent, error) {
			return agent.Agent{
				Name: name, Kind: agent.Scripted, Program: []string{exe, string(agent.Scripted)},
				Access: agent.AccessEdit, Script: p.script(name),
			}, nil
		}},
	}, nil
}

func readPlace(file string) (p place, err error) {
	b, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(b, &p)
	}
	return p, err
}

// work is a worker, until it is told to end.
func work(ctx context.Context) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM)
	defer stop()
	p, err := readPlace(os.Getenv("TEST_PLACE"))
	if err != nil {
		return err
	}
	c, err := p.dial()
	if err != nil {
		return err
	}
	defer c.Close()
	local, err := p.open(p.State, os.Environ())
	if err != nil {
		return err
	}
	err = temporal.Worker{Client: c, Queue: p.queue(), Host: p.Host, Engine: local, Version: "test", Slots: 64, Codec: temporal.Codec{Dir: p.Blobs}}.Run(ctx, func() {
		_ = os.WriteFile(p.State+".ready", nil, 0o600) // who waits for it says so
	})
	return errors.Join(err, local.State.Close())
}

// nest makes a run inside a step.
func nest(ctx context.Context, file, name string) (int, error) {
	p, err := readPlace(file)
	if err != nil {
		return 0, err
	}
	dir, err := os.Getwd()
	if err != nil {
		return 0, err
	}
	set, err := load(p.Shelf, name, dir)
	if err != nil {
		return 0, err
	}
	state, err := os.MkdirTemp(p.Agents, "nest")
	if err != nil {
		return 0, err
	}
	e, err := p.open(filepath.Join(state, "state"), os.Environ())
	if err != nil {
		return 0, err
	}
	c, err := p.dial()
	if err != nil {
		return 0, errors.Join(err, e.State.Close())
	}
	defer c.Close()
	e.Elsewhere = &temporal.Engine{Client: c, Queue: p.queue(), Host: p.Host, Every: p.Every}
	open, err := e.Create(engine.Spec{Set: set, Dir: dir, Vars: map[string]json.RawMessage{}, Agent: p.Who, Agents: p.Who != ""})
	if err != nil {
		return 0, errors.Join(err, e.State.Close())
	}
	res, err := open.Drive(ctx, nil, nil)
	return res.Code, errors.Join(err, open.Close(), e.State.Close())
}

// load reads a recipe with all it calls.
func load(shelf, name, dir string) (*library.Set, error) {
	set, err := library.Shelf{Work: dir}.Load(filepath.Join(shelf, name+".yaml"))
	if err == nil && set.Errors() {
		err = errors.New(set.Text())
	}
	return set, err
}

// server is the Temporal server of all tests: BELAY_TEMPORAL_SERVER is the program
// that is one (see devserver), or BELAY_TEMPORAL_ADDRESS one that runs already.
var server struct {
	once sync.Once
	addr string
	cmd  *exec.Cmd
	err  error
	dir  string
}

// devServer is the address of a real server. Without one the test is skipped, and
// says what is missing.
func devServer(t *testing.T) string {
	t.Helper()
	if addr := os.Getenv("BELAY_TEMPORAL_ADDRESS"); addr != "" {
		return addr
	}
	program := os.Getenv("BELAY_TEMPORAL_SERVER")
	if program == "" {
		shown.Not(t, "no Temporal server: build devserver and name it with BELAY_TEMPORAL_SERVER, or run make test-temporal")
	}
	server.once.Do(func() { server.addr, server.cmd, server.dir, server.err = startServer(program, "", 0) })
	if server.err != nil {
		t.Fatal(server.err)
	}
	return server.addr
}

// startServer starts a server; dir and port are those of one that was killed.
func startServer(program, dir string, port int) (addr string, cmd *exec.Cmd, in string, err error) {
	if dir == "" {
		if dir, err = os.MkdirTemp("", "temporal"); err != nil {
			return "", nil, "", err
		}
	}
	if port == 0 {
		port = freePorts()
	}
	cmd = exec.Command(program, "-db", filepath.Join(dir, "temporal.db"), "-port", fmt.Sprint(port))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, dir, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, dir, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	addr, ok := strings.CutPrefix(strings.TrimSpace(line), "ready ")
	if err != nil || !ok {
		return "", cmd, dir, fmt.Errorf("the server did not start: %q %w", line, errors.Join(err, cmd.Process.Kill()))
	}
	return addr, cmd, dir, nil
}

// freePorts is the first of eight ports that nobody listens at, below those that the
// system gives away by itself.
func freePorts() int {
	for {
		port := 20000 + rand.IntN(1200)*8
		free := true
		for i := range 8 {
			l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port+i))
			if free = err == nil; !free {
				break
			}
			_ = l.Close() // nobody has connected
		}
		if free {
			return port
		}
	}
}

func stopServer() {
	if server.cmd == nil {
		return
	}
	_ = server.cmd.Process.Kill() // nothing of it is wanted any more
	_ = server.cmd.Wait()         // it was killed
	_ = os.RemoveAll(server.dir)  // in a directory for such things
}
