//go:build linux

package supervise

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/proc"
)

// escapes are ways in which a process gets away from its parent. Each leaves
// something behind that would wait for 1000 seconds and has written its pid to
// $PIDS. stay is the command that does so.
func escapes() map[string]string {
	const stay = `echo $$ >> "$PIDS"; exec sleep 1000`
	in := func(before, after string) string { return before + ` bash -c '` + stay + `' ` + after }
	return map[string]string{
		"background job":  in("", "&"),
		"nohup":           in("nohup", ">/dev/null 2>&1 &"),
		"setsid":          in("setsid", "&"),
		"double fork":     "( " + in("", "&") + " )",
		"daemon":          "( cd /; setsid " + in("", "</dev/null >/dev/null 2>&1 &") + " )",
		"ignores TERM":    `bash -c 'trap "" TERM INT HUP; echo $$ >> "$PIDS"; while :; do sleep 1; done' &`,
		"closes all fds":  `bash -c 'echo $$ >> "$PIDS"; exec 0<&- 1>&- 2>&- 3>&-; exec sleep 1000' &`,
		"renames itself":  `bash -c 'echo $$ >> "$PIDS"; echo kworker > /proc/self/comm; exec -a "[kworker/0:1]" sleep 1000' &`,
		"shim that exits": `bash -c 'bash -c "echo \$\$ >> \"\$PIDS\"; exec sleep 1000" & disown; exit 0'`,
		"cleared env":     `env -i PIDS="$PIDS" PATH="$PATH" bash -c 'echo $$ >> "$PIDS"; exec env -i sleep 1000' &`,
		"setsid, no env":  `setsid env -i PIDS="$PIDS" PATH="$PATH" bash -c 'echo $$ >> "$PIDS"; exec env -i sleep 1000' </dev/null >/dev/null 2>&1 &`,
		"holds stdout":    in("setsid", "2>/dev/null &"),
	}
}

// deaths are the ends of a run: what the agent does after the escape, and how
// the attendant must say that it ended.
var deaths = []struct {
	name, last string
	end        effect.EndedBy
}{
	{"success", "exit 0", effect.EndedItself},
	{"failure", "exit 3", effect.EndedItself},
	{"timeout", "sleep 1000", effect.EndedSilence}, // the window begins when it was heard: a busy machine is no trouble
	{"told", "sleep 1000", effect.EndedSignal},
}

// escaped runs one escape and one death; it tells how many were started and how
// many still live.
func escaped(t *testing.T, escape, last string, end effect.EndedBy, contain Containment) (done, int, int) {
	t.Helper()
	r := newRig(t)
	pids, ready := filepath.Join(r.order.Home, "../pids"), filepath.Join(r.order.Home, "../ready")
	r.order.Env = []string{"PIDS=" + pids, "READY=" + ready}
	r.order.Contain = contain
	r.command(escape + "\nuntil [ -s \"$PIDS\" ]; do sleep 0.01; done; echo started; touch \"$READY\"; " + last)
	if end == effect.EndedSilence {
		r.order.Windows.Silence = 200 * time.Millisecond
	}
	var out, talk bytes.Buffer
	cmd := r.start(&out, &talk)
	if end == effect.EndedSignal {
		until(t, "the agent is ready", func() bool { return there(ready) })
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
	}
	at := time.Now()
	d := r.wait(cmd, &out, &talk)
	if took := time.Since(at); took > 45*time.Second {
		t.Errorf("it took %s", took)
	}
	if d.Ended != end {
		t.Errorf("ended %q, want %q; %s", d.Ended, end, talk.String())
	}
	all, living := alive(t, pids)
	if contain == ContainNamespace { // its pids are others than ours: by the environment, then
		living = len(carriers(t, pids))
	}
	return d, all, living
}

// A subreaper has all orphans below it, whatever they did: nothing is left at
// level 1 as long as the attendant itself lives.
func TestEscapesSubreaper(t *testing.T) {
	t.Parallel()
	for name, escape := range escapes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, c := range deaths {
				r, all, living := escaped(t, escape, c.last, c.end, ContainSubreaper)
				if all != 1 || living != 0 || r.Level != int(proc.LevelSubreaper) {
					t.Errorf("%s: %d started, %d live, level %d", c.name, all, living, r.Level)
				}
				if c.name == "success" && (r.code != 0 || r.Strays == 0) {
					t.Errorf("success: exit %d, %d strays", r.code, r.Strays)
				}
			}
		})
	}
}

// In a namespace what has no environment is found by what it waits for.
func TestEscapesNamespace(t *testing.T) {
	t.Parallel()
	needNamespace(t)
	for name, escape := range escapes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seconds := fmt.Sprintf("sleep 1000.%09d", time.Now().UnixNano()%1e9)
			for _, c := range deaths {
				r, all, living := escaped(t, strings.ReplaceAll(escape, "sleep 1000", seconds), c.last, c.end, ContainNamespace)
				living += len(carriers(t, seconds[len("sleep "):]))
				if all != 1 || living != 0 || r.Level != int(proc.LevelNamespace) {
					t.Errorf("%s: %d started, %d live, level %d", c.name, all, living, r.Level)
				}
			}
		})
	}
}

// needNamespace skips where no PID namespace can be had.
func needNamespace(t *testing.T) {
	t.Helper()
	init := []string{"/usr/bin/env", initVar + "=1", os.Args[0]}
	if err := proc.ProbeNamespace(t.Context(), init); err != nil {
		t.Skipf("no PID namespace can be had here: %v", err)
	}
}

// When the attendant itself is killed, the kernel ends a namespace.
func TestKilledAttendant(t *testing.T) {
	t.Parallel()
	needNamespace(t)
	r := newRig(t)
	seconds := fmt.Sprintf("1000.%09d", time.Now().UnixNano()%1e9)
	ready := filepath.Join(r.order.Home, "../ready")
	r.order.Contain, r.order.Env = ContainNamespace, []string{"READY=" + ready}
	r.command("setsid env -i sleep " + seconds + " & echo up; touch \"$READY\"; sleep " + seconds)
	cmd := r.start(nil, nil)
	until(t, "it is up", func() bool { return there(ready) && len(carriers(t, seconds)) >= 3 })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	until(t, "all are gone", func() bool { return len(carriers(t, seconds)) == 0 })
}

// hopper leaves a process that is gone before anybody has looked at it, and has
// another one instead. Each has the pipe $FIFO open: it ends with the last.
const hopper = `cat > "$PIDS.sh" <<'END'
trap '' TERM INT HUP
bash "$0" & exit
END
setsid bash -c 'exec 9>"$FIFO" </dev/null >/dev/null 2>&1; echo $$ > "$PIDS"; exec bash "$PIDS.sh"' &
`

// One that forks and leaves faster than all processes can be listed is caught
// too: nothing is over while the attendant has a child.
func TestHopper(t *testing.T) {
	t.Parallel()
	for _, c := range deaths[:2] {
		r := newRig(t)
		dir := t.TempDir()
		pids, fifo := filepath.Join(dir, "pids"), filepath.Join(dir, "fifo")
		if err := syscall.Mkfifo(fifo, 0o600); err != nil {
			t.Fatal(err)
		}
		over := make(chan error, 1)
		go func() { // until the last of them is gone
			_, err := os.ReadFile(fifo)
			over <- err
		}()
		r.order.Env, r.order.Contain = []string{"PIDS=" + pids, "FIFO=" + fifo}, ContainSubreaper
		r.command(hopper + `until [ -s "$PIDS" ]; do sleep 0.01; done; echo started; ` + c.last)
		if d := r.run(); d.Ended != c.end || d.Strays == 0 {
			t.Errorf("%s: ended %q with %d strays", c.name, d.Ended, d.Strays)
		}
		select {
		case err := <-over:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(time.Minute):
			t.Errorf("%s: it hops on", c.name)
			if err := os.WriteFile(pids+".sh", nil, 0o600); err != nil { // and ends here
				t.Error(err)
			}
			<-over
		}
	}
}
