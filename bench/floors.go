package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// timed says how long f took.
func timed(f func() error) (time.Duration, error) {
	t := time.Now()
	err := f()
	return time.Since(t), err
}

// median of several measurements.
func median(list []time.Duration) time.Duration {
	s := slices.Clone(list)
	slices.Sort(s)
	return s[len(s)/2]
}

// interleaved measures several things in turn, round after round, so that a
// slow minute of the machine hits all of them, and gives the median of each.
func interleaved(rounds int, things ...func() error) ([]time.Duration, error) {
	all, err := measured(rounds, things...)
	if err != nil {
		return nil, err
	}
	out := make([]time.Duration, len(things))
	for i := range all {
		out[i] = median(all[i])
	}
	return out, nil
}

// ratio is how one thing stands beside its floor: the least of both, which other
// work on the machine changes little, and the median of both.
type ratio struct{ least, median float64 }

func (r ratio) String() string { return fmt.Sprintf("%.2f / %.2f ×", r.least, r.median) }

// beside is the ratio of two lists of the same rounds.
func beside(ours, floor []time.Duration) ratio {
	return ratio{
		float64(slices.Min(ours)) / float64(slices.Min(floor)),
		float64(median(ours)) / float64(median(floor)),
	}
}

// measured is interleaved with all that was measured.
func measured(rounds int, things ...func() error) ([][]time.Duration, error) {
	all := make([][]time.Duration, len(things))
	for range rounds {
		for i, f := range things {
			d, err := timed(f)
			if err != nil {
				return nil, err
			}
			all[i] = append(all[i], d)
		}
	}
	return all, nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// floors are what the machine takes for the least that any engine must do.
func (b *bench) floors() error {
	const n = 500
	fsync, err := b.fsyncs(n)
	if err != nil {
		return err
	}
	fork, err := timed(func() error { return forkLoop(n, "/bin/true") })
	if err != nil {
		return err
	}
	row("append 200 bytes and fdatasync", "%.3f ms", ms(fsync)/n)
	row("fork and exec /bin/true", "%.3f ms", ms(fork)/n)
	return nil
}

func (b *bench) fsyncs(n int) (time.Duration, error) {
	f, err := os.Create(filepath.Join(b.dir, "fsync"))
	if err != nil {
		return 0, err
	}
	line := make([]byte, 200)
	d, err := timed(func() error {
		for range n {
			if _, err := f.Write(line); err != nil {
				return err
			}
			if err := syscall.Fdatasync(int(f.Fd())); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return d, f.Close()
}

func forkLoop(n int, argv ...string) error {
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return err
	}
	for range n {
		pid, err := syscall.ForkExec(path, argv, &syscall.ProcAttr{Env: os.Environ()})
		if err != nil {
			return err
		}
		if _, err := syscall.Wait4(pid, nil, 0, nil); err != nil {
			return err
		}
	}
	return nil
}

// bashLoop is n times `bash -c true` in a loop of bash.
func bashLoop(n int) func() error {
	return func() error {
		return exec.Command("bash", "-c", fmt.Sprintf("for ((i=0;i<%d;i++)); do bash -c true; done", n)).Run()
	}
}
