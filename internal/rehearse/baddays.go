// Package rehearse plays recipes without agents that cost and with bad days
// made on purpose: it writes what the scripted agent does, changes what a step
// does on its way to its process, makes copies to work in, starts and kills
// drivers, and tells from the journal what came of it. It judges no attempt and
// recovers nothing: that is done by the run itself, as always. It refuses a
// fault that cannot happen to a step.
package rehearse

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/spelling"
)

// Fault is the closed list of bad days.
type Fault string

const (
	Hang          Fault = "hang"
	HollowClaim   Fault = "hollow"
	Denied        Fault = "denied"
	Unauthorised  Fault = "401"
	RateLimited   Fault = "429"
	ServerError   Fault = "500"
	TokenLimit    Fault = "token_limit"
	Refusal       Fault = "refusal"
	Truncated     Fault = "truncated"
	Crash         Fault = "crash"
	Kill9         Fault = "kill9"
	DiskFull      Fault = "disk_full"
	Slow          Fault = "slow"
	Flood         Fault = "flood"
	LyingRecovery Fault = "lying_recovery"
)

// faultRow is a fault, and what then befalls an attempt, in words.
type faultRow struct {
	fault Fault
	words string
}

// faultRows is the whole list.
func faultRows() []faultRow {
	return []faultRow{
		{Hang, "does nothing any more"},
		{HollowClaim, "claims to be done, and has done nothing"},
		{Denied, "may not use a tool"},
		{Unauthorised, "has no login"},
		{RateLimited, "is told to wait by the service"},
		{ServerError, "finds the service out of order"},
		{TokenLimit, "has a prompt that is too long for the model"},
		{Refusal, "is refused by the model"},
		{Truncated, "stops in the middle of its answer"},
		{Crash, "ends with an error in the middle"},
		{Kill9, "goes on while Belay is killed, and the run is resumed"},
		{DiskFull, "ends as on a full disk"},
		{Slow, "takes long, within its limits"},
		{Flood, "prints 16 MB"},
		{LyingRecovery, "fails, and what is to repair it claims that it did"},
	}
}

// Faults is the whole list.
func Faults() []Fault {
	var all []Fault
	for _, r := range faultRows() {
		all = append(all, r.fault)
	}
	return all
}

// Explained says of each fault what the attempt that has it does, a line each.
func Explained() string {
	var b strings.Builder
	for _, r := range faultRows() {
		fmt.Fprintf(&b, "  %-16s%s\n", r.fault, r.words)
	}
	return b.String()
}

// works tells whether the attempt does its work all the same.
func (f Fault) works() bool {
	switch f {
	case Kill9, Slow, Flood:
		return true
	case Hang, HollowClaim, Denied, Unauthorised, RateLimited, ServerError, TokenLimit, Refusal, Truncated, Crash, DiskFull, LyingRecovery:
	}
	return false
}

const (
	// Always is the number of attempts of a fault that never goes away.
	Always       = -1
	maxTimes     = 1000
	defaultReset = 20 * time.Second
	maxReset     = 30 * 24 * time.Hour
)

// Injection is a fault at a step.
type Injection struct {
	Step  belay.Path    `json:"step"`
	Fault Fault         `json:"fault"`
	Times int           `json:"times"`           // attempts that have it, from the first; Always = all
	Reset time.Duration `json:"reset,omitempty"` // 429: what the service asks to wait
}

// String is how an injection is written.
func (in Injection) String() string {
	s := fmt.Sprintf("%s=%s", in.Step, in.Fault)
	if in.Times == Always {
		s += ":*"
	} else if in.Times != 1 || in.Fault == RateLimited && in.Reset != defaultReset {
		s += ":" + strconv.Itoa(in.Times)
	}
	if in.Fault == RateLimited && in.Reset != defaultReset {
		s += ":" + strconv.Itoa(int(in.Reset/time.Second))
	}
	return s
}

// covers tells whether attempt n has the fault.
func (in Injection) covers(n int) bool { return in.Times == Always || n <= in.Times }

// Parse reads STEP=FAULT[:N], and STEP=429[:N[:SECONDS]].
func Parse(text string) (Injection, error) {
	step, rest, ok := strings.Cut(text, "=")
	if !ok || step == "" || rest == "" {
		return Injection{}, errors.New("STEP=FAULT or STEP=FAULT:N is wanted")
	}
	words := strings.Split(rest, ":")
	in := Injection{Step: belay.Path(step), Fault: Fault(words[0]), Times: 1}
	if err := known(in.Fault); err != nil {
		return in, err
	}
	if in.Fault == RateLimited {
		in.Reset = defaultReset
	}
	most := 2
	if in.Fault == RateLimited {
		most = 3
	}
	if len(words) > most {
		return in, fmt.Errorf("%q is too much: behind %s=%s stands %s", words[most], step, in.Fault, []string{":N, for so many attempts", ":N:SECONDS"}[most-2])
	}
	var err error
	if len(words) > 1 {
		in.Times, err = times(words[1])
	}
	if err == nil && len(words) > 2 {
		in.Reset, err = reset(words[2])
	}
	return in, err
}

func known(f Fault) error {
	var names []string
	for _, k := range Faults() {
		if k == f {
			return nil
		}
		names = append(names, string(k))
	}
	near := ""
	if n := spelling.Near(string(f), names); n != "" {
		near = fmt.Sprintf("; did you mean %q?", n)
	}
	return fmt.Errorf("there is no fault %q%s; there are %s", f, near, strings.Join(names, ", "))
}

func times(word string) (int, error) {
	if word == "*" {
		return Always, nil
	}
	n, err := strconv.Atoi(word)
	if err != nil || n < 1 || n > maxTimes {
		return 0, fmt.Errorf("the number of attempts is 1 to %d, or *, not %q", maxTimes, word)
	}
	return n, nil
}

func reset(word string) (time.Duration, error) {
	n, err := strconv.ParseInt(word, 10, 32)
	if err != nil || n < 0 || time.Duration(n)*time.Second > maxReset {
		return 0, errors.New("the reset is a number of seconds")
	}
	return time.Duration(n) * time.Second, nil
}
