package proc

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/belaytest/leak"
	"github.com/belay-run/belay/belaytest/scratch"
)

// The test binary is also the keeper and the driver that is killed.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && roles[os.Args[1]] != nil {
		if err := roles[os.Args[1]](os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if err := BecomeSubreaper(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	flag.Parse()
	if err := scratch.SideBySide(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(leak.None(m.Run))
}

var roles = map[string]func([]string) error{
	"as-keeper": func(args []string) error {
		return Keep(context.Background(), KeepOptions{Dir: args[0], Socket: args[1], Filter: hideMask, Grace: graceArg(args)})
	},
	"as-driver": driverRole,
	"as-reuse":  reuseRole,
	"as-orphan": orphanRole,
	"as-early":  earlyRole,
}

func graceArg(args []string) time.Duration {
	if len(args) < 3 {
		return 0
	}
	d, err := time.ParseDuration(args[2])
	if err != nil {
		return time.Nanosecond
	}
	return d
}

// hideMask is a filter that works on whole writes kept until Close: enough to
// see that a secret in two pieces is found.
func hideMask(mask []string, w io.Writer) io.WriteCloser {
	if len(mask) == 0 {
		return nopCloser{w}
	}
	return &hider{mask: mask, w: w}
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

type hider struct {
	mask []string
	w    io.Writer
	held strings.Builder
	hid  bool
}

func (h *hider) Hid() bool { return h.hid }

func (h *hider) Write(p []byte) (int, error) { return h.held.Write(p) }

func (h *hider) Close() error {
	text := h.held.String()
	for _, m := range h.mask {
		text = strings.ReplaceAll(text, m, "***")
	}
	h.hid = text != h.held.String()
	_, err := io.WriteString(h.w, text)
	return err
}

// rig is a run folder and what is needed to drive it.
type rig struct {
	t   testing.TB
	dir string
	o   Options
}

func newRig(t testing.TB) *rig {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	socket := filepath.Join(dir, "k.sock")
	run := belay.RunID("t" + strconv.FormatInt(time.Now().UnixNano(), 36))
	r := &rig{t: t, dir: dir, o: Options{
		Dir: dir, Socket: socket, Exe: []string{exe, "as-keeper", dir, socket}, Run: run, Epoch: 1, Env: os.Environ(),
	}}
	t.Cleanup(r.wipe)
	return r
}

// wipe leaves nothing of the run behind, whatever the test did.
func (r *rig) wipe() {
	if b, err := readBook(r.dir, nil); err == nil && b.kept && b.keeper.Alive() {
		_ = b.keeper.Signal(9)  // it may be gone already
		_ = b.keeper.Signal(18) // the same
	}
	r.wait("the folder's lock is free", func() bool {
		lock, err := tryLock(r.dir)
		if err != nil {
			r.t.Fatal(err)
		}
		if lock == nil {
			return false
		}
		return lock.Close() == nil
	})
	if err := sweep(r.dir, r.o.Run, false); err != nil {
		r.t.Error(err)
	}
}

// keeper is the last one that wrote to the folder.
func (r *rig) keeper() Identity {
	r.t.Helper()
	b, err := readBook(r.dir, nil)
	if err != nil || !b.kept {
		r.t.Fatalf("no keeper: %v", err)
	}
	return b.keeper
}

func (r *rig) attach(open ...belay.Key) (*Keeper, map[belay.Key]State) {
	r.t.Helper()
	k, states, err := Attach(context.Background(), r.o, open)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = k.hangUp() }) // twice is an error that says nothing
	r.o.Epoch++
	return k, states
}

func (r *rig) close(k *Keeper) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := k.Close(ctx); err != nil {
		r.t.Fatal(err)
	}
}

// bash is a spawn of a script under a short name.
func (r *rig) bash(name, script string) Spawn {
	return Spawn{
		Key: r.key(name), Argv: []string{"bash", "-c", script}, Dir: r.dir,
		Log: filepath.Join(r.dir, name+".log"), Grace: 20 * time.Second,
	}
}

func (r *rig) key(name string) belay.Key {
	return belay.KeyOf(r.o.Run, belay.Path(name), belay.RoleMain, 1)
}

func (r *rig) spawn(k *Keeper, s Spawn) {
	r.t.Helper()
	if err := k.Spawn(s); err != nil {
		r.t.Fatal(err)
	}
}

// do spawns and waits for the exit.
func (r *rig) do(k *Keeper, s Spawn) *Exit {
	r.t.Helper()
	r.spawn(k, s)
	return r.exit(k, s.Key)
}

func (r *rig) exit(k *Keeper, key belay.Key) *Exit {
	r.t.Helper()
	select {
	case e, ok := <-k.Events():
		if !ok || e.Exit == nil {
			r.t.Fatalf("no exit of %s: %v", key, e.Gone)
		}
		if e.Exit.Key != key {
			r.t.Fatalf("exit of %s, not of %s", e.Exit.Key, key)
		}
		return e.Exit
	case <-time.After(60 * time.Second):
		r.t.Fatalf("no exit of %s in time", key)
	}
	return nil
}

// wait waits for a condition.
func (r *rig) wait(what string, ok func() bool) {
	r.t.Helper()
	for until := time.Now().Add(time.Minute); !ok(); <-time.After(2 * time.Millisecond) {
		if time.Now().After(until) {
			r.t.Fatalf("not in time: %s", what)
		}
	}
}

func (r *rig) file(name string) string { return filepath.Join(r.dir, name) }

// text is what a file holds; a file that is not there holds nothing.
func (r *rig) text(name string) string {
	b, err := os.ReadFile(r.file(name))
	if err != nil && !os.IsNotExist(err) {
		r.t.Fatal(err)
	}
	return string(b)
}

// pids are the numbers in a file that a step wrote, when there are n of them.
func (r *rig) pids(name string, n int) []Identity {
	r.t.Helper()
	var fields []string
	r.wait(name+" is written", func() bool {
		s := r.text(name)
		fields = strings.Fields(s)
		return len(fields) >= n && strings.HasSuffix(s, "\n")
	})
	var ids []Identity
	for _, f := range fields {
		pid, err := strconv.Atoi(f)
		if err != nil {
			r.t.Fatal(err)
		}
		id, err := Identify(pid)
		if err != nil {
			r.t.Fatalf("process %d of %s: %v", pid, name, err)
		}
		ids = append(ids, id)
	}
	return ids
}

func (r *rig) gone(ids []Identity) {
	r.t.Helper()
	for _, id := range ids {
		if id.Alive() {
			r.t.Errorf("process %d is alive", id.Pid)
		}
	}
}

// lines decodes the keeper's log.
func (r *rig) lines() []map[string]json.RawMessage {
	r.t.Helper()
	var all []map[string]json.RawMessage
	for _, line := range strings.Split(strings.TrimSpace(r.text(ledgerName)), "\n") {
		var m map[string]json.RawMessage
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			r.t.Fatalf("%s: %v", line, err)
		}
		all = append(all, m)
	}
	return all
}

func itoa(n int) string { return strconv.Itoa(n) }

func (r *rig) touch(name string) {
	r.t.Helper()
	if err := os.WriteFile(r.file(name), nil, 0o600); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) openFile(path string) *os.File {
	r.t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		r.t.Fatal(err)
	}
	return f
}
