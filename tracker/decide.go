package tracker

import (
	"slices"
	"time"
)

// moveKind is the closed list of what comes next for an issue.
type moveKind string

const (
	moveDone    moveKind = "done"    // it is in the tracker, and all is said
	moveCreate  moveKind = "create"  // nothing is there
	moveComment moveKind = "comment" // it is open: say that it was seen again
	moveReopen  moveKind = "reopen"  // it was closed a short while ago
	moveClose   moveKind = "close"   // it is a twin that we made
	moveSettle  moveKind = "settle"  // an answer was lost: look again later
)

type move struct {
	kind  moveKind
	issue Issue // the one that it is about
	first Issue // of a twin: the one that stays; of a new one: one that was closed long ago
}

// next says what comes next: what was found, what this machine wrote down, and
// the time decide.
func next(r Record, found []Issue, now time.Time, p Policy) move {
	found = slices.Clone(found)
	slices.SortFunc(found, func(a, b Issue) int { return a.Number - b.Number })
	open, recent, old := Issue{}, Issue{}, Issue{}
	for _, is := range found {
		switch {
		case is.Open && open.Number == 0:
			open = is
		case is.Open && is.Filing == r.Filing && r.Filing != "":
			return move{kind: moveClose, issue: is, first: open}
		case !is.Open && now.Sub(is.Closed) < Day && recent.Number == 0:
			recent = is
		case !is.Open:
			old = is
		}
	}
	switch {
	case open.Number > 0 && r.sayAgain(open, now):
		return move{kind: moveComment, issue: open}
	case open.Number > 0:
		return move{kind: moveDone, issue: open}
	case recent.Number > 0:
		return move{kind: moveReopen, issue: recent}
	case r.Intent != nil && r.Intent.Act == ActCreate && now.Before(r.Intent.settled(p)):
		return move{kind: moveSettle}
	}
	return move{kind: moveCreate, first: old}
}

// sayAgain tells whether an open issue gets a comment: something was seen that
// it does not tell of, and no word of ours is younger than a day. A comment that
// was begun counts as made: its answer may be lost, and it is never repeated.
func (r Record) sayAgain(is Issue, now time.Time) bool {
	told := is.Created
	if r.Commented.After(told) {
		told = r.Commented
	}
	return r.Seen.After(told) && now.Sub(told) >= Day
}

// stands is the issue that a fingerprint means: an open one, or one that was
// closed so short a while ago that it would be reopened. Of several the first.
func stands(found []Issue, now time.Time) (Issue, bool) {
	m := next(Record{}, found, now, Policy{})
	return m.issue, m.issue.Number > 0
}
