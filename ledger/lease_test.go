package ledger_test

import (
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/ledger"
	"github.com/belay-run/belay/proc"
)

// leases is a ledger in which processes with an even pid are dead.
func leases(t *testing.T, runs ...ledger.Member) *ledger.Ledger {
	t.Helper()
	led := open(t)
	led.Dead = func(id proc.Identity) bool { return id.Pid%2 == 0 }
	for _, m := range runs {
		m.Alive = true
		must(t, led.Store.Change("test", func(c ledger.Tx) error { return ledger.PutSession(c, m) }))
	}
	return led
}

func run1(id, parent belay.RunID, driver, keeper int) ledger.Member {
	return ledger.Member{Run: id, Session: belay.Session{Tree: "t", Parent: parent}, Driver: proc.Identity{Pid: driver}, Keeper: proc.Identity{Pid: keeper}}
}

func take(t *testing.T, led *ledger.Ledger, l ledger.Lease) ledger.Leased {
	t.Helper()
	got, err := led.TakeTree(l)
	must(t, err)
	return got
}

// One step has a tree at a time; a row of a run whose driver and keeper are
// proven dead counts for nothing.
func TestLeaseHasOneHolder(t *testing.T) {
	led := leases(t, run1("a", "", 1, 3), run1("b", "", 5, 7), run1("c", "", 2, 9), run1("d", "", 4, 6))
	first := take(t, led, ledger.Lease{Tree: "/x", Run: "a", Step: "a:w"})
	if !first.OK {
		t.Fatalf("%+v", first)
	}
	if got := take(t, led, ledger.Lease{Tree: "/x", Run: "b", Step: "b:w"}); got.OK || got.By != "a" || got.Never {
		t.Errorf("b: %+v", got)
	}
	if got := take(t, led, ledger.Lease{Tree: "/x", Run: "a", Step: "a:w"}); !got.OK || got.Taken != first.Taken {
		t.Errorf("the holder again: %+v, was %+v", got, first)
	}
	if got := take(t, led, ledger.Lease{Tree: "/x", Run: "a", Step: "a:other"}); got.OK || got.By != "a" {
		t.Errorf("another step of the same run: %+v", got)
	}
	must(t, led.GiveTrees("a", map[string][]string{"/x": {"a:w"}})) // it still needs it
	if got := take(t, led, ledger.Lease{Tree: "/x", Run: "b", Step: "b:w"}); got.OK {
		t.Errorf("b, after nothing was given back: %+v", got)
	}
	must(t, led.GiveTrees("a", nil))
	if got := take(t, led, ledger.Lease{Tree: "/x", Run: "a", Step: "a:w"}); got.Taken != first.Taken {
		t.Errorf("nobody had it meanwhile: %+v, was %+v", got, first)
	}
	must(t, led.GiveTrees("a", nil))
	must(t, func() error { _, err := led.TakeTree(ledger.Lease{Tree: "/x", Run: "b", Step: "b:w"}); return err }())
	must(t, led.GiveTrees("b", nil))
	if got := take(t, led, ledger.Lease{Tree: "/x", Run: "a", Step: "a:w"}); !got.OK || got.Taken == first.Taken {
		t.Errorf("somebody had it meanwhile: %+v, was %+v", got, first)
	}
	// the driver of c is dead and its keeper is not; of d both are dead
	take(t, led, ledger.Lease{Tree: "/c", Run: "c", Step: "c:w"})
	take(t, led, ledger.Lease{Tree: "/d", Run: "d", Step: "d:w"})
	if got := take(t, led, ledger.Lease{Tree: "/c", Run: "a", Step: "a:w"}); got.OK || got.By != "c" {
		t.Errorf("held by a keeper: %+v", got)
	}
	if got := take(t, led, ledger.Lease{Tree: "/d", Run: "a", Step: "a:w"}); !got.OK {
		t.Errorf("held by the dead: %+v", got)
	}
}

// What was started inside a step works under its lease, and never waits for a
// tree while the step around it has another.
func TestLeaseOfTheFamily(t *testing.T) {
	led := leases(t, run1("a", "", 1, 3), run1("in", "a", 5, 7), run1("too", "a", 9, 11), run1("b", "", 13, 15))
	take(t, led, ledger.Lease{Tree: "/x", Run: "a", Step: "a:w"})
	if got := take(t, led, ledger.Lease{Tree: "/x", Run: "in", Step: "in:w"}); !got.OK {
		t.Errorf("inside: %+v", got)
	}
	if got := take(t, led, ledger.Lease{Tree: "/x", Run: "too", Step: "too:w"}); got.OK || got.By != "in" || got.Never {
		t.Errorf("two inside take turns: %+v", got)
	}
	if got := take(t, led, ledger.Lease{Tree: "/x", Run: "a", Step: "a/w.1:part"}); got.OK {
		t.Errorf("a part of the step, while one inside works: %+v", got)
	}
	must(t, led.GiveTrees("in", nil))
	if got := take(t, led, ledger.Lease{Tree: "/x", Run: "a", Step: "a/w.1:part"}); !got.OK {
		t.Errorf("a part of the step: %+v", got)
	}
	take(t, led, ledger.Lease{Tree: "/y", Run: "b", Step: "b:w"})
	if got := take(t, led, ledger.Lease{Tree: "/y", Run: "in", Step: "in:w"}); got.OK || !got.Never {
		t.Errorf("another tree, which others have: %+v", got)
	}
	if got := take(t, led, ledger.Lease{Tree: "/z", Run: "in", Step: "in:w"}); !got.OK {
		t.Errorf("another tree, which is free: %+v", got)
	}
}

// Steps whose author says that sharing is meant are there together.
func TestLeaseIsShared(t *testing.T) {
	led := leases(t, run1("a", "", 1, 3), run1("b", "", 5, 7))
	take(t, led, ledger.Lease{Tree: "/x", Run: "a", Step: "a:one", Shared: true})
	if got := take(t, led, ledger.Lease{Tree: "/x", Run: "a", Step: "a:two", Shared: true}); !got.OK {
		t.Errorf("both share: %+v", got)
	}
	if got := take(t, led, ledger.Lease{Tree: "/x", Run: "a", Step: "a:three"}); got.OK {
		t.Errorf("one does not: %+v", got)
	}
	if got := take(t, led, ledger.Lease{Tree: "/x", Run: "b", Step: "b:one", Shared: true}); got.OK {
		t.Errorf("of another run: %+v", got)
	}
}
