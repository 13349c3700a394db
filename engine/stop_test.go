package engine

import (
	"context"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/proc"
)

// A step that was ended along with its driver has not failed; one that was ended alone
// has, and many of those are waited for once.
//
// promise: K5
func TestTogether(t *testing.T) {
	term := func() *proc.Exit { return &proc.Exit{Signal: int(syscall.SIGTERM), Code: 143, Ended: time.Now()} }
	for name, c := range map[string]struct {
		exit func() *proc.Exit
		told time.Duration // when the driver is told to end; 0 = never
		want bool
		took time.Duration
	}{
		"told a moment later": {term, 20 * time.Millisecond, true, 20 * time.Millisecond},
		"told much later":     {term, time.Second, false, togetherWithin},
		"never told":          {term, 0, false, togetherWithin},
		"a shell whose child was ended": {
			func() *proc.Exit { return &proc.Exit{Code: 143, Ended: time.Now()} }, time.Millisecond, true, time.Millisecond,
		},
		"a failure of its own": {func() *proc.Exit { return &proc.Exit{Code: 1, Ended: time.Now()} }, time.Millisecond, false, 0},
		"a crash of its own": {
			func() *proc.Exit { return &proc.Exit{Signal: int(syscall.SIGSEGV), Code: 139, Ended: time.Now()} }, time.Millisecond, false, 0,
		},
		"belay ended it": {
			func() *proc.Exit { e := term(); e.KilledBy = fault.KilledDeadline; return e }, time.Millisecond, false, 0,
		},
		"one of many, the first was waited for": {
			func() *proc.Exit { e := term(); e.Ended = e.Ended.Add(-togetherWithin); return e }, 0, false, 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				if c.told > 0 {
					defer time.AfterFunc(c.told, stop).Stop()
				}
				began := time.Now()
				is := (&drive{}).together(ctx, c.exit())
				if took := time.Since(began); is != c.want || took != c.took {
					t.Errorf("%v after %v, want %v after %v", is, took, c.want, c.took)
				}
			})
		})
	}
}
