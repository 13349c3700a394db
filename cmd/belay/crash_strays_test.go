//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/failpoint"
	"github.com/belay-run/belay/proc"
)

// note writes down a process by pid and start time, so that it can be looked
// for after its number was used again.
const noteWord = `note() { echo "$1 $(cut -d' ' -f22 /proc/$1/stat)" >> pids; }
`

// lookScript is the step after the one that leaves something behind: it must
// not meet any of it.
const lookScript = `while read -r pid start; do
  stat=($(cat /proc/$pid/stat 2>/dev/null || true))
  if [ "${stat[21]:-}" = "$start" ] && [ "${stat[2]}" != Z ]; then echo "$pid" >> left; fi
done < pids`

// shapes are the ways in which a step can leave something behind. Each writes
// down one process.
func shapes() map[string]string {
	const self = `. ./note.sh; note $$; exec sleep 1000`
	return map[string]string{
		"background": `sleep 1000 & note $!`,
		"nohup":      `nohup sleep 1000 >/dev/null 2>&1 & note $!`,
		"setsid":     `setsid -f bash -c '` + self + `'`,
		"twice":      `(bash -c '` + self + `' &) &`,
		"deaf":       `bash -c 'trap "" TERM; ` + self + `' &`,
		"stripped":   `setsid -f env -i PATH="$PATH" bash -c '` + self + `' </dev/null >/dev/null 2>&1`,
	}
}

// ending is how the step or the run is brought to its end.
type ending struct {
	name   string
	script string // after the shape
	code   int
	act    func(r *rig, c *command) (end, error)
}

func endings() []ending {
	const forever = "sleep 1000"
	return []ending{
		{"success", "exit 0", exit.OK, let},
		{"failure", "exit 3", exit.Failed, let},
		{"timeout", forever, exit.Failed, let},
		{"cancel", forever, exit.Aborted, cancelled},
		{"SIGINT", forever, exit.Interrupt, interrupted},
		{"kill and resume", "until [ -e go ]; do sleep 0.02; done", exit.OK, resumed},
	}
}

// crashStrays holds that nothing of a run is left when it is over, whatever its
// steps started and however they ended.
//
// promise: K5
func crashStrays(t *testing.T, b *bench) {
	t.Helper()
	type cell struct {
		shape string
		end   ending
	}
	var cells []cell
	for shape := range shapes() {
		for _, e := range endings() {
			if failpoint.Armed || shape == "deaf" || shape == "stripped" || e.name == "kill and resume" {
				cells = append(cells, cell{shape, e})
			}
		}
	}
	var orphans atomic.Int64
	b.each(len(cells), func(i int) {
		if err := b.stray(cells[i].shape, cells[i].end); err != nil {
			orphans.Add(1)
			t.Errorf("%s, %s: %v", cells[i].shape, cells[i].end.name, err)
		}
	})
	b.say("strays: %d cells (shapes by endings), failed %d", len(cells), orphans.Load())
}

// errNotReady says that the time of a step was over before it was ready to be
// ended: on this machine it needs more of it.
var errNotReady = errors.New("its time was over before it was ready")

// inTime tries something with more and more time for its step, until that is
// ready before its time is over.
func inTime(limit time.Duration, try func(limit time.Duration) error) error {
	err := try(limit)
	for errors.Is(err, errNotReady) && limit < patience {
		limit *= 4
		err = try(limit)
	}
	return err
}

// ready waits until a step is, and says when it ended before that.
func (r *rig) ready(c *command) error {
	there := func() bool { _, err := os.Stat(r.inWork("ready")); return err == nil }
	if err := until("ready", func() bool { return there() || c.ended() }); err != nil {
		return errors.Join(err, errors.New(text(c.err)))
	}
	if !there() {
		return fmt.Errorf("%w: %s", errNotReady, text(c.err))
	}
	return nil
}

func (b *bench) stray(shape string, how ending) error {
	return inTime(500*time.Millisecond, func(limit time.Duration) error { return b.strayWithin(shape, how, limit) })
}

func (b *bench) strayWithin(shape string, how ending, most time.Duration) error {
	r, err := b.newRig(b.shipped)
	if err != nil {
		return err
	}
	defer r.wipe()
	script := ". ./note.sh\nnote $$\n" + shapes()[shape] +
		"\nuntil [ $(wc -l < pids) -ge 2 ]; do sleep 0.01; done; touch ready\n" + how.script
	limit := ""
	if how.name == "timeout" {
		limit = ", timeout: " + most.String()
	}
	err = errors.Join(r.put("note.sh", noteWord), r.put("stray.yaml",
		fmt.Sprintf("name: stray\nsteps:\n  - {id: leave, command: %q%s}\n  - {id: look, command: %q}\n", script, limit, lookScript)))
	if err != nil {
		return err
	}
	c, err := r.start(nil, "run", "stray.yaml")
	if err != nil {
		return err
	}
	defer r.killNoted()
	if err := r.ready(c); err != nil {
		return err
	}
	e, err := how.act(r, c)
	if err != nil || e.code != how.code || e.signal != 0 {
		return errors.Join(err, fmt.Errorf("want exit %d, %v", how.code, e))
	}
	recs, err := r.records()
	if err != nil {
		return err
	}
	if _, err := os.Stat(r.inWork("left")); err == nil {
		return fmt.Errorf("the next step met what the one before it left: %s", text(r.inWork("left")))
	}
	return errors.Join(sound(recs), r.notedGone(), r.nobodyLeft(recs[0].Run))
}

func let(_ *rig, c *command) (end, error) { return c.wait() }

func cancelled(r *rig, c *command) (end, error) {
	if err := r.want(exit.OK, "cancel", string(r.id())); err != nil {
		return end{}, err
	}
	return c.wait()
}

func interrupted(_ *rig, c *command) (end, error) {
	c.signal(syscall.SIGINT)
	return c.wait()
}

func resumed(r *rig, c *command) (end, error) {
	c.signal(syscall.SIGKILL)
	<-c.done
	if alive, err := r.noted(); err != nil || len(alive) != 2 {
		return end{}, errors.Join(err, fmt.Errorf("the kill of the driver ended a step: %d processes of 2 are left", len(alive)))
	}
	heir, err := r.start(nil, "resume", string(r.id()))
	if err != nil {
		return end{}, err
	}
	if err := r.put("go", ""); err != nil {
		return end{}, err
	}
	return heir.wait()
}

// noted lists the processes that were written down and are alive.
func (r *rig) noted() ([]proc.Identity, error) {
	self, err := proc.Self()
	if err != nil {
		return nil, err
	}
	var alive []proc.Identity
	for line := range strings.Lines(text(r.inWork("pids"))) {
		id := proc.Identity{Boot: self.Boot}
		if n, err := fmt.Sscanf(line, "%d %d", &id.Pid, &id.Start); err != nil || n != 2 {
			return nil, fmt.Errorf("pids: bad line %q", line)
		}
		if id.Alive() {
			alive = append(alive, id)
		}
	}
	return alive, nil
}

func (r *rig) notedGone() error {
	alive, err := r.noted()
	if err != nil {
		return err
	}
	var pids []int
	for _, id := range alive {
		pids = append(pids, id.Pid)
	}
	if len(pids) > 0 {
		return fmt.Errorf("orphans: %s", describe(pids))
	}
	return nil
}

// killNoted ends what a broken belay would leave: a process that shed its
// environment is not found by its mark.
func (r *rig) killNoted() {
	alive, err := r.noted()
	if err != nil {
		return // the test has failed already
	}
	for _, id := range alive {
		_ = id.Signal(syscall.SIGKILL) // it may be gone by now
	}
}
