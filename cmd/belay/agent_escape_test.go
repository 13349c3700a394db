//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/belaytest/scratch"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/proc"
)

// agentEscapes are ways in which a process gets away from the agent that
// started it. Each writes a line to the file up and then waits; MARK stands for
// a text that only this cell has on its command lines.
func agentEscapes() map[string]string {
	const stay = `echo up >> up; exec sleep MARK`
	in := func(before, after string) string { return before + ` bash -c '` + stay + `' ` + after }
	return map[string]string{
		"background job":  in("", "&"),
		"nohup":           in("nohup", ">/dev/null 2>&1 &"),
		"setsid":          in("setsid", ">/dev/null 2>&1 &"),
		"double fork":     "( " + in("", "&") + " )",
		"daemon":          "( setsid " + in("", "</dev/null >/dev/null 2>&1 &") + " )",
		"ignores TERM":    `bash -c 'trap "" TERM INT HUP; echo up >> up; while :; do sleep 0.2; done # MARK' &`,
		"closes all fds":  `bash -c 'echo up >> up; exec 0<&- 1>&- 2>&- 3>&-; exec sleep MARK' &`,
		"renames itself":  `bash -c 'echo up >> up; exec -a "[kworker/0:1]" sleep MARK' &`,
		"shim that exits": `bash -c 'bash -c "echo up >> up; exec sleep MARK" & disown; exit 0'`,
		"cleared env":     `env -i PATH="$PATH" bash -c 'echo up >> up; exec env -i sleep MARK' &`,
		"setsid, no env":  `setsid env -i PATH="$PATH" bash -c 'echo up >> up; exec env -i sleep MARK' </dev/null >/dev/null 2>&1 &`,
		"holds stdout":    in("setsid", "2>/dev/null &"),
	}
}

func agentDeaths() []ending {
	return []ending{
		{"success", "exit 0", exit.OK, let},
		{"failure", "exit 3", exit.Failed, let},
		{"timeout", "sleep MARK", exit.Failed, let},
		{"cancel", "sleep MARK", exit.Aborted, cancelled},
		{"kill -9 and resume", "until [ -e go ]; do sleep 0.02; done", exit.OK, killedAndResumed},
	}
}

func killedAndResumed(r *rig, c *command) (end, error) {
	c.signal(syscall.SIGKILL)
	<-c.done
	heir, err := r.start(nil, "resume", string(r.id()))
	if err != nil {
		return end{}, err
	}
	if err := r.put("go", ""); err != nil {
		return end{}, err
	}
	return heir.wait()
}

// TestLongAgentEscapes holds that nothing an agent started is left when its step is
// over, whatever it did to get away and however the step ended. On a change, a
// quarter of that is tried at the one level of containment and another one at the
// other; with BELAY_SWEEPS=all everything is tried at both.
//
// promise: K5
func TestLongAgentEscapes(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	b := newBench(t, false)
	for level := proc.LevelSubreaper; level <= proc.LevelNamespace; level++ {
		t.Run(fmt.Sprintf("level %d", level), func(t *testing.T) {
			if level == proc.LevelNamespace {
				needNamespace(t, b)
			}
			b.escapeCells(t, int(level))
		})
	}
}

// needNamespace skips where the kernel or its settings allow no PID namespace.
func needNamespace(t *testing.T, b *bench) {
	t.Helper()
	if err := proc.ProbeNamespace(t.Context(), []string{b.shipped, "nsinit", "--"}); err != nil {
		t.Skipf("no PID namespace can be had here: %v", err)
	}
}

func (b *bench) escapeCells(t *testing.T, level int) {
	t.Helper()
	type cell struct {
		escape string
		death  ending
	}
	var cells []cell
	for i, escape := range slices.Sorted(maps.Keys(agentEscapes())) {
		for j, d := range agentDeaths() {
			if (i+j+2*level)%4 == 0 || os.Getenv("BELAY_SWEEPS") == "all" {
				cells = append(cells, cell{escape, d})
			}
		}
	}
	var bad atomic.Int64
	b.each(len(cells), func(i int) {
		if err := b.escape(cells[i].escape, cells[i].death, level); err != nil {
			bad.Add(1)
			t.Errorf("%s, %s: %v", cells[i].escape, cells[i].death.name, err)
		}
	})
	t.Logf("level %d: %d cells (escapes by deaths), failed %d", level, len(cells), bad.Load())
}

// agentRig is a rig with an agent named bot that is a shell script.
func (b *bench) agentRig(script, recipe string, env ...string) (*rig, error) {
	r, err := b.newRig(b.shipped)
	if err != nil {
		return nil, err
	}
	config := filepath.Join(r.dir, "config.yaml")
	r.base = append(append(r.base, "BELAY_CONFIG="+config), env...) // of two entries the last counts
	return r, errors.Join(
		os.WriteFile(config, fmt.Appendf(nil, "agents:\n  bot:\n    kind: command\n    program: [bash, %s]\n", r.inWork("bot.sh")), 0o600),
		r.put("bot.sh", script), r.put("bot.yaml", recipe))
}

func (b *bench) escape(name string, death ending, level int) error {
	return inTime(2*time.Second, func(limit time.Duration) error { return b.escapeWithin(name, death, level, limit) })
}

func (b *bench) escapeWithin(name string, death ending, level int, most time.Duration) error {
	limit := ""
	if death.name == "timeout" {
		limit = ", timeout: " + most.String()
	}
	r, err := b.agentRig("", "name: bot\nsteps:\n  - {id: leave, agent: bot, prompt: x"+limit+", output: o, expect: answer}\n",
		"BELAY_AGENTS_CONTAINMENT="+strconv.Itoa(level))
	if err != nil {
		return err
	}
	defer r.wipe()
	mark := r.seconds()
	script := "cat >/dev/null; echo working\n" + agentEscapes()[name] +
		"\nuntil [ -s up ]; do sleep 0.01; done; touch ready; until [ -e seen ]; do sleep 0.01; done\n" + death.script + "\n"
	if err := r.put("bot.sh", strings.ReplaceAll(script, "MARK", mark)); err != nil {
		return err
	}
	defer endCarriers(mark)
	c, err := r.start(nil, "run", "bot.yaml", "--max-replans", "0")
	if err != nil {
		return err
	}
	if err := r.ready(c); err != nil {
		return err
	}
	seen := false
	if err := until("what got away is seen", func() bool { seen = len(carriers(mark)) > 0; return seen || c.ended() }); err != nil {
		return err
	}
	if !seen {
		return errNotReady
	}
	if err := r.put("seen", ""); err != nil {
		return err
	}
	e, err := death.act(r, c)
	if err != nil || e.code != death.code || e.signal != 0 {
		return errors.Join(err, fmt.Errorf("want exit %d, %v", death.code, e))
	}
	left := carriers(mark)
	recs, err := r.records()
	if err != nil {
		return err
	}
	if len(left) > 0 {
		err = fmt.Errorf("left: %s", describe(left))
	}
	return errors.Join(err, sound(recs), levelIs(recs, level), r.nobodyLeft(recs[0].Run))
}

// seconds is a time to sleep that nobody else has on a command line; none is
// the beginning of another.
func (r *rig) seconds() string {
	return fmt.Sprintf("1000.%08d%010d", os.Getpid(), crc32.ChecksumIEEE([]byte(r.dir)))
}

// levelIs holds the recorded level of containment against the one asked for.
func levelIs(recs []event.Record, level int) error {
	for _, rec := range recs {
		if e, ok := rec.Event.(event.AttemptEnded); ok && e.Observation.Agent != nil {
			if got := e.Observation.Agent.Level; got != level {
				return fmt.Errorf("containment %d is on record, want %d", got, level)
			}
			return nil
		}
	}
	return errors.New("no agent's end is on record")
}

// carriers are the living processes with a text on their command line, also
// those in other namespaces and without an environment.
func carriers(mark string) []int {
	dirs, err := filepath.Glob("/proc/[0-9]*") // a longer pattern would list every one of them
	if err != nil {
		return nil // the pattern is sound
	}
	var pids []int
	for _, dir := range dirs {
		line, err := os.ReadFile(filepath.Join(dir, "cmdline"))
		if err != nil || !bytes.Contains(line, []byte(mark)) {
			continue // gone, or another's
		}
		if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil && pid != os.Getpid() && state(pid) != "Z" {
			pids = append(pids, pid)
		}
	}
	return pids
}

// endCarriers ends what a broken belay would leave behind.
func endCarriers(mark string) {
	for _, pid := range carriers(mark) {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may be gone by now
	}
}

// nobodys sheds its environment, its session and its parent: nothing says any
// more whose it was.
const nobodys = `( setsid env -i PATH="$PATH" bash -c 'echo up >> up; exec env -i sleep MARK' </dev/null >/dev/null 2>&1 & )`

// With driver, keeper and attendant dead, what is nobody's may live on at level 1:
// that is what the level cannot promise. At level 2 the kernel has ended it with
// the namespace.
//
// promise: K5
func TestAgentAllKilled(t *testing.T) {
	t.Parallel()
	b := newBench(t, false)
	escapes := agentEscapes()
	for level := proc.LevelSubreaper; level <= proc.LevelNamespace; level++ {
		t.Run(fmt.Sprintf("level %d", level), func(t *testing.T) {
			if level == proc.LevelNamespace {
				needNamespace(t, b)
			}
			for _, name := range []string{"background job", "setsid", "daemon", "setsid, no env"} {
				if left, err := b.allKilled(escapes[name], int(level), true); err != nil || left > 0 {
					t.Errorf("%s: %d left, %v", name, left, err)
				}
			}
			safe := level >= proc.LevelNamespace
			left, err := b.allKilled(nobodys, int(level), safe)
			if err != nil || safe && left > 0 {
				t.Errorf("nobody's: %d left, %v", left, err)
			}
			t.Logf("nobody's: %d left", left) // at level 1 it depends on when its parents die
		})
	}
}

// allKilled kills driver, keeper and attendant, resumes, and tells how many of
// the processes that got away are left. Where none may be, the kernel is given
// the moment that it needs.
func (b *bench) allKilled(escape string, level int, safe bool) (int, error) {
	r, err := b.agentRig("", "name: bot\nsteps:\n  - {id: leave, agent: bot, prompt: x, output: o, expect: answer}\n",
		"BELAY_AGENTS_CONTAINMENT="+strconv.Itoa(level))
	if err != nil {
		return 0, err
	}
	defer r.wipe()
	mark := r.seconds()
	script := "cat >/dev/null; [ -e ready ] && { echo again; exit 0; }; echo working\n" + escape +
		"\nuntil [ -s up ]; do sleep 0.01; done; touch ready; sleep MARK\n"
	if err := r.put("bot.sh", strings.ReplaceAll(script, "MARK", mark)); err != nil {
		return 0, err
	}
	defer endCarriers(mark)
	c, err := r.start(nil, "run", "bot.yaml", "--max-replans", "0")
	if err != nil {
		return 0, err
	}
	if err := r.exists("ready"); err != nil {
		return 0, err
	}
	if err := until("what got away is seen", func() bool { return len(carriers(mark)) > 0 }); err != nil {
		return 0, err
	}
	c.signal(syscall.SIGKILL)
	<-c.done
	keeper, err := r.keeper()
	if err != nil {
		return 0, err
	}
	_ = keeper.Signal(syscall.SIGKILL) // that it is gone is seen next
	if err := until("the keeper is dead", func() bool { return !keeper.Alive() }); err != nil {
		return 0, err
	}
	for _, pid := range carriers("attend\x00" + r.state()) {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have gone with the keeper
	}
	e, err := r.belay(nil, "resume", string(r.id()))
	if err != nil || e.code != exit.OK {
		return 0, errors.Join(err, fmt.Errorf("%v", e))
	}
	recs, err := r.records()
	if err := errors.Join(err, sound(recs)); err != nil {
		return 0, err
	}
	if safe {
		err = until("all are gone", func() bool { return len(carriers(mark)) == 0 })
	}
	return len(carriers(mark)), err
}
