package temporal

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/ledger"
)

// Accounts are the services that agents call, for one host: each is counted in a
// workflow of its own, by all workers of a task queue. A service of which nothing is
// wrong is not asked about; its workflow tells the hosts that use it when that changes.
// While a workflow cannot be reached the host counts alone.
type Accounts struct {
	Client client.Client
	Queue  string
	Host   string
	Own    engine.Accounts // of this machine: it has all that was counted here
	Warn   func(string)    // that the host counts alone; nil = nobody listens
	Asked  func()          // an account was asked; nil = nobody counts
	Long   int             // of tests: see Account

	mu    sync.Mutex
	known map[string]standing
	away  time.Time // no account is asked before it
}

// standing is how an account stood when it was heard of last.
type standing struct {
	news  AccountNews
	until time.Time // it is asked again after it
}

const (
	accountTrust  = 5 * time.Minute // for how long a host believes what it was told
	accountWithin = 5 * time.Second // an account answers, or the host counts alone
	accountAway   = 10 * time.Second
)

// Allow asks whether the agent of an attempt may call its service.
func (a *Accounts) Allow(service string, key belay.Key, retry bool, now time.Time) (ledger.Allowance, error) {
	if n, ok := a.knows(service); ok && n.Calm {
		return ledger.Allowance{OK: true}, nil
	}
	got, err := a.ask(service, AccountAsk{Key: key, Retry: retry})
	if err != nil {
		return a.Own.Allow(service, key, retry, now)
	}
	return got.Allowance, nil
}

// Report counts what came of one call, here and for all.
func (a *Accounts) Report(service string, key belay.Key, call ledger.Call, now time.Time) error {
	if err := a.Own.Report(service, key, call, now); err != nil {
		return err
	}
	n, ok := a.knows(service)
	nothing := call.OK && n.Whole || !call.OK && call.Class == belay.ClassNone && n.Calm
	if service == "" || ok && nothing {
		return nil
	}
	_, _ = a.ask(service, AccountAsk{Key: key, Call: &call}) // it was said; this machine has counted it
	return nil
}

// ClearServices forgets what is counted of a service, here and for all.
func (a *Accounts) ClearServices(service string) error {
	if err := a.Own.ClearServices(service); err != nil || service == "" {
		return err
	}
	_, err := a.ask(service, AccountAsk{Clear: true})
	return err
}

// Learn takes in what an account tells.
func (a *Accounts) Learn(n AccountNews) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.known == nil {
		a.known = map[string]standing{}
	}
	if old, ok := a.known[n.Service]; !ok || n.Version >= old.news.Version {
		a.known[n.Service] = standing{news: n, until: time.Now().Add(accountTrust)}
	}
}

func (a *Accounts) knows(service string) (AccountNews, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s, ok := a.known[service]
	return s.news, ok && time.Now().Before(s.until)
}

// ask asks an account. What keeps it from answering is said once for each time that
// it cannot be reached.
func (a *Accounts) ask(service string, in AccountAsk) (AccountAnswer, error) {
	a.mu.Lock()
	away := time.Now().Before(a.away)
	a.mu.Unlock()
	if away {
		return AccountAnswer{}, errAway
	}
	if a.Asked != nil {
		a.Asked()
	}
	in.Host = a.Host
	got, err := a.update(service, in)
	if err == nil {
		a.Learn(got.News)
		return got, nil
	}
	a.mu.Lock()
	a.away = time.Now().Add(accountAway)
	delete(a.known, service)
	a.mu.Unlock()
	if a.Warn != nil {
		a.Warn(fmt.Sprintf("the account of %s cannot be reached, and host %s counts alone: %v", service, a.Host, err))
	}
	return got, err
}

var errAway = errors.New("the accounts of services could not be reached just now")

func (a *Accounts) update(service string, in AccountAsk) (got AccountAnswer, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), accountWithin)
	defer cancel()
	h, err := a.Client.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{
		StartWorkflowOperation: a.Client.NewWithStartWorkflowOperation(client.StartWorkflowOptions{
			ID: accountID(a.Queue, service), TaskQueue: a.Queue, WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		}, AccountWorkflow, Account{Counts: ledger.NewAccount(service), Long: a.Long}),
		UpdateOptions: client.UpdateWorkflowOptions{UpdateName: updateAccount, Args: []any{in}, WaitForStage: client.WorkflowUpdateStageCompleted},
	})
	if err == nil {
		err = h.Get(ctx, &got)
	}
	return got, err
}
