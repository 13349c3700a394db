// Package tracker files issues, one for each fingerprint. An issue is written
// down on this machine before anything leaves it, looked for in the tracker
// before it is made, and looked for again when an answer was lost. It never
// takes a look-up that failed for "there is none", never trusts a search alone,
// and hides no secrets by itself: every text goes through the door it is given.
package tracker

import (
	"context"
	"fmt"
	"time"
)

// Issue is what a tracker tells of one issue that carries a fingerprint.
type Issue struct {
	Number  int       `json:"number"`
	URL     string    `json:"url"`
	Open    bool      `json:"open"`
	Created time.Time `json:"created"`
	Closed  time.Time `json:"closed,omitzero"`
	Filing  string    `json:"filing,omitempty"` // whose record it was made from
}

// ActKind is the closed list of what is done to a tracker.
type ActKind string

const (
	ActCreate  ActKind = "create"  // make an issue
	ActComment ActKind = "comment" // say in an issue that it was seen again
	ActReopen  ActKind = "reopen"  // open one that was closed a short while ago
	ActClose   ActKind = "close"   // close a twin of ours
)

// Act is one thing to do.
type Act struct {
	Kind   ActKind
	Number int // of the issue; 0 for a new one
	Title  string
	Text   string // body or comment, as it leaves the machine
	Labels []string
}

// Query is what is looked for.
type Query struct {
	Mark  string
	Known int  // an issue that is known to carry it; 0 = none
	Whole bool // look at all; else a known one that is open is answer enough
}

// Forge is a place that keeps issues. Every error of it is a *Trouble.
type Forge interface {
	// Find gives every issue that carries the fingerprint, in any state.
	Find(ctx context.Context, q Query) ([]Issue, error)
	// Said tells whether a comment with the fingerprint was made since.
	Said(ctx context.Context, mark string, number int, since time.Time) (bool, error)
	// Do does one act once. What is refused was not done; what is lost may be.
	Do(ctx context.Context, act Act) (Issue, error)
}

// TroubleKind is the closed list of what may stand between us and a tracker.
type TroubleKind string

const (
	TroubleNoRepo  TroubleKind = "no_repo" // nobody said where issues go
	TroubleAbsent  TroubleKind = "absent"  // its program is not there
	TroubleLogin   TroubleKind = "login"   // nobody is logged in
	TroubleLimit   TroubleKind = "limit"   // it wants to be asked later
	TroubleRefused TroubleKind = "refused" // it answered: no
	TroubleLost    TroubleKind = "lost"    // no answer: it may have been done
)

// Trouble says why a tracker did not do or tell what was asked.
type Trouble struct {
	Kind   TroubleKind
	Op     string
	Detail string
	Hint   string
}

func (t *Trouble) Error() string { return fmt.Sprintf("%s: %s", t.Op, t.Detail) }

// Policy is what can run out or repeat.
type Policy struct {
	Within time.Duration // one call of the tracker's program
	Settle time.Duration // after a lost answer, until "it is not there" is believed
	Pause  time.Duration // before a look-up is tried again; doubles
	Tries  int           // look-ups, and acts, before the issue stays here
	Wait   time.Duration // for another process that files the same
	Pages  int           // of the newest issues that are read; older ones are searched
}

// DefaultPolicy is what holds where nobody set anything.
func DefaultPolicy() Policy {
	return Policy{
		Within: 30 * time.Second, Settle: 30 * time.Second, Pause: 250 * time.Millisecond,
		Tries: 4, Wait: 5 * time.Minute, Pages: 10,
	}
}

// Day is how long a comment is enough, and how long a closed issue is reopened.
const Day = 24 * time.Hour
