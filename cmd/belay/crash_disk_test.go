//go:build linux && failpoints

package main

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/belay-run/belay"
)

// crashFull runs the recipe with less and less room for the state directory:
// it ends in 8 and says why, and after there is room again it goes on without
// doing anything done once more.
//
// promise: K2, X8
func crashFull(t *testing.T, b *bench) {
	var sizes []int // KiB, from too little to begin with to enough
	for kb := 64; kb <= 640; kb += 24 {
		sizes = append(sizes, kb)
	}
	var mu sync.Mutex
	var all tally
	how := ""
	b.each(len(sizes), func(i int) {
		seen, by, err := b.withLittleRoom(sizes[i])
		if err != nil {
			t.Errorf("%d KiB: %v", sizes[i], err)
		}
		mu.Lock()
		defer mu.Unlock()
		all.add(seen)
		how = by
	})
	if all.points < 3 {
		t.Errorf("only %d runs met a full disk in the middle", all.points)
	}
	b.say("full: %d sizes (%s), full in the middle %d; %s", len(sizes), how, all.points, &all)
}

func (b *bench) withLittleRoom(kb int) (seen tally, how string, err error) {
	r, err := b.newRig(b.shipped)
	if err != nil {
		return tally{}, "", err
	}
	how, grow, clear := r.smallDisk(kb)
	defer clear()
	defer r.wipe()
	e, err := r.belay(nil, "run", "crash.yaml")
	switch {
	case err != nil:
		return tally{}, how, err
	case e.signal != 0 || e.code != belay.ExitOK && e.code != belay.ExitInfra:
		return tally{}, how, fmt.Errorf("want exit 8: %v", e)
	case e.code == belay.ExitInfra && !says(e.err, "space", "full", "too large", "limit"):
		return tally{}, how, fmt.Errorf("it is not said why: %s", e.err)
	}
	if err := grow(); err != nil {
		return tally{}, how, err
	}
	if !r.began() {
		return tally{}, how, r.nothingBegan()
	}
	held, err := r.finish()
	if err != nil {
		return tally{}, how, fmt.Errorf("after %v: %w", e, err)
	}
	seen, err = b.check(r, false)
	seen.held = held
	if e.code == belay.ExitInfra {
		seen.points++
	}
	return seen, how, errors.Join(err, b.onlyInFlight(r))
}

func says(text string, words ...string) bool {
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// smallDisk gives the state directory little room: a file system of its own, or,
// where this user may not mount one, a limit on the size of files.
func (r *rig) smallDisk(kb int) (how string, grow func() error, clear func()) {
	size := func(n int) string { return fmt.Sprintf("size=%dk,mode=0700", n) }
	err := syscall.Mount("tmpfs", r.state(), "tmpfs", 0, size(kb))
	if err == nil {
		return "tmpfs", func() error {
				return syscall.Mount("tmpfs", r.state(), "tmpfs", syscall.MS_REMOUNT, size(64<<10))
			}, func() {
				_ = syscall.Unmount(r.state(), syscall.MNT_DETACH) // the folder is removed with the test
			}
	}
	r.wrap = []string{"bash", "-c", fmt.Sprintf(`trap '' XFSZ; ulimit -f %d; exec "$@"`, kb), "bash"}
	return fmt.Sprintf("ulimit, since mount says %v", err), func() error { r.wrap = nil; return nil }, func() {}
}
