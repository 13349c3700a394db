package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/belay-run/belay/watch"
)

// Watch is about belay watch.
type Watch struct {
	Poll      Setting[time.Duration] // watch.poll: between two looks
	Stall     Setting[time.Duration] // watch.stall: without finished work, until a person is called
	MaxResume Setting[int]           // watch.max_resume: in a row with nothing finished
	Park      Setting[time.Duration] // watch.park: a detached run whose next act is further away leaves its processes
	Older     Setting[time.Duration] // build_stall_threshold_ms: what older watches read; 0 = not set
}

func defaultWatch() Watch {
	return Watch{
		Poll:      Setting[time.Duration]{watch.DefaultPoll, OriginDefault},
		Stall:     Setting[time.Duration]{watch.DefaultStall, OriginDefault},
		MaxResume: Setting[int]{watch.DefaultResumes, OriginDefault},
		Park:      Setting[time.Duration]{watch.DefaultPark, OriginDefault},
		Older:     Setting[time.Duration]{0, OriginDefault},
	}
}

func watchSettings() []setting {
	return []setting{
		{"watch.poll", false, one(duration, func(c *Config) *Setting[time.Duration] { return &c.Watch.Poll })},
		{"watch.stall", false, one(duration, func(c *Config) *Setting[time.Duration] { return &c.Watch.Stall })},
		{"watch.max_resume", false, one(fromNone, func(c *Config) *Setting[int] { return &c.Watch.MaxResume })},
		{"watch.park", false, one(duration, func(c *Config) *Setting[time.Duration] { return &c.Watch.Park })},
		{"build_stall_threshold_ms", false, one(milliseconds, func(c *Config) *Setting[time.Duration] { return &c.Watch.Older })},
	}
}

func fromNone(text string) (int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%q is not a number from 0 up", text)
	}
	return n, nil
}

func milliseconds(text string) (time.Duration, error) {
	n, err := count(text)
	return time.Duration(n) * time.Millisecond, err
}

// StallAfter is how long a run may finish nothing: the setting of our own comes
// before that of older watches.
func (w Watch) StallAfter() time.Duration {
	if w.Stall.Origin == OriginDefault && w.Older.Value > 0 {
		return w.Older.Value
	}
	return w.Stall.Value
}
