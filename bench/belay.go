package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

func (b *bench) build() error {
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", b.belay, "./cmd/belay")
	cmd.Dir = ".."
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build belay: %w\n%s", err, out)
	}
	info, err := os.Stat(b.belay)
	if err != nil {
		return err
	}
	row("binary, stripped", "%.1f MB", float64(info.Size())/1e6)
	return nil
}

// recipe writes a recipe of n steps with the same keys.
func (b *bench) recipe(name string, n int, keys string) (string, error) {
	var s strings.Builder
	s.WriteString("name: bench\nsteps:\n")
	for i := range n {
		fmt.Fprintf(&s, "- {id: s%d, %s}\n", i, keys)
	}
	path := filepath.Join(b.dir, name+".yaml")
	return path, os.WriteFile(path, []byte(s.String()), 0o600)
}

// cmd is a call of the binary with a state directory of its own.
func (b *bench) cmd(args ...string) (*exec.Cmd, error) {
	state, err := os.MkdirTemp(b.dir, "state-")
	if err != nil {
		return nil, err
	}
	return b.cmdIn(state, args...), nil
}

func (b *bench) cmdIn(state string, args ...string) *exec.Cmd {
	c := exec.Command(b.belay, args...)
	c.Env = append(os.Environ(), "BELAY_STATE="+state)
	return c
}

// call is a call of the binary that can be repeated.
func (b *bench) call(state string, args ...string) func() error {
	return func() error { return b.cmdIn(state, args...).Run() }
}

// runs a recipe once, durable and kept.
func (b *bench) belayRun(args ...string) func() error {
	return func() error {
		c, err := b.cmd(append([]string{"run", "-q"}, args...)...)
		if err != nil {
			return err
		}
		var out bytes.Buffer
		c.Stdout, c.Stderr = &out, &out
		if err := c.Run(); err != nil {
			return fmt.Errorf("%w\n%s", err, out.String())
		}
		return nil
	}
}

// steps is the headline: 1,000 steps, against a loop of bash.
func (b *bench) steps() error {
	const n = 1000
	file, err := b.recipe("steps", n, `command: "true"`)
	if err != nil {
		return err
	}
	d, err := measured(2*b.rounds+1, bashLoop(n), b.belayRun(file))
	if err != nil {
		return err
	}
	r := beside(d[1], d[0])
	row("bash loop, 1,000 × bash -c true", "%.2f s", median(d[0]).Seconds())
	row("belay, 1,000 steps, durable and kept", "%.2f s   %s the loop (least / median)", median(d[1]).Seconds(), r)
	b.goal("1,000 steps against a bash loop, least of both", r.least, 1.2)
	return nil
}

// flat shows that the cost of a step does not grow with their number.
func (b *bench) flat() error {
	per := map[int]float64{}
	for _, n := range []int{100, 1000, 10000} {
		file, err := b.recipe(fmt.Sprintf("flat%d", n), n, `command: "true"`)
		if err != nil {
			return err
		}
		d, err := measured(b.rounds, bashLoop(n), b.belayRun(file))
		if err != nil {
			return err
		}
		r := beside(d[1], d[0])
		per[n] = r.least
		row(fmt.Sprintf("%d steps", n), "%.3f ms a step   %s the loop of as many", ms(median(d[1]))/float64(n), r)
	}
	b.goal("cost of a step at 10,000 against 1,000", per[10000]/per[1000], 1.2)
	return nil
}

// parallel is 100 steps at once, eight at a time.
func (b *bench) parallel() error {
	file, err := b.recipe("parallel", 100, `command: "true", needs: []`)
	if err != nil {
		return err
	}
	floor := func() error {
		return exec.Command("bash", "-c", "seq 100 | xargs -P 8 -I{} bash -c true").Run()
	}
	d, err := interleaved(b.rounds, floor, b.belayRun("--max-parallel", "8", file))
	if err != nil {
		return err
	}
	row("xargs -P 8, 100 × bash -c true", "%.3f s", d[0].Seconds())
	row("belay, 100 parallel steps, 8 at a time", "%.3f s   %.2f × xargs", d[1].Seconds(), float64(d[1])/float64(d[0]))
	return nil
}

// runs is 100 runs at once in one state directory.
func (b *bench) runs() error {
	const runs, steps = 100, 10
	file, err := b.recipe("runs", steps, `command: "true"`)
	if err != nil {
		return err
	}
	floor := func() error {
		var g errgroup.Group
		for range runs {
			g.Go(bashLoop(steps))
		}
		return g.Wait()
	}
	ours := func() error {
		state, err := os.MkdirTemp(b.dir, "state-")
		if err != nil {
			return err
		}
		var g errgroup.Group
		for range runs {
			g.Go(func() error {
				out, err := b.cmdIn(state, "run", "-q", file).CombinedOutput()
				if err != nil {
					return fmt.Errorf("%w\n%s", err, out)
				}
				return nil
			})
		}
		return g.Wait()
	}
	d, err := measured(b.rounds, floor, ours)
	if err != nil {
		return err
	}
	r := beside(d[1], d[0])
	row("100 bash loops of 10 at once", "%.2f s", median(d[0]).Seconds())
	row("100 belay runs of 10 steps at once", "%.2f s   %s the loops", median(d[1]).Seconds(), r)
	b.goal("100 short runs at once against as many loops, least of both", r.least, 2.5)
	return nil
}

// one is a run of one step, beside bash: the time, and that of the processor,
// keeper and all; and the same where other runs were before. Each run has a state
// directory of its own, which is the dearer case.
func (b *bench) one() error {
	file, err := b.recipe("one", 1, `command: "true"`)
	if err != nil {
		return err
	}
	var used []time.Duration
	ours := func() error {
		before := children()
		err := b.belayRun(file)()
		used = append(used, children()-before)
		return err
	}
	state, err := os.MkdirTemp(b.dir, "state-")
	if err != nil {
		return err
	}
	d, err := measured(10*b.rounds, bashLoop(1), ours, b.call(state, "run", "-q", file))
	if err != nil {
		return err
	}
	row("a bash that runs bash -c true", "%.1f / %.1f ms", ms(slices.Min(d[0])), ms(median(d[0])))
	row("a run of one step", "%.1f / %.1f ms, of a processor %.1f / %.1f ms (least / median)",
		ms(slices.Min(d[1])), ms(median(d[1])), ms(slices.Min(used)), ms(median(used)))
	row("the same, in a state directory that is there", "%.1f / %.1f ms", ms(slices.Min(d[2])), ms(median(d[2])))
	b.goal("a run of one step, ms, least", ms(slices.Min(d[1])), 15)
	return nil
}

// children is the time of the processor that all ended children had, and theirs.
func children() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_CHILDREN, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// gc is the look at what is left of many runs, beside the list of them.
func (b *bench) gc() error {
	const runs = 200
	file, err := b.recipe("gc", 1, `command: "true"`)
	if err != nil {
		return err
	}
	state, err := os.MkdirTemp(b.dir, "state-")
	if err != nil {
		return err
	}
	for range runs {
		if out, err := b.cmdIn(state, "run", "-q", file).CombinedOutput(); err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
	}
	d, err := measured(3*b.rounds, b.call(state, "runs"), b.call(state, "gc", "--dry-run"))
	if err != nil {
		return err
	}
	r := beside(d[1], d[0])
	row("belay runs, 200 of them", "%.1f ms", ms(median(d[0])))
	row("belay gc --dry-run", "%.1f ms   %s belay runs", ms(median(d[1])), r)
	b.goal("gc of 200 runs against their list, least of both", r.least, 4)
	return nil
}

// resume is the time from `belay resume` of a long journal to its first new step,
// and of one that is ten times as long.
func (b *bench) resume() error {
	long, err := b.resumed(3333) // three records each
	if err != nil {
		return err
	}
	longer, err := b.resumed(33333)
	if err != nil {
		return err
	}
	row("10,000 records: resume to first new step", "%.1f ms", ms(long))
	row("100,000 records: resume to first new step", "%.1f ms", ms(longer))
	b.goal("resume of 10,000 records to its first new step, ms", ms(long), 60)
	b.goal("resume of 100,000 records to its first new step, ms", ms(longer), 300)
	b.goal("resume of ten times as many, beside ten times its time", ms(longer)/ms(long)/10, 1.5)
	return nil
}

// resumed is the median time for a journal of n steps.
func (b *bench) resumed(n int) (time.Duration, error) {
	stamp := filepath.Join(b.dir, "stamp")
	var s strings.Builder
	s.WriteString("name: long\nsteps:\n")
	for i := range n {
		fmt.Fprintf(&s, "- {id: s%d, command: \"true\"}\n", i)
	}
	fmt.Fprintf(&s, "- {id: last, command: \"date +%%s%%N > '%s'; exit 1\"}\n", stamp)
	file := filepath.Join(b.dir, "long.yaml")
	if err := os.WriteFile(file, []byte(s.String()), 0o600); err != nil {
		return 0, err
	}
	state, err := os.MkdirTemp(b.dir, "state-")
	if err != nil {
		return 0, err
	}
	_ = b.cmdIn(state, "run", "-q", "--id", "long", file).Run() // fails on purpose at its last step
	var took []time.Duration
	for range max(3, b.rounds) {
		began := time.Now()
		_ = b.cmdIn(state, "resume", "long").Run() // fails again
		text, err := os.ReadFile(stamp)
		if err != nil {
			return 0, err
		}
		var ns int64
		if _, err := fmt.Sscan(string(text), &ns); err != nil {
			return 0, err
		}
		took = append(took, time.Unix(0, ns).Sub(began))
	}
	return median(took), nil
}

// start is the start-up of the binary, beside an empty Go program.
func (b *bench) start() error {
	src := filepath.Join(b.dir, "empty")
	if err := os.MkdirAll(src, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(src, "main.go"), []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		return err
	}
	bin := filepath.Join(b.dir, "empty.bin")
	cmd := exec.Command("go", "build", "-o", bin, filepath.Join(src, "main.go"))
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	d, err := interleaved(30,
		func() error { return exec.Command(bin).Run() },
		func() error { return exec.Command(b.belay, "version").Run() })
	if err != nil {
		return err
	}
	row("an empty Go program", "%.1f ms", ms(d[0]))
	row("belay version", "%.1f ms", ms(d[1]))
	b.goal("start-up over an empty Go program, ms", ms(d[1])-ms(d[0]), 4)
	return nil
}
