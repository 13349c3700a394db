// Package sizing has the sums for a Temporal service that drives many agents at once:
// from what a step leaves in a history, as it was measured, and from what is taken for
// an agent.
package sizing

import (
	"fmt"
	"math"
	"strings"
)

// Step is what one agent step costs, measured on a server: see TestSizes.
type Step struct {
	Events     float64 `json:"events"`     // of history
	Bytes      float64 `json:"bytes"`      // of history
	Turns      float64 `json:"turns"`      // workflow tasks
	Activities float64 `json:"activities"` // activity tasks
	Signals    float64 `json:"signals"`
	Markers    float64 `json:"markers"`
}

// Taken is what the sums are made for. All of it can be set: see cmd/sums.
type Taken struct {
	Agents  float64 // at the same time
	Minutes float64 // that an agent step takes
	Beat    float64 // seconds between the heartbeats of an attempt
	Look    float64 // seconds between two queries of a client that follows a run in which nothing happens
	Prove   float64 // seconds between its looks whether the workflow is there
	Days    float64 // of retention
	GiB     float64 // of memory for an agent
	Machine float64 // GiB of memory of a worker
	Blobs   float64 // KB of big outputs of a step, which are kept beside the history
	Price   float64 // of a million actions of a cloud service; 0 = not said
}

// Usual is what the documentation takes.
func Usual() Taken {
	return Taken{Agents: 10_000, Minutes: 10, Beat: 20. / 3, Look: 5, Prove: 10, Days: 30, GiB: 1, Machine: 256, Blobs: 20, Price: 50}
}

const day = 24 * 60 * 60

// Table is all of it in Markdown, each sum with its numbers.
func Table(t Taken, s Step) string {
	steps := t.Agents / (t.Minutes * 60) // a second
	actions := s.Activities + s.Signals + s.Markers
	rows := [][2]string{
		{"steps a second", fmt.Sprintf("%s / %s s = %s", n(t.Agents), n(t.Minutes*60), n(steps))},
		{"events a second", fmt.Sprintf("%s × %s = %s", n(steps), n(s.Events), n(steps*s.Events))},
		{"history bytes", fmt.Sprintf("%s × %s = %s/s = %s a day; %s days: %s", n(steps), bytes(s.Bytes), bytes(steps*s.Bytes),
			bytes(steps*s.Bytes*day), n(t.Days), bytes(steps*s.Bytes*day*t.Days))},
		{"workflow tasks a second", fmt.Sprintf("%s × %s = %s", n(steps), n(s.Turns), n(steps*s.Turns))},
		{"activity tasks a second", fmt.Sprintf("%s × %s = %s", n(steps), n(s.Activities), n(steps*s.Activities))},
		{"heartbeats a second", fmt.Sprintf("%s / %s s = %s", n(t.Agents), n(t.Beat), n(t.Agents/t.Beat))},
		{"writes a second by heartbeats", fmt.Sprintf("%s × 2 = %s", n(t.Agents/t.Beat), n(2*t.Agents/t.Beat))},
		{"requests a second of clients, when each run is followed", fmt.Sprintf("queries: %s / %s s = %s; looks at workflows: %s / %s s = %s",
			n(t.Agents), n(t.Look), n(t.Agents/t.Look), n(t.Agents), n(t.Prove), n(t.Agents/t.Prove))},
		{"blobs", fmt.Sprintf("%s × %s = %s/s = %s a day", n(steps), bytes(t.Blobs*1e3), bytes(steps*t.Blobs*1e3), bytes(steps*t.Blobs*1e3*day))},
		{"workers", fmt.Sprintf("%s × %s GiB / %s GiB = %s machines", n(t.Agents), n(t.GiB), n(t.Machine), n(math.Ceil(t.Agents*t.GiB/t.Machine)))},
		{"actions of a cloud service", fmt.Sprintf("%s × (%s activities + %s signals + %s markers) = %s/s = %s million a day; heartbeats, where they are counted, %s million more",
			n(steps), n(s.Activities), n(s.Signals), n(s.Markers), n(steps*actions), n(steps*actions*day/1e6), n(t.Agents/t.Beat*day/1e6))},
	}
	if t.Price > 0 {
		rows = append(rows, [2]string{"their cost, at " + n(t.Price) + " a million", fmt.Sprintf("%s a day; with heartbeats %s",
			n(steps*actions*day/1e6*t.Price), n((steps*actions+t.Agents/t.Beat)*day/1e6*t.Price))})
	}
	var b strings.Builder
	b.WriteString("| what | sum |\n|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s |\n", r[0], r[1])
	}
	return b.String()
}

// n is a number as people read it: three digits of it count.
func n(v float64) string {
	switch {
	case v == 0:
		return "0"
	case v >= 1000:
		return thousands(fmt.Sprintf("%.0f", v))
	case v == math.Trunc(v):
		return fmt.Sprintf("%.0f", v)
	}
	digits := max(0, 2-int(math.Floor(math.Log10(v))))
	text := fmt.Sprintf("%.*f", digits, v)
	if digits > 0 {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

func thousands(s string) string {
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func bytes(v float64) string {
	for _, u := range []struct {
		name string
		size float64
	}{{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}} {
		if v >= u.size {
			return n(math.Round(v/u.size*100)/100) + " " + u.name
		}
	}
	return n(v) + " B"
}
