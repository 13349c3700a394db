package temporal

import (
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/ledger"
)

// AccountWorkflow counts what one service does, for all workers of a task queue: its
// rate limit, its retry tokens and its breaker.
const AccountWorkflow = "belay.account"

// updateAccount is an AccountAsk.
const updateAccount = "account"

func accountID(queue, service string) string { return "belay-account-" + queue + "-" + service }

const (
	accountKeys = 500              // how many attempts are remembered as counted
	accountLong = 2_000            // events of a history, after which another one is begun
	accountIdle = time.Hour        // an account that nobody asks for so long, and of which nothing is wrong, is given up
	accountTell = 20 * time.Second // how long a host is told; one that cannot be reached is forgotten until it asks
)

// Account is how the workflow of an account begins, or goes on.
type Account struct {
	Counts  ledger.Account `json:"counts"`
	Told    []belay.Key    `json:"told,omitempty"`    // attempts that were counted, the oldest first
	Hosts   []string       `json:"hosts,omitempty"`   // they are told when it gets better or worse
	Version int64          `json:"version,omitempty"` // of what they were told
	Calm    bool           `json:"calm,omitempty"`
	Whole   bool           `json:"whole,omitempty"`
	Long    int            `json:"long,omitempty"` // of tests: another history after so many events
}

// AccountAsk is what a host asks of an account, or tells it: whether an attempt may
// call the service, what came of a call, or that a person takes its counts back.
type AccountAsk struct {
	Host  string       `json:"host"`
	Key   belay.Key    `json:"key,omitempty"`
	Retry bool         `json:"retry,omitempty"`
	Call  *ledger.Call `json:"call,omitempty"`
	Clear bool         `json:"clear,omitempty"`
}

// AccountAnswer is the answer to it.
type AccountAnswer struct {
	Allowance ledger.Allowance `json:"allowance"`
	News      AccountNews      `json:"news"`
}

// AccountNews is how an account stands, for the hosts that use it.
type AccountNews struct {
	Service string `json:"service"`
	Version int64  `json:"version"`
	Calm    bool   `json:"calm"`  // every attempt may call the service
	Whole   bool   `json:"whole"` // a call that goes well changes nothing
}

// counted is one ask as the history keeps it, so that a replay counts nothing again.
type counted struct {
	Counts    ledger.Account   `json:"c"`
	Allowance ledger.Allowance `json:"a"`
	Calm      bool             `json:"m,omitempty"`
	Whole     bool             `json:"w,omitempty"`
}

// account is the workflow of an account at work.
type account struct {
	Account
	asks    int
	telling map[string]int64 // hosts that are told just now, and of which version
}

// Account is the workflow of one account.
func (Workflows) Account(ctx workflow.Context, in Account) error {
	a := &account{Account: in, telling: map[string]int64{}}
	if a.Version == 0 { // one that was given up and begins again has a later one
		a.Version, a.Calm, a.Whole = workflow.Now(ctx).UnixMicro(), true, true
	}
	if err := workflow.SetUpdateHandler(ctx, updateAccount, a.take); err != nil {
		return err
	}
	for {
		asks := a.asks
		long, err := workflow.AwaitWithTimeout(ctx, accountIdle, func() bool { return a.long(ctx) })
		if err != nil {
			return err
		}
		if !long && (a.asks != asks || !a.Whole) {
			continue
		}
		err = workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) && len(a.telling) == 0 })
		switch {
		case err != nil:
			return err
		case long:
			return workflow.NewContinueAsNewError(ctx, AccountWorkflow, a.Account)
		case a.asks == asks:
			return nil
		}
	}
}

func (a *account) long(ctx workflow.Context) bool {
	most := accountLong
	if a.Long > 0 {
		most = a.Long
	}
	info := workflow.GetInfo(ctx)
	return info.GetContinueAsNewSuggested() || info.GetCurrentHistoryLength() > most
}

// take answers one ask.
func (a *account) take(ctx workflow.Context, in AccountAsk) (AccountAnswer, error) {
	a.asks++
	now, had := workflow.Now(ctx), slices.Contains(a.Told, in.Key)
	var got counted
	err := workflow.SideEffect(ctx, func(workflow.Context) any { return count(a.Counts, in, had, now) }).Get(&got)
	if err != nil {
		return AccountAnswer{}, err
	}
	switch {
	case in.Clear:
	case in.Call == nil && got.Allowance.OK: // an attempt that starts anew is counted anew
		a.Told = slices.DeleteFunc(a.Told, func(k belay.Key) bool { return k == in.Key })
	case in.Call != nil && !had:
		a.Told = append(a.Told, in.Key)
		a.Told = a.Told[max(0, len(a.Told)-accountKeys):]
	}
	a.Counts = got.Counts
	if got.Calm != a.Calm || got.Whole != a.Whole {
		a.Calm, a.Whole = got.Calm, got.Whole
		a.Version++
		for _, host := range a.Hosts {
			if host != in.Host {
				a.tell(ctx, host)
			}
		}
	}
	if !slices.Contains(a.Hosts, in.Host) {
		a.Hosts = append(a.Hosts, in.Host)
	}
	return AccountAnswer{Allowance: got.Allowance, News: a.news()}, nil
}

// count is the arithmetic of one ask.
func count(v ledger.Account, in AccountAsk, had bool, now time.Time) counted {
	var got counted
	v.TurnBack(now)
	switch {
	case in.Clear:
		v = ledger.NewAccount(v.Name)
	case in.Call == nil:
		got.Allowance = v.Allow(in.Key, in.Retry, now)
	case !had:
		v.Count(in.Key, *in.Call, now)
	}
	got.Counts, got.Calm, got.Whole = v, v.Calm(now), v.Whole()
	return got
}

func (a *account) news() AccountNews {
	return AccountNews{Service: a.Counts.Name, Version: a.Version, Calm: a.Calm, Whole: a.Whole}
}

// tell tells a host how the account stands, and once more if that changed meanwhile.
func (a *account) tell(ctx workflow.Context, host string) {
	if _, busy := a.telling[host]; busy {
		return
	}
	a.telling[host] = a.Version
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: controlQueue(host), ScheduleToCloseTimeout: accountTell, StartToCloseTimeout: accountTell / 4,
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: 200 * time.Millisecond},
	})
	workflow.Go(ctx, func(ctx workflow.Context) {
		defer delete(a.telling, host)
		for {
			a.telling[host] = a.Version
			if err := workflow.ExecuteActivity(ctx, "Account", a.news()).Get(ctx, nil); err != nil {
				a.Hosts = slices.DeleteFunc(a.Hosts, func(h string) bool { return h == host }) // it asks before it believes what it knew
				return
			}
			if a.telling[host] == a.Version {
				return
			}
		}
	})
}
