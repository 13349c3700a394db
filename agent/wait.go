package agent

import (
	"strconv"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/pattern"
)

// longest is the longest wait that is believed.
const longest = 400 * 24 * time.Hour

// Times are told in words only where no field tells them, in a few known
// forms. A time of day is in the zone of the machine, which is also the zone
// that the CLI spoke in; the zone it names is believed only when it is UTC.
var (
	waitWords  = pattern.Lazy(`(?i)\b(?:try again in|retry after|retry in|resets in|reset after|retrying in|retrying after)[ :]+((?:\d+(?:\.\d+)? ?(?:ms|milliseconds?|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d)\b[, ]*(?:and )?)+)`)
	waitPart   = pattern.Lazy(`(?i)(\d+(?:\.\d+)?) ?([a-z]+)`)
	resetEpoch = pattern.Lazy(`limit reached\|(\d{10})\b`)
	resetWords = pattern.Lazy(`(?i)\b(?:resets|resets at|try again at|available again at)[ :]+(?:([a-z]{3})[a-z]* (\d{1,2})(?:st|nd|rd|th)?(?:, (\d{4}))?,? (?:at )?)?(\d{1,2})(?::(\d{2}))? ?([ap]m)?(?: \((utc)\))?`)
	resetStamp = pattern.Lazy(`(?i)\b(?:resets|resets at|try again at|available again at)[ :]+(\d{4}-\d{2}-\d{2}T[0-9:.]+(?:Z|[+-]\d{2}:\d{2}))`)
)

// waitIn finds a wait that a text tells, 0 without one.
func waitIn(s string) time.Duration {
	var total time.Duration
	for _, p := range waitPart().FindAllStringSubmatch(group(waitWords(), s), -1) {
		n, err := strconv.ParseFloat(p[1], 64)
		if err != nil {
			return 0
		}
		d := n * float64(unit(p[2]))
		if d > float64(longest) {
			return 0
		}
		total += time.Duration(d)
	}
	if total > longest {
		return 0
	}
	return total
}

func unit(word string) time.Duration {
	w := strings.ToLower(word)
	switch {
	case strings.HasPrefix(w, "ms") || strings.HasPrefix(w, "mil"):
		return time.Millisecond
	case strings.HasPrefix(w, "s"):
		return time.Second
	case strings.HasPrefix(w, "m"):
		return time.Minute
	case strings.HasPrefix(w, "h"):
		return time.Hour
	case strings.HasPrefix(w, "d"):
		return 24 * time.Hour
	}
	return 0
}

// resetIn finds the time at which a limit is lifted, zero without one. A time
// of day without a date is the next one after at.
func resetIn(s string, at time.Time) time.Time {
	if n, err := strconv.ParseInt(group(resetEpoch(), s), 10, 64); err == nil {
		return believable(time.Unix(n, 0), at)
	}
	if t, err := time.Parse(time.RFC3339Nano, group(resetStamp(), s)); err == nil {
		return believable(t, at)
	}
	m := resetWords().FindStringSubmatch(s)
	if m == nil || m[6] == "" && m[5] == "" {
		return time.Time{}
	}
	zone := at.Location()
	if m[7] != "" {
		zone = time.UTC
	}
	at = at.In(zone)
	hour, minute := number(m[4]), number(m[5])
	if p := strings.ToLower(m[6]); p != "" {
		hour %= 12
		if p == "pm" {
			hour += 12
		}
	}
	if hour > 23 || minute > 59 {
		return time.Time{}
	}
	if m[1] == "" {
		t := time.Date(at.Year(), at.Month(), at.Day(), hour, minute, 0, 0, zone)
		if t.Before(at) {
			t = t.AddDate(0, 0, 1)
		}
		return believable(t, at)
	}
	month, err := time.Parse("Jan", strings.ToUpper(m[1][:1])+strings.ToLower(m[1][1:]))
	if err != nil {
		return time.Time{}
	}
	year := at.Year()
	if m[3] != "" {
		year = number(m[3])
	}
	t := time.Date(year, month.Month(), number(m[2]), hour, minute, 0, 0, zone)
	if m[3] == "" && t.Before(at.AddDate(0, -6, 0)) {
		t = t.AddDate(1, 0, 0)
	}
	return believable(t, at)
}

// believable drops a time that lies too far from the end of the run.
func believable(t, at time.Time) time.Time {
	if at.IsZero() || t.Before(at.Add(-24*time.Hour)) || t.After(at.Add(longest)) {
		return time.Time{}
	}
	return t
}

// number is digits that a pattern has already checked.
func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}
