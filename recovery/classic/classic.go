// Package classic is the policy of older orchestrators: six rules over the words of
// an error. It is kept for those who rely on it, with the JSON that they know.
package classic

import (
	"fmt"
	"math"
	"strconv"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/recovery"
)

// DefaultMaxRetries is how often the classic policy retries before it looks at
// the error.
const DefaultMaxRetries = 3

// The waits of the classic policy, in milliseconds.
const (
	base        = 500   // before an ordinary retry
	baseTimeout = 2000  // before another try after a timeout
	longest     = 60000 // the longest
)

// Context is what the classic policy knows of a failure.
type Context struct {
	TaskID       string        `json:"task_id"`
	Description  string        `json:"description"`
	AssignedTo   recovery.Role `json:"assigned_to"`
	ErrorMessage string        `json:"error_message"`
	AttemptCount int           `json:"attempt_count"` // failed attempts before this one
	IsCritical   bool          `json:"is_critical"`
}

// Policy retries first, then looks for words in the error. Two things to know: it
// burns its retries on errors that no retry cures, and a timeout is tried again
// without an end, so that only the run's budget stops it.
type Policy struct {
	MaxRetries int `json:"max_retries"`
}

// Rule is the closed list of rules of the classic policy, in their order.
type Rule string

const (
	RuleAttemptsLeft Rule = "attempts_left" // fewer failures than retries
	RuleDenied       Rule = "denied"        // the error speaks of permission
	RuleTimeout      Rule = "timeout"       // of a timeout
	RuleTooBig       Rule = "too_big"       // of a task that is too big
	RuleCritical     Rule = "critical"      // nothing fits, and the task is needed
	RuleOptional     Rule = "optional"      // nothing fits, and it is not
)

// Decision is a strategy and the rule that chose it.
type Decision struct {
	Strategy Strategy
	Rule     Rule
}

// Decide takes the first rule that fits. The same context always gives the same
// decision. Retrying and reassigning allocate nothing.
func (c Policy) Decide(x Context) Decision {
	n := max(x.AttemptCount, 0)
	switch text := x.ErrorMessage; {
	case n < c.MaxRetries:
		return Decision{Strategy{Kind: belay.ActRetry, MaxAttempts: c.MaxRetries, BackoffMS: Backoff(n, base)}, RuleAttemptsLeft}
	case mentions(text, "permission") || mentions(text, "denied"):
		return Decision{Strategy{Kind: belay.ActReassign, NewRole: AlternateRole(x.AssignedTo, text)}, RuleDenied}
	case mentions(text, "timeout"):
		return Decision{Strategy{Kind: belay.ActRetry, MaxAttempts: oneMore(n), BackoffMS: Backoff(n, baseTimeout)}, RuleTimeout}
	case mentions(text, "too complex") || mentions(text, "token limit"):
		return Decision{Strategy{Kind: belay.ActDecompose, Subtasks: halves(x)}, RuleTooBig}
	case x.IsCritical:
		return Decision{Strategy{Kind: belay.ActEscalate}, RuleCritical}
	}
	return Decision{Strategy{Kind: belay.ActSkip, Reason: skipReason(n, x.ErrorMessage)}, RuleOptional}
}

func skipReason(n int, text string) string {
	return fmt.Sprintf("Non-critical task failed after %d attempts: %s", n, text)
}

func oneMore(n int) int {
	if n == math.MaxInt {
		return n
	}
	return n + 1
}

// halves is the classic split: two parts, the same role, no order.
func halves(x Context) []Subtask {
	part := func(k string) Subtask {
		return Subtask{Description: "Part " + k + " of: " + x.Description, AssignedTo: x.AssignedTo, Dependencies: []string{}}
	}
	return []Subtask{part("1"), part("2")}
}

// Backoff is the wait in milliseconds after that many earlier failures:
// the first, doubled each time up to ten times, a tenth of a second more for each
// failure, and never more than a minute. It has no chance in it.
func Backoff(attempt int, first int64) int64 {
	attempt, first = max(attempt, 0), max(first, 0)
	if first >= longest || attempt >= longest/100 { // also keeps the sum below from overflowing
		return longest
	}
	return min(longest, first<<min(attempt, 10)+100*int64(attempt))
}

// Reason says in words why a decision about a failure was taken.
func (d Decision) Reason(x Context) string {
	switch d.Rule {
	case RuleAttemptsLeft:
		return fmt.Sprintf("%d of %d retries used", x.AttemptCount, d.Strategy.MaxAttempts)
	case RuleDenied:
		return fmt.Sprintf("%s was denied something: %s takes over", x.AssignedTo, d.Strategy.NewRole)
	case RuleTimeout:
		return fmt.Sprintf("it timed out after %d attempts: one more", x.AttemptCount)
	case RuleTooBig:
		return fmt.Sprintf("the task is too big: %d parts", len(d.Strategy.Subtasks))
	case RuleCritical:
		return fmt.Sprintf("a critical task failed after %d attempts: a person decides", x.AttemptCount)
	case RuleOptional:
		return d.Strategy.Reason
	}
	return ""
}

// Line is the decision as one line of a log, for whoever carries it out.
func (d Decision) Line(x Context) string {
	line := "task=" + strconv.Quote(x.TaskID) + " rule=" + string(d.Rule) + " strategy=" + string(d.Strategy.Kind)
	switch d.Strategy.Kind {
	case belay.ActRetry:
		return fmt.Sprintf("%s attempt=%d backoff_ms=%d", line, x.AttemptCount, d.Strategy.BackoffMS)
	case belay.ActReassign:
		return fmt.Sprintf("%s from=%s to=%s", line, x.AssignedTo, d.Strategy.NewRole)
	case belay.ActDecompose:
		return fmt.Sprintf("%s subtask_count=%d", line, len(d.Strategy.Subtasks))
	case belay.ActSkip, belay.ActAbort, belay.ActEscalate:
	case belay.ActResume, belay.ActFresh, belay.ActFailover, belay.ActRepair, belay.ActRecover, belay.ActFallback, belay.ActGiveUp,
		belay.ActHold, belay.ActNone, belay.ActVerify, belay.ActRetryAfter, belay.ActStop: // none of the six
	}
	return line
}

// AlternateRole is who takes over from a role: by a
// word of the error, else by the role.
func AlternateRole(role recovery.Role, text string) recovery.Role {
	switch {
	case mentions(text, "security") || mentions(text, "vulnerability"):
		return recovery.SecurityAuditor
	case mentions(text, "deploy") || mentions(text, "infrastructure"):
		return recovery.DevOps
	case mentions(text, "design") || mentions(text, "architecture"):
		return recovery.Architect
	}
	switch role {
	case recovery.Coder, recovery.DocumentWriter:
		return recovery.Reviewer
	case recovery.Tester:
		return recovery.Coder
	case recovery.Reviewer, recovery.Spec:
		return recovery.Architect
	case recovery.Orchestrator, recovery.Architect, recovery.SecurityAuditor, recovery.DevOps:
	}
	return recovery.Orchestrator
}

// mentions tells whether a text has a word of small ASCII letters in it, in any
// case. It makes no copy of the text.
func mentions(text, word string) bool {
	for i := 0; i+len(word) <= len(text); i++ {
		if begins(text[i:], word) {
			return true
		}
	}
	return false
}

func begins(text, word string) bool {
	for i := range len(word) {
		c := text[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != word[i] {
			return false
		}
	}
	return true
}
