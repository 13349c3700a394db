package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/ledger"
	"github.com/belay-run/belay/story"
)

func TestTypedValue(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"3": "3", "-1.5e3": "-1.5e3", "true": "true", "false": "false", "null": "null",
		"True": "true", "False": "false", "TRUE": `"TRUE"`,
		`{"a": 1}`: `{"a":1}`, "[1, 2]": "[1,2]", "{oops": `"{oops"`,
		`"quoted"`: `"\"quoted\""`, "": `""`, "007": `"007"`, "1e999": `"1e999"`,
		"12345678901234567890123": "12345678901234567890123",
		"a b":                     `"a b"`, "日本": `"日本"`,
	} {
		got, err := typedValue(in)
		if err != nil || string(got) != want {
			t.Errorf("typedValue(%q) = %s, %v; want %s", in, got, err, want)
		}
	}
	if _, err := typedValue("\xff"); err == nil {
		t.Error("bytes that are no text are changed in silence")
	}
}

func TestParseSets(t *testing.T) {
	t.Parallel()
	got, err := parseSets([]string{"a=1", "b=x=y", "a=2", "with-dash="})
	if err != nil || len(got) != 3 || string(got["a"]) != "2" || string(got["b"]) != `"x=y"` || string(got["with-dash"]) != `""` {
		t.Errorf("got %s, %v", got, err)
	}
	for _, bad := range []string{"a", "=1", "1a=2", "a b=1", "LD_PRELOAD=x", "belay_x=1"} {
		if _, err := parseSets([]string{bad}); err == nil {
			t.Errorf("--set %q is taken", bad)
		}
	}
}

// The table of how a process ends after a drive.
//
// promise: X
func TestSettle(t *testing.T) {
	t.Parallel()
	achieved := &belay.RunResult{Status: belay.Achieved}
	failed := &belay.RunResult{Status: belay.Failed, Code: exit.Failed, Reason: "r"}
	held := &belay.RunResult{Status: belay.Held, Code: exit.Held}
	stopped := &belay.RunResult{Status: belay.Stopped, Code: exit.Terminated}
	full := exit.New(exit.Infra, "append", errors.New("no room"), "make room")
	bad := errors.New("close keeper: gone")
	sig := &Signalled{Signal: syscall.SIGINT}
	for _, c := range []struct {
		name   string
		in     ending
		status belay.Status
		code   int
		aside  bool
		run    bool // the error is the run's own, shown already
	}{
		{"achieved", ending{committed: achieved}, belay.Achieved, 0, false, false},
		{"failed", ending{committed: failed}, belay.Failed, 1, false, true},
		{"held", ending{committed: held}, belay.Held, 11, false, true},
		{"stopped by request", ending{committed: stopped}, belay.Stopped, 143, false, true},
		{"stopped by signal", ending{committed: stopped, signal: sig}, belay.Stopped, 130, false, true},
		{"achieved, then not closed", ending{committed: achieved, cleanup: bad}, belay.Achieved, 8, false, false},
		{"achieved, then not noted", ending{committed: achieved, err: bad}, belay.Achieved, 8, false, false},
		{"failed, then not closed", ending{committed: failed, cleanup: bad}, belay.Failed, 1, true, true},
		{"failed, then an error with a code", ending{committed: failed, err: full}, belay.Failed, 1, true, true},
		{"cut off by a full disk", ending{err: full, result: belay.RunResult{Status: belay.Achieved}}, belay.Stopped, 8, false, false},
		{"cut off by something", ending{err: bad}, belay.Stopped, 1, false, false},
		{"two signals", ending{err: &engine.Interrupted{}, signal: sig}, belay.Stopped, 130, false, true},
		{"two signals, stopped before the second", ending{committed: stopped, err: &engine.Interrupted{}, signal: sig}, belay.Stopped, 130, false, true},
		{"failed, then two signals", ending{committed: failed, err: &engine.Interrupted{}, signal: sig}, belay.Failed, 1, false, true},
		{"held, then a signal", ending{committed: held, signal: sig}, belay.Held, 11, false, true},
		{"a signal while attaching", ending{err: fmt.Errorf("reach keeper: %w", context.Canceled), signal: sig}, belay.Stopped, 130, false, true},
		{"a signal and a full disk", ending{err: full, signal: sig}, belay.Stopped, 8, false, false},
		{"no error and no end", ending{result: belay.RunResult{Status: belay.Running}}, belay.Stopped, 1, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			res, err, aside := c.in.settle("r")
			if res.Status != c.status || res.Code != c.code || exit.Code(err) != c.code {
				t.Errorf("status %s, code %d, error %v with code %d", res.Status, res.Code, err, exit.Code(err))
			}
			if (aside != nil) != c.aside {
				t.Errorf("aside: %v", aside)
			}
			var run *belay.RunError
			if errors.As(err, &run) != c.run {
				t.Errorf("error: %T %v", err, err)
			}
		})
	}
}

func TestListener(t *testing.T) {
	t.Parallel()
	received := event.RequestReceived{Request: event.Request{ID: "me", Run: "r"}}
	ended := event.RunEnded{RunResult: belay.RunResult{Status: belay.Aborted}}
	for _, c := range []struct {
		name   string
		ask    event.RequestKind
		events []event.Event
		done   bool
		want   reply
	}{
		{"nothing yet", event.RequestCancel, []event.Event{event.AttemptEnded{}}, false, ""},
		{"of another", event.RequestAnswer, []event.Event{event.RequestReceived{Request: event.Request{ID: "you"}}}, false, ""},
		{"answer taken", event.RequestAnswer, []event.Event{received, event.ItemAnswered{}}, true, accepted},
		{"answer refused", event.RequestAnswer, []event.Event{received, event.RequestRefused{ID: "me", Why: "no"}}, true, refused},
		{"refusal of another", event.RequestAnswer, []event.Event{received, event.RequestRefused{ID: "you"}}, true, accepted},
		{"cancel waits for the end", event.RequestCancel, []event.Event{received}, false, accepted},
		{"cancelled", event.RequestCancel, []event.Event{received, ended}, true, accepted},
		{"stop taken", event.RequestStop, []event.Event{received, event.RunStopped{}}, true, accepted},
		{"ended before it was read", event.RequestCancel, []event.Event{ended}, false, ""},
		{"held before it was read", event.RequestAnswer, []event.Event{event.RunHeld{}}, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := &listener{heardOf: story.New(nil), req: event.Request{ID: "me", Run: "r", Ask: c.ask}}
			var recs []event.Record
			for _, e := range c.events {
				recs = append(recs, event.Record{Run: "r", Event: e})
			}
			l.listen(recs)
			if l.settled() != c.done || l.reply != c.want {
				t.Errorf("reply %q, settled %v", l.reply, l.settled())
			}
		})
	}
}

func TestNothingWaitsInARunThatIsOver(t *testing.T) {
	t.Parallel()
	held := story.Placed{StepView: flow.StepView{Phase: flow.Held}}
	given := story.Placed{StepView: flow.StepView{Phase: flow.Waiting, Attempt: 1}}
	for _, c := range []struct{ got, want string }{
		{stepResult(held, false, story.Sum{}), "waits for an answer"},
		{stepResult(held, true, story.Sum{}), "was not answered"},
		{stepResult(given, false, story.Sum{}), ""},
		{stepResult(given, true, story.Sum{}), "not finished"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestFreshIDsDiffer(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 100 {
		id := freshID(event.RequestAnswer)
		if seen[id] {
			t.Fatalf("%s twice", id)
		}
		seen[id] = true
	}
}

func TestTypedErrorsHaveTheirCodes(t *testing.T) {
	t.Parallel()
	unknown := exit.New(exit.Usage, "find run", &journal.Unknown{ID: "x"}, "list them")
	for _, c := range []struct {
		err  error
		code int
	}{
		{nil, 0},
		{unknown, 65},
		{exit.New(exit.Usage, "find run", &journal.Ambiguous{Prefix: "x"}, ""), 65},
		{exit.New(exit.Usage, "create run", journal.ErrExists, ""), 65},
		{exit.New(exit.Busy, "lock", &journal.Busy{Run: "r"}, ""), 9},
		{errors.New("anything"), 1},
	} {
		if got := exit.Code(typed(c.err)); got != c.code {
			t.Errorf("%v: code %d, want %d", c.err, got, c.code)
		}
	}
	if h := hint(typed(unknown)); h != "list them" {
		t.Errorf("the hint is lost: %q", h)
	}
}

func TestQuote(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"/tmp/a": "/tmp/a", "two words": "'two words'", "it's": `'it'\''s'`, "": "''", "$x": "'$x'",
	} {
		if got := story.Quote(in); got != want {
			t.Errorf("story.Quote(%q) = %s, want %s", in, got, want)
		}
	}
}

func TestChildrenFollowTheirParents(t *testing.T) {
	t.Parallel()
	member := func(run, parent belay.RunID) ledger.Member {
		return ledger.Member{Run: run, Session: belay.Session{Parent: parent}}
	}
	var got []string
	for _, m := range inOrder([]ledger.Member{
		member("b", ""), member("a", ""), member("c", "a"), member("d", "b"), member("e", "c"), member("lost", "gone"),
	}) {
		got = append(got, string(m.Run))
	}
	if text := strings.Join(got, " "); text != "b d a c e lost" {
		t.Errorf("order: %s", text)
	}
}

type brokenPipe struct{ written int }

func (b *brokenPipe) Write(p []byte) (int, error) {
	if b.written += len(p); b.written > 10 {
		return 0, syscall.EPIPE
	}
	return len(p), nil
}

func TestLostAnswerIsNoSuccess(t *testing.T) {
	t.Parallel()
	a := &answer{w: &brokenPipe{}}
	a.line("short")
	if err := a.settle(nil); err != nil {
		t.Errorf("too early: %v", err)
	}
	a.line("and then more than fits")
	if err := a.settle(nil); exit.Code(err) != exit.Infra || !errors.Is(err, syscall.EPIPE) {
		t.Errorf("got %v", err)
	}
	own := &belay.RunError{Result: belay.RunResult{Code: exit.Failed}}
	if err := a.settle(own); exit.Code(err) != exit.Failed {
		t.Errorf("the run's own failure does not win: %v", err)
	}
}

// Signals are sent to the test process itself, so this test is not parallel.
func TestAttention(t *testing.T) {
	// Under nohup SIGHUP is ignored, and attend would respect that; to ask for it
	// once takes that back.
	own := make(chan os.Signal, 8)
	signal.Notify(own, syscall.SIGHUP)
	defer signal.Stop(own)
	ticks := make(chan time.Time)
	ctx, at := attend(t.Context(), func(now time.Time) {
		select {
		case ticks <- now:
		default:
		}
	})
	<-ticks
	if ctx.Err() != nil {
		t.Error("cancelled before any signal")
	}
	kill := func(s syscall.Signal) {
		t.Helper()
		if err := syscall.Kill(syscall.Getpid(), s); err != nil {
			t.Fatal(err)
		}
	}
	kill(syscall.SIGHUP)
	<-ctx.Done()
	kill(syscall.SIGHUP)
	<-own
	<-own
	select {
	case <-at.hard:
		t.Error("a terminal that goes away ends everything at once")
	default:
	}
	kill(syscall.SIGTERM)
	<-at.hard
	if s := at.stop(); s == nil || s.ExitCode() != exit.Hangup {
		t.Errorf("signalled: %v", s)
	}
}

// Which signals after the first mean at once.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sigs  []syscall.Signal
		every time.Duration
		hard  bool
	}{
		{[]syscall.Signal{syscall.SIGINT}, 0, false},
		{[]syscall.Signal{syscall.SIGHUP, syscall.SIGHUP, syscall.SIGHUP}, time.Hour, false},
		{[]syscall.Signal{syscall.SIGTERM, syscall.SIGHUP}, 0, false},
		{[]syscall.Signal{syscall.SIGHUP, syscall.SIGINT}, 0, true},
		{[]syscall.Signal{syscall.SIGINT, syscall.SIGINT}, 0, true},
		{[]syscall.Signal{syscall.SIGINT, syscall.SIGHUP, syscall.SIGTERM, syscall.SIGTERM}, 0, true},
		{[]syscall.Signal{syscall.SIGTERM, syscall.SIGTERM, syscall.SIGTERM}, time.Millisecond, false}, // of timeout(1)
		{[]syscall.Signal{syscall.SIGTERM, syscall.SIGTERM}, echoWithin, true},
		{[]syscall.Signal{syscall.SIGTERM, syscall.SIGINT}, 0, true},
	} {
		at := &attention{hard: make(chan struct{}), cancel: func(error) {}}
		now := time.Now()
		for i, s := range c.sigs {
			at.take(s, now.Add(time.Duration(i)*c.every))
		}
		if at.first.Signal != c.sigs[0] || at.hurried != c.hard {
			t.Errorf("%v: first %v, at once %v", c.sigs, at.first, at.hurried)
		}
	}
}

func TestVariablesOfTheCaller(t *testing.T) {
	t.Parallel()
	a := &app{environ: []string{"A=1", "BELAY_STATE=/s", "A=2"}}
	if a.env("A") != "2" || a.env("B") != "" {
		t.Error("the last one does not count")
	}
	if dir, err := a.stateDir(); err != nil || dir != "/s" {
		t.Errorf("%s %v", dir, err)
	}
	a.state = "/flag"
	if dir, err := a.stateDir(); err != nil || dir != "/flag" || a.name() != "belay --state /flag" {
		t.Errorf("%s %v %s", dir, err, a.name())
	}
	a.state, a.environ = "", nil
	if _, err := a.stateDir(); exit.Code(err) != exit.Invalid {
		t.Errorf("no home: %v", err)
	}
}

// Every command that only answers a question is asked one with its standard output
// closed, and full: the script closed.txtar has the list.
//
// promise: X
func TestEveryCommandIsAsked(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "cmd", "belay", "testdata", "script", "closed.txtar"))
	must(t, err)
	silent := []string{"gc", "issue list", "judge", "notify list"} // have nothing to say in that script
	var look func(cmd *cobra.Command, name string)
	look = func(cmd *cobra.Command, name string) {
		for _, c := range cmd.Commands() {
			look(c, strings.TrimSpace(name+" "+c.Name()))
		}
		if !cmd.HasSubCommands() && !acts(cmd) && !slices.Contains(silent, name) && !strings.Contains(string(text), "\n"+name+" ") && !strings.Contains(string(text), "\n"+name+"\n") {
			t.Errorf("belay %s: nobody asks it with its standard output closed", name)
		}
	}
	root := (&app{out: &answer{}}).root(nil)
	look(root, "")
	if export, _, err := root.Find([]string{"export"}); err != nil || !acts(export) {
		t.Errorf("export into a file is an act: %v", err)
	}
}
