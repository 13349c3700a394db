package watch

import (
	"maps"
	"testing"
	"time"
)

var monday = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

// mind is a person under a watch: what was told, tick by tick.
type mind struct {
	told  map[string]Told
	now   time.Time
	said  []time.Duration // since monday
	nudge []int
}

func (m *mind) look(after time.Duration, items ...Item) {
	m.now = monday.Add(after)
	due, nth, next := Due(items, m.told, Nudges{Every: DefaultNudge, Most: DefaultNudges}, m.now)
	m.told = next
	if len(due) > 0 {
		m.said, m.nudge = append(m.said, after), append(m.nudge, nth)
	}
}

func TestOnceAndThenLessOften(t *testing.T) {
	t.Parallel()
	m := &mind{}
	for at := time.Duration(0); at < 14*24*time.Hour; at += time.Minute {
		m.look(at, Item{Key: "q", On: OnHeld, Since: monday})
	}
	want := []time.Duration{0, 1 * time.Hour, 5 * time.Hour, 21 * time.Hour, 45 * time.Hour, 69 * time.Hour}
	if len(m.said) != len(want) {
		t.Fatalf("told at %v", m.said)
	}
	for i := range want {
		if m.said[i] != want[i] || m.nudge[i] != i {
			t.Errorf("notice %d at %s as reminder %d, want %s", i, m.said[i], m.nudge[i], want[i])
		}
	}
}

func TestDue(t *testing.T) {
	t.Parallel()
	rules := Nudges{Every: time.Hour, Most: 2}
	ago := func(d time.Duration) time.Time { return monday.Add(-d) }
	for _, c := range []struct {
		name  string
		items []Item
		told  map[string]Told
		rules Nudges
		want  int // items
		nth   int
		kept  int
	}{
		{"nothing", nil, nil, rules, 0, 0, 0},
		{"two at once are one notice", []Item{{Key: "a", On: OnHeld}, {Key: "b", On: OnHeld}}, nil, rules, 2, 0, 2},
		{"the second one is new", []Item{{Key: "a", On: OnHeld}, {Key: "b", On: OnHeld}}, map[string]Told{"a": {At: ago(time.Minute)}}, rules, 1, 0, 2},
		{"a reminder takes along what is new", []Item{{Key: "a", On: OnHeld}, {Key: "b", On: OnHeld}}, map[string]Told{"a": {At: ago(time.Hour)}}, rules, 2, 0, 2},
		{"an end is told once", []Item{{Key: "e", On: OnEnded, Since: monday}}, map[string]Told{"e": {At: ago(48 * time.Hour)}}, rules, 0, 0, 1},
		{"an end of last week is no news", []Item{{Key: "e", On: OnEnded, Since: ago(7 * 24 * time.Hour)}}, nil, rules, 0, 0, 0},
		{"the cap of reminders", []Item{{Key: "a", On: OnStalled}}, map[string]Told{"a": {At: ago(96 * time.Hour), Nudges: 2}}, rules, 0, 0, 1},
		{"no reminders at all", []Item{{Key: "a", On: OnStalled}}, map[string]Told{"a": {At: ago(96 * time.Hour)}}, Nudges{}, 0, 0, 1},
		{"it came and went and came", []Item{{Key: "a", On: OnStalled}}, map[string]Told{"a": {At: ago(time.Minute)}}, rules, 0, 0, 1},
		{"what is over is remembered for a while", nil, map[string]Told{"a": {At: ago(59 * time.Minute)}, "b": {At: ago(time.Hour)}}, rules, 0, 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			was := maps.Clone(c.told)
			due, nth, next := Due(c.items, c.told, c.rules, monday)
			if len(due) != c.want || nth != c.nth || len(next) != c.kept {
				t.Errorf("due %v, reminder %d, kept %v", due, nth, next)
			}
			if !maps.Equal(was, c.told) {
				t.Errorf("what was told is changed: %v", c.told)
			}
		})
	}
}

func TestTriesHaveACap(t *testing.T) {
	t.Parallel()
	p := Patience{First: DefaultRetry, Most: DefaultTries}
	sum, tries := time.Duration(0), 1
	for last := time.Duration(0); ; tries++ {
		wait, ok := p.Again(tries)
		if !ok {
			break
		}
		if wait < last || wait > retrySlow {
			t.Errorf("after %d tries %s, and %s before it", tries, wait, last)
		}
		last = wait
		sum += wait
	}
	if tries != DefaultTries || sum < 12*time.Hour || sum > 48*time.Hour {
		t.Errorf("%d tries in %s", tries, sum)
	}
}

// A run that dies the same way for ever, a week long: three tries, one notice, and
// reminders that come to an end.
//
// promise: W6, W8
func TestAStormTellsOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	told, fresh, nudges := map[string]Told(nil), 0, 0
	for range 7 * 24 * 60 {
		d := w.pass(time.Minute)
		w.run.Owner = OwnerDead // whoever is started dies at once
		var items []Item
		if d.Event.Calls() {
			items = []Item{d.Item(w.run)}
		}
		due, nth, next := Due(items, told, Nudges{Every: DefaultNudge, Most: DefaultNudges}, w.now.Wall)
		told = next
		switch {
		case len(due) > 0 && nth == 0:
			fresh++
		case len(due) > 0:
			nudges++
		}
	}
	w.want(RestartCap, "")
	if w.start != w.rules.Resumes || fresh != 1 || nudges != DefaultNudges {
		t.Errorf("%d starts, %d notices, %d reminders", w.start, fresh, nudges)
	}
}
