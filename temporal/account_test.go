package temporal_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/ledger"
	"github.com/belay-run/belay/temporal"
)

// teller is a host that only counts services.
type teller struct {
	t     *testing.T
	queue string
	*temporal.Accounts
	state *journal.State
	asked atomic.Int64
	said  atomic.Int64
}

// tellers are hosts of one task queue, each with its own state, and a worker that has
// the workflows of accounts.
func tellers(t *testing.T, long int, names ...string) []*teller {
	t.Helper()
	server := devServer(t)
	queue := fmt.Sprintf("accounts-%d", time.Now().UnixNano())
	c := dialed(t, server)
	flows := worker.New(c, queue, worker.Options{})
	flows.RegisterWorkflowWithOptions(temporal.Workflows{}.Account, workflow.RegisterOptions{Name: temporal.AccountWorkflow})
	started(t, flows)
	var all []*teller
	for _, name := range names {
		h := newTeller(t, c, queue, name+"-"+queue, long)
		control := worker.New(c, "belay-control-"+h.Host, worker.Options{DisableWorkflowWorker: true})
		control.RegisterActivity((&temporal.Host{Accounts: h.Accounts}).Account)
		started(t, control)
		all = append(all, h)
	}
	return all
}

func dialed(t *testing.T, server string) client.Client {
	t.Helper()
	c, err := client.Dial(client.Options{HostPort: server, Logger: quiet{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func started(t *testing.T, w worker.Worker) {
	t.Helper()
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
}

func newTeller(t *testing.T, c client.Client, queue, host string, long int) *teller {
	t.Helper()
	state, err := journal.OpenState(filepath.Join(t.TempDir(), "state"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = state.Close() }) // nothing of it is read again
	h := &teller{t: t, queue: queue, state: state}
	h.Accounts = &temporal.Accounts{
		Client: c, Queue: queue, Host: host, Own: state.Ledger(), Long: long,
		Asked: func() { h.asked.Add(1) }, Warn: func(string) { h.said.Add(1) },
	}
	return h
}

func (h *teller) may(key string, retry bool) ledger.Allowance {
	h.t.Helper()
	g, err := h.Allow("claude", belay.Key(key), retry, time.Now())
	if err != nil {
		h.t.Fatal(err)
	}
	return g
}

func (h *teller) tells(key string, c ledger.Call) {
	h.t.Helper()
	if err := h.Report("claude", belay.Key(key), c, time.Now()); err != nil {
		h.t.Fatal(err)
	}
}

// comes waits until a host is told what another one knows.
func (h *teller) comes(what string, is func() bool) {
	h.t.Helper()
	for end := time.Now().Add(patience); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			h.t.Fatalf("%s: it never came to that", what)
		}
	}
}

// What one host sees of a service holds for all of a task queue: its rate limit, its
// breaker and its retry tokens, which are counted once for each attempt.
//
// promise: G4
func TestAccountIsOneForAllHosts(t *testing.T) {
	t.Parallel()
	hosts := tellers(t, 0, "a", "b")
	a, b := hosts[0], hosts[1]
	if !a.may("r1:a.1", false).OK || !b.may("r2:a.1", false).OK {
		t.Fatal("a service of which nothing is wrong takes no calls")
	}
	a.tells("r1:a.1", ledger.Call{Class: belay.ClassRateLimit, After: 2 * time.Second})
	b.comes("the rate limit", func() bool { g := b.may("r2:b.1", false); return !g.OK && strings.Contains(g.Why, "takes no calls") })
	b.comes("its end", func() bool { return b.may("r2:b.1", false).OK })
	for i := range 4 {
		for range 2 { // the second time, as around a crash
			a.tells(fmt.Sprintf("r1:b.%d", i), ledger.Call{Class: belay.ClassQuota})
		}
		if i == 2 {
			b.comes("six tokens", func() bool { return b.may("r2:c.1", true).OK })
		}
	}
	b.comes("no tokens", func() bool {
		g := b.may("r2:c.1", true)
		return !g.OK && strings.Contains(g.Why, "has 5.0 of 10 retry tokens left")
	})
	if !b.may("r2:c.1", false).OK {
		t.Error("a first try needs a token")
	}
	var all sync.WaitGroup
	for i := range 4 { // and one that was limited
		all.Go(func() { hosts[i%2].tells(fmt.Sprintf("r3:a.%d", i), ledger.Call{Class: belay.ClassAuth}) })
	}
	all.Wait()
	for _, h := range hosts {
		h.comes("the breaker", func() bool {
			g := h.may("r4:a.1", false)
			return !g.OK && strings.Contains(g.Why, "5 calls of claude in a row failed")
		})
	}
	if err := b.ClearServices("claude"); err != nil {
		t.Fatal(err)
	}
	for _, h := range hosts {
		h.comes("its clearing", func() bool { return h.may("r5:a.1", true).OK })
	}
	if a.said.Load()+b.said.Load() > 0 {
		t.Error("somebody counted alone")
	}
}

// A start costs no way to the server while nothing is wrong, and neither does a call
// that goes well.
//
// promise: G4
func TestAccountThatIsCalmIsNotAsked(t *testing.T) {
	t.Parallel()
	a := tellers(t, 0, "a")[0]
	for i := range 200 {
		key := fmt.Sprintf("r1:a.%d", i)
		if !a.may(key, i%2 == 0).OK {
			t.Fatal("a service of which nothing is wrong takes no calls")
		}
		a.tells(key, ledger.Call{OK: true})
	}
	if n := a.asked.Load(); n != 1 {
		t.Errorf("the account was asked %d times, want once", n)
	}
}

// The history of an account is bounded: it goes on in another one, and keeps all that
// was counted and who is told.
//
// promise: G4
func TestAccountGoesOnInAnotherHistory(t *testing.T) {
	t.Parallel()
	hosts := tellers(t, 40, "a", "b")
	a, b := hosts[0], hosts[1]
	if !b.may("r2:a.1", true).OK {
		t.Fatal("a service of which nothing is wrong takes no calls")
	}
	a.tells("r1:first.1", ledger.Call{Class: belay.ClassTransient})
	for i := range 40 {
		a.tells(fmt.Sprintf("r1:a.%d", i), ledger.Call{Class: belay.ClassTransient})
		a.tells(fmt.Sprintf("r1:b.%d", i), ledger.Call{OK: true})
	}
	if err := a.ClearServices("claude"); err != nil {
		t.Fatal(err)
	}
	a.tells("r1:first.1", ledger.Call{Class: belay.ClassTransient}) // counted some histories ago
	for i := range 4 {
		a.tells(fmt.Sprintf("r1:c.%d", i), ledger.Call{Class: belay.ClassTransient})
	}
	if g := a.may("r1:d.1", false); !g.OK {
		t.Errorf("four in a row, and one that was counted before: %+v", g)
	}
	a.tells("r1:e.1", ledger.Call{Class: belay.ClassTransient})
	b.comes("the breaker", func() bool { return !b.may("r2:b.1", false).OK })
	c := a.Client
	d, err := c.DescribeWorkflowExecution(context.Background(), "belay-account-"+a.queue+"-claude", "")
	if err != nil {
		t.Fatal(err)
	}
	info := d.GetWorkflowExecutionInfo()
	if info.GetFirstRunId() == info.GetExecution().GetRunId() || info.GetHistoryLength() > 200 {
		t.Errorf("the history has %d events, and is the first: %t", info.GetHistoryLength(), info.GetFirstRunId() == info.GetExecution().GetRunId())
	}
	if a.said.Load()+b.said.Load() > 0 {
		t.Error("somebody counted alone")
	}
}

// While its account cannot be reached a host counts alone, and says so once.
//
// promise: G4
func TestHostCountsAlone(t *testing.T) {
	t.Parallel()
	c, err := client.NewLazyClient(client.Options{HostPort: "127.0.0.1:1", Logger: quiet{}}) // nobody listens there
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	a := newTeller(t, c, "nowhere", "a", 0)
	if !a.may("r:a.1", false).OK {
		t.Error("a service of which nothing is known takes no calls")
	}
	for i := range 5 {
		a.tells(fmt.Sprintf("r:b.%d", i), ledger.Call{Class: belay.ClassTransient})
	}
	if g := a.may("r:c.1", false); g.OK || !strings.Contains(g.Why, "in a row failed") {
		t.Errorf("the host did not count: %+v", g)
	}
	if n := a.said.Load(); n != 1 {
		t.Errorf("it was said %d times", n)
	}
}
