//go:build linux && failpoints

package main

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
)

// crashFull runs the recipe with less and less room for the state directory:
// it ends in 8 and says why, and after there is room again it goes on without
// doing anything done once more.
//
// promise: K2, X8
func crashFull(t *testing.T, b *bench) {
	t.Helper()
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
	if err := b.onceWithoutRoom(); err != nil {
		t.Errorf("a step that must not run twice and cannot write its log: %v", err)
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
	case e.signal != 0 || e.code != exit.OK && e.code != exit.Infra:
		return tally{}, how, fmt.Errorf("want exit 8: %v", e)
	case e.code == exit.Infra && !says(e.err, "space", "full", "too large", "limit"):
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
		held, err = r.onceMore(err)
	}
	if err != nil {
		return tally{}, how, fmt.Errorf("after %v: %w", e, err)
	}
	seen, err = b.check(r, false)
	seen.held = held
	if e.code == exit.Infra {
		seen.points++
	}
	return seen, how, errors.Join(err, b.onlyInFlight(r))
}

// onceWithoutRoom has a step that must not run twice end well while its log
// cannot be written: it did its work, and must not do it again.
func (b *bench) onceWithoutRoom() error {
	r, err := b.newRig(b.shipped)
	if err != nil {
		return err
	}
	how, grow, clear := r.smallDisk(1024)
	defer clear()
	defer r.wipe()
	if how != byMount {
		b.say("full: a step without room for its log was not tried: %s", how)
		return nil
	}
	script := `. ./words.sh; begin; cat /dev/zero > "$BELAY_STATE/ballast" || true; echo sent; end`
	err = r.put("send.yaml", fmt.Sprintf("name: send\nsteps:\n  - {id: send, once: true, command: %q}\n", script))
	if err != nil {
		return err
	}
	e, err := r.belay(nil, "run", "send.yaml")
	if err != nil || e.code != exit.Infra && e.code != exit.Held {
		return errors.Join(err, fmt.Errorf("want exit 8 or 11: %v", e))
	}
	if err := grow(); err != nil {
		return err
	}
	for range 3 {
		if e, err = r.belay(nil, "resume", string(r.id())); err != nil || e.code == exit.OK {
			break
		}
	}
	return errors.Join(err, r.begins(map[string]int{"send": 1}))
}

// onceMore resumes a run that has ended FAILED because a step could not write
// its log while there was no room: that is on record as what it was, and a
// person opens the run again.
func (r *rig) onceMore(first error) (int, error) {
	recs, err := r.records()
	if err != nil {
		return 0, err
	}
	last, ok := recs[len(recs)-1].Event.(event.RunEnded)
	if !ok || last.Code != exit.Infra { // of the step itself, or of one in a sub-recipe
		return 0, first
	}
	return r.finish()
}

func says(text string, words ...string) bool {
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// byMount is the better way to little room.
const byMount = "tmpfs"

// smallDisk gives the state directory little room: a file system of its own, or,
// where this user may not mount one, a limit on the size of files.
func (r *rig) smallDisk(kb int) (how string, grow func() error, clear func()) {
	size := func(n int) string { return fmt.Sprintf("size=%dk,mode=0700", n) }
	err := syscall.Mount("tmpfs", r.state(), "tmpfs", 0, size(kb))
	if err == nil {
		return byMount, func() error {
				return syscall.Mount("tmpfs", r.state(), "tmpfs", syscall.MS_REMOUNT, size(64<<10))
			}, func() {
				_ = syscall.Unmount(r.state(), syscall.MNT_DETACH) // the folder is removed with the test
			}
	}
	r.wrap = []string{"bash", "-c", fmt.Sprintf(`trap '' XFSZ; ulimit -f %d; exec "$@"`, kb), "bash"}
	return fmt.Sprintf("ulimit, since mount says %v", err), func() error { r.wrap = nil; return nil }, func() {}
}
