package tracker

import (
	"testing"
	"time"
)

// What is found, what was written down and the time decide what comes next.
//
// promise: D3, D4, D5
func TestNext(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	open := func(n int, age time.Duration, filing string) Issue {
		return Issue{Number: n, Open: true, Created: ago(age), Filing: filing}
	}
	closed := func(n int, age time.Duration) Issue {
		return Issue{Number: n, Created: ago(100 * Day), Closed: ago(age)}
	}
	mine := Record{Filing: "me", Seen: now}
	begun := func(age time.Duration) Record {
		return Record{Filing: "me", Seen: now, Intent: &Intent{Act: ActCreate, At: ago(age)}}
	}
	for _, c := range []struct {
		name  string
		rec   Record
		found []Issue
		want  moveKind
		issue int
		first int
	}{
		{"nothing is there", mine, nil, moveCreate, 0, 0},
		{"an answer was lost just now", begun(time.Second), nil, moveSettle, 0, 0},
		{"killed, and the call could still go on", begun(29 * time.Second), nil, moveSettle, 0, 0},
		{"given up a while ago", Record{Intent: &Intent{Act: ActCreate, At: ago(29 * time.Second), Lost: ago(21 * time.Second)}}, nil, moveCreate, 0, 0},
		{"given up just now", Record{Intent: &Intent{Act: ActCreate, At: ago(time.Hour), Lost: ago(19 * time.Second)}}, nil, moveSettle, 0, 0},
		{"an answer was lost, and it did not come", begun(time.Minute), nil, moveCreate, 0, 0},
		{"an answer was lost, and it is there", begun(time.Second), []Issue{open(3, 0, "me")}, moveDone, 3, 0},
		{"a young one", mine, []Issue{open(3, time.Hour, "other")}, moveDone, 3, 0},
		{"an old one", mine, []Issue{open(3, 2*Day, "other")}, moveComment, 3, 0},
		{"an old one, said today", Record{Filing: "me", Seen: now, Commented: ago(time.Hour)}, []Issue{open(3, 2*Day, "me")}, moveDone, 3, 0},
		{"an old one, said the day before", Record{Filing: "me", Seen: now, Commented: ago(Day)}, []Issue{open(3, 9*Day, "me")}, moveComment, 3, 0},
		{"an old one, and nothing new was seen", Record{Filing: "me", Seen: ago(3 * Day), Commented: ago(2 * Day)}, []Issue{open(3, 9*Day, "me")}, moveDone, 3, 0},
		{"closed today", mine, []Issue{closed(3, time.Hour)}, moveReopen, 3, 0},
		{"closed long ago", mine, []Issue{closed(3, 2*Day)}, moveCreate, 0, 3},
		{"closed long ago, twice", mine, []Issue{closed(3, 9*Day), closed(5, 2*Day)}, moveCreate, 0, 5},
		{"closed long ago, an answer was lost", begun(time.Second), []Issue{closed(3, 2*Day)}, moveSettle, 0, 0},
		{"open beside closed", mine, []Issue{closed(1, time.Hour), open(3, 0, "x")}, moveDone, 3, 0},
		{"a twin that we made", mine, []Issue{open(5, 0, "me"), open(3, 0, "x")}, moveClose, 5, 3},
		{"a twin that another made", mine, []Issue{open(5, 0, "x"), open(3, 0, "me")}, moveDone, 3, 0},
		{"a twin of nobody", mine, []Issue{open(5, 0, ""), open(3, 0, "")}, moveDone, 3, 0},
	} {
		got := next(c.rec, c.found, now, Policy{Within: 10 * time.Second, Settle: 20 * time.Second})
		if got.kind != c.want || got.issue.Number != c.issue || got.first.Number != c.first {
			t.Errorf("%s: %s #%d (%d), want %s #%d (%d)", c.name, got.kind, got.issue.Number, got.first.Number, c.want, c.issue, c.first)
		}
	}
}
