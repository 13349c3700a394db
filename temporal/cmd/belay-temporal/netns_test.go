package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/temporal"
	"github.com/belay-run/belay/temporal/shown"
)

// network is a server and workers that each have a network namespace of their own. The
// addresses are known in these namespaces alone.
type network struct {
	t    *testing.T
	id   string
	addr string // of the server
	dir  string
	env  []string
}

const serverIP = "10.231.0.1"

func (n *network) ns(name string) string { return n.id + name }

// ip runs ip; what is wrong is given.
func ip(args ...string) error {
	out, err := exec.Command("ip", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}

// newNetwork makes the namespaces, or skips the test and says what is missing.
func newNetwork(t *testing.T, hosts ...string) *network {
	t.Helper()
	program := os.Getenv("BELAY_TEMPORAL_SERVER")
	if program == "" {
		shown.Not(t, "no Temporal server: build devserver and name it with BELAY_TEMPORAL_SERVER, or run make test-temporal")
	}
	n := &network{t: t, id: fmt.Sprintf("bt%d", os.Getpid()), addr: serverIP + ":7233", dir: t.TempDir()}
	t.Cleanup(func() {
		for _, name := range append([]string{"s"}, hosts...) {
			_ = ip("netns", "del", n.ns(name)) // its links go with it; one that was not made is none
		}
	})
	s := n.ns("s")
	for _, args := range [][]string{{"netns", "add", s}, {"-n", s, "link", "add", "try", "type", "veth", "peer", "name", "tried"}} {
		if err := ip(args...); err != nil {
			shown.Not(t, "this machine makes no network namespaces: %v", err)
		}
	}
	steps := [][]string{{"-n", s, "link", "set", "lo", "up"}, {"-n", s, "addr", "add", serverIP + "/32", "dev", "lo"}}
	for i, name := range hosts {
		h, here, there := n.ns(name), fmt.Sprintf("10.231.%d.1", i+1), fmt.Sprintf("10.231.%d.2", i+1)
		steps = append(steps, [][]string{
			{"netns", "add", h}, {"-n", h, "link", "set", "lo", "up"},
			{"-n", s, "link", "add", "to-" + name, "type", "veth", "peer", "name", "eth0", "netns", h},
			{"-n", s, "addr", "add", here + "/30", "dev", "to-" + name}, {"-n", s, "link", "set", "to-" + name, "up"},
			{"-n", h, "addr", "add", there + "/30", "dev", "eth0"}, {"-n", h, "link", "set", "eth0", "up"},
			{"-n", h, "route", "add", serverIP + "/32", "via", here},
		}...)
	}
	for _, args := range steps {
		if err := ip(args...); err != nil {
			t.Fatal(err)
		}
	}
	none := filepath.Join(n.dir, "none.yaml")
	err := errors.Join(os.WriteFile(none, nil, 0o600), os.WriteFile(filepath.Join(n.dir, "quick.yaml"), []byte("name: quick\nsteps: [{id: q, command: 'true'}]\n"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	n.env = append(os.Environ(), "TEMPORAL_ADDRESS="+n.addr, "BELAY_ENGINE=temporal", "BELAY_TEMPORAL_TASK_QUEUE="+n.id,
		"BELAY_STATE="+filepath.Join(n.dir, "client"), "BELAY_CONFIG="+none, "HOME="+n.dir)
	out := n.start("s", nil, program, "-db", filepath.Join(n.dir, "temporal.db"), "-ip", serverIP)
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.HasPrefix(line, "ready ") {
		t.Fatalf("the server did not start: %q %v", line, err)
	}
	return n
}

// start starts a program in a namespace, for the time of the test.
func (n *network) start(ns string, env []string, args ...string) *os.File {
	n.t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		n.t.Fatal(err)
	}
	cmd := exec.Command("ip", append([]string{"netns", "exec", n.ns(ns)}, args...)...)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(n.env, env...), w, os.Stderr
	if err := cmd.Start(); err != nil {
		n.t.Fatal(err)
	}
	_ = w.Close() // the program has it
	n.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // the test has its answer by now
		_ = cmd.Wait()                          // it was told to end
		_ = r.Close()                           // nobody reads it any more
	})
	return r
}

func (n *network) worker(name string) {
	n.t.Helper()
	n.start(name, []string{"WHERE=" + name}, "belay-temporal", "--state", filepath.Join(n.dir, "host-"+name), "worker", "--host", n.ns(name))
}

// belay runs a command in the server's namespace, and gives what it printed, and its code.
func (n *network) belay(args ...string) (string, int) {
	n.t.Helper()
	return n.run("s", append([]string{"belay-temporal"}, args...)...)
}

func (n *network) run(ns string, args ...string) (string, int) {
	n.t.Helper()
	cmd := exec.CommandContext(n.t.Context(), "ip", append([]string{"netns", "exec", n.ns(ns)}, args...)...)
	cmd.Env = n.env
	out, err := cmd.CombinedOutput()
	var bad *exec.ExitError
	if err != nil && !errors.As(err, &bad) {
		n.t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// link cuts a worker off, or connects it again.
func (n *network) link(name, state string) {
	n.t.Helper()
	if err := ip("-n", n.ns("s"), "link", "set", "to-"+name, state); err != nil {
		n.t.Fatal(err)
	}
}

// until waits for something, and says how long that took.
func (n *network) until(what string, most time.Duration, is func() bool) time.Duration {
	n.t.Helper()
	began := time.Now()
	for !is() {
		if time.Since(began) > most {
			n.t.Fatalf("%s: it never came to that", what)
		}
		time.Sleep(100 * time.Millisecond)
	}
	return time.Since(began)
}

func (n *network) git(dir string, args ...string) {
	n.t.Helper()
	cmd := exec.CommandContext(n.t.Context(), "git", append([]string{"-C", dir, "-c", "user.name=u", "-c", "user.email=u@u"}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		n.t.Fatalf("git %v: %v: %s", args, err, out)
	}
}

// journey is a run whose middle step says where it is alive, and has an effect on the
// world at its end.
type journey struct {
	*network
	id, log string
}

const journeyRecipe = `name: journey
context: {log: none}
steps:
  - {id: before, command: 'echo before >> "$LOG/done"; echo made > made'}
  - id: long
    command: |
      echo "$WHERE $(date +%s%N)" >> "$LOG/began"
      while [ ! -e "$LOG/go" ]; do date +%s%N > "$LOG/alive.$WHERE.new"; mv "$LOG/alive.$WHERE.new" "$LOG/alive.$WHERE"; sleep 0.1; done
      echo "$WHERE" >> "$LOG/effect"
  - {id: after, command: 'grep -q made made; echo after >> "$LOG/done"'}
`

func (n *network) journey(id, lost string) journey {
	n.t.Helper()
	j := journey{n, id, filepath.Join(n.dir, "log-"+id)}
	proj, remote := filepath.Join(n.dir, "proj-"+id), filepath.Join(n.dir, "remote-"+id+".git")
	for _, dir := range []string{j.log, proj, remote} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			n.t.Fatal(err)
		}
	}
	recipe := filepath.Join(n.dir, id+".yaml")
	for file, text := range map[string]string{recipe: journeyRecipe, filepath.Join(proj, "f"): "f\n"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			n.t.Fatal(err)
		}
	}
	n.git(remote, "init", "-q", "--bare")
	n.git(proj, "init", "-q", "-b", "main")
	n.git(proj, "add", ".")
	n.git(proj, "commit", "-q", "-m", "first")
	out, code := n.belay("run", recipe, "-C", proj, "--id", id, "--host", n.ns("a"), "--lost-after", lost, "--snapshots-to", remote, "--set", "log="+j.log, "--detach")
	if code != 0 {
		n.t.Fatalf("start: %d: %s", code, out)
	}
	n.until("the middle of the step", time.Minute, func() bool { return j.read("alive.a") != "" })
	return j
}

func (j journey) read(name string) string {
	b, _ := os.ReadFile(filepath.Join(j.log, name)) // not there: nothing was written
	return strings.TrimSpace(string(b))
}

// lets lets the step go on to its end.
func (j journey) lets() {
	j.t.Helper()
	if err := os.WriteFile(filepath.Join(j.log, "go"), nil, 0o600); err != nil {
		j.t.Fatal(err)
	}
}

// alive is when the step was last seen at work on a worker.
func (j journey) alive(where string) time.Time {
	ns, _ := strconv.ParseInt(j.read("alive."+where), 10, 64) // never: the beginning of time
	return time.Unix(0, ns)
}

// ends waits for the end of the run and gives what show says.
func (j journey) ends() string {
	j.t.Helper()
	var said string
	j.until("the end of "+j.id, 2*time.Minute, func() bool {
		said, _ = j.belay("show", j.id)
		return strings.Contains(said, "ACHIEVED")
	})
	return said
}

// sound checks what must hold of every journey: each effect is there once.
func (j journey) sound(where string) {
	j.t.Helper()
	if got := j.read("effect"); got != where {
		j.t.Errorf("the effect of the step is there as %q, want %q, once", got, where)
	}
	if got := j.read("done"); got != "before\nafter" {
		j.t.Errorf("the other steps did %q", got)
	}
	if said, code := j.belay("audit", j.id); code != 0 {
		j.t.Errorf("audit: %s", said)
	}
}

// TestCutOff has two workers in network namespaces of their own, with state directories
// and checkouts of their own. One is cut off in the middle of a step: for 30 s, and it
// goes on with it; for ever, and the run goes on on the other one. No step is done twice,
// and what comes late is refused.
//
// promise: K1, K4
func TestCutOff(t *testing.T) {
	n := newNetwork(t, "a", "b")
	n.worker("a")
	n.worker("b")

	short := n.journey("short", "2m")
	cut := time.Now()
	n.link("a", "down")
	time.Sleep(30 * time.Second) // that it lasts so long is what is tried
	if time.Since(short.alive("a")) > 10*time.Second {
		t.Error("the step did not go on while its worker was cut off")
	}
	n.link("a", "up")
	healed := time.Now()
	attached := n.until("that worker has the run again", time.Minute, func() bool {
		return strings.Contains(n.records("short"), `"how":"adopted"`)
	})
	short.lets()
	said := short.ends()
	shown.Figure(t, "cut off for %s: found again %s after that; the run ended %s after the cut", healed.Sub(cut).Round(time.Second), attached.Round(time.Second), time.Since(cut).Round(time.Second))
	if strings.Contains(said, "lost") || strings.Count(short.read("began"), "\n") != 0 {
		t.Errorf("the step was begun again:\n%s\n%s", short.read("began"), said)
	}
	short.sound("a")

	long := n.journey("long", "20s")
	cut = time.Now()
	n.link("a", "down")
	began := n.until("the step begins on the other worker", 3*time.Minute, func() bool { return long.read("alive.b") != "" })
	last, first := long.alive("a"), born(long.read("began"), "b")
	shown.Figure(t, "cut off for ever: its last sign %s after that, begun elsewhere %s after that", last.Sub(cut).Round(100*time.Millisecond), began.Round(100*time.Millisecond))
	if !last.Before(first) {
		t.Errorf("the step was alive on the first worker at %s, and begun on the other one at %s", last, first)
	}
	n.link("a", "up")
	healed = time.Now()
	late, code := "", 0
	n.until("the first worker's namespace reaches the server", time.Minute, func() bool { // a link that is up needs a moment
		late, code = n.run("a", "late-answer", "long")
		return !strings.Contains(late, "failed reaching server")
	})
	if code != 0 || !strings.Contains(late, "refused") {
		t.Errorf("what the first worker says late: %d: %s", code, late)
	}
	shown.Figure(t, "connected again, and the late answer was refused %s after that: %s", time.Since(healed).Round(100*time.Millisecond), strings.TrimSpace(late))
	out, code := n.belay("run", filepath.Join(n.dir, "quick.yaml"), "-C", n.dir, "--id", "quick", "--host", n.ns("a"))
	if code != 0 {
		t.Errorf("the worker that came back makes no runs: %d: %s", code, out)
	}
	if got := long.read("effect"); got != "" || strings.Contains(n.records("long"), `"long:after.1"`) {
		t.Errorf("the late answer counted: %q\n%s", got, n.records("long"))
	}
	long.lets()
	said = long.ends()
	if !strings.Contains(said, "1 lost") || !strings.Contains(said, "host "+n.ns("a")+" was lost; it went on on "+n.ns("b")) {
		t.Errorf("show does not say what happened:\n%s", said)
	}
	long.sound("b")
}

// lateAnswer says of the attempts of the middle step, as the driver before the last
// would, that they ended well. It is a program of the test, in the namespace of that worker.
func lateAnswer() {
	if err := answerLate(context.Background(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func answerLate(ctx context.Context, id string) error {
	c, err := client.Dial(client.Options{HostPort: os.Getenv("TEMPORAL_ADDRESS"), DataConverter: temporal.Codec{}.Converter()})
	if err != nil {
		return err
	}
	defer c.Close()
	wf, old := "belay-"+id, ""
	for iter := c.GetWorkflowHistory(ctx, wf, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); iter.HasNext() && old == ""; {
		e, err := iter.Next()
		if err != nil {
			return err
		}
		var in temporal.DoIn
		if a := e.GetActivityTaskScheduledEventAttributes(); a.GetActivityType().GetName() == "Do" &&
			converter.GetDefaultDataConverter().FromPayloads(a.GetInput(), &in) == nil && in.Job.Path == "long" {
			old = a.GetActivityId()
		}
	}
	well := temporal.Facts{}
	for _, n := range []string{"1", "2"} {
		key := belay.Key(id + ":long." + n)
		well = append(well, event.Record{Run: belay.RunID(id), Event: event.AttemptEnded{Key: key, Observation: effect.Observation{Began: true}}})
	}
	err = c.CompleteActivityByID(ctx, "default", wf, "", old, temporal.Done{Facts: well}, nil)
	var none *serviceerror.NotFound
	if !errors.As(err, &none) {
		return fmt.Errorf("the server took the end of activity %q: %w", old, err)
	}
	fmt.Println("refused by the server:", err)
	return c.SignalWorkflow(ctx, wf, "", "noted", temporal.Noted{Epoch: 1, Facts: well}) // the workflow takes nothing of an earlier driver
}

// records are those of a run, as they are printed.
func (n *network) records(id string) string {
	n.t.Helper()
	said, _ := n.belay("show", id, "--records")
	return said
}

// born is when a step was begun on a worker.
func born(began, where string) time.Time {
	for line := range strings.Lines(began) {
		if name, at, _ := strings.Cut(strings.TrimSpace(line), " "); name == where {
			ns, _ := strconv.ParseInt(at, 10, 64) // else the beginning of time
			return time.Unix(0, ns)
		}
	}
	return time.Time{}
}
