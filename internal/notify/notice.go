// Package notify tells people about runs: by a command of theirs, a notice on
// their desktop, a signed webhook, Slack or ntfy. It sends what is in the books
// until it was taken or tried often enough, and decides nothing about runs.
package notify

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/watch"
)

// OnTest is the occasion of a notice that only tries whether one arrives.
const OnTest watch.Occasion = "test"

// Notice is what people are told. What goes out is nothing but these facts; who
// makes one hides what is secret in them.
type Notice struct {
	ID       string         `json:"id"`
	Occasion watch.Occasion `json:"event"`
	At       time.Time      `json:"at"`
	Run      belay.RunID    `json:"run,omitempty"`
	Recipe   string         `json:"recipe,omitempty"`
	Task     string         `json:"task,omitempty"` // its first line, of belay do
	Dir      string         `json:"dir,omitempty"`
	Host     string         `json:"host,omitempty"`
	Status   string         `json:"status,omitempty"`
	Code     int            `json:"exit_code"`
	Reason   string         `json:"reason,omitempty"`
	Items    []Item         `json:"items"`
	More     int            `json:"more,omitempty"` // items beyond those
	Next     string         `json:"next,omitempty"` // what to type
	Nudge    int            `json:"reminder"`       // 0 = something is new
}

// Item is one thing that waits for a person.
type Item struct {
	Item     string   `json:"item"`
	Step     string   `json:"step,omitempty"`
	Question string   `json:"question"`
	Choices  []string `json:"choices,omitempty"`
	Next     string   `json:"next,omitempty"`
}

// The sizes of a notice.
const (
	MaxItems = 10
	maxTitle = 120
	maxText  = 500
)

// Trimmed is the notice with everything in it cut to a size that each receiver takes.
func (n Notice) Trimmed() Notice {
	cut := func(s string) string { return readable.Cut(readable.Clean(s), maxText) }
	n.Reason, n.Task, n.Next = cut(n.Reason), cut(n.Task), cut(n.Next)
	if len(n.Items) > MaxItems {
		n.More = len(n.Items) - MaxItems
		n.Items = n.Items[:MaxItems]
	}
	list := make([]Item, 0, len(n.Items))
	for _, i := range n.Items {
		i.Question, i.Next = cut(i.Question), cut(i.Next)
		list = append(list, i)
	}
	n.Items = list
	return n
}

// Title is the notice in one line.
func (n Notice) Title() string {
	what := n.Recipe
	if n.Task != "" {
		what = n.Task
	}
	if what != "" {
		what = " (" + what + ")"
	}
	again := ""
	if n.Nudge > 0 {
		again = "still "
	}
	text := ""
	switch n.Occasion {
	case watch.OnHeld:
		text = "run " + string(n.Run) + what + " " + again + "waits for you"
	case watch.OnEnded:
		text = "run " + string(n.Run) + what + " ended: " + n.Status
	case watch.OnStalled:
		text = "run " + string(n.Run) + what + " " + again + "does not go on"
	case OnTest:
		text = "a test of belay notify"
	}
	return readable.Cut(readable.Clean("belay: "+text), maxTitle)
}

// Text is the rest of it, some lines.
func (n Notice) Text() string {
	var lines []string
	for _, i := range n.Items {
		lines = append(lines, strings.TrimPrefix(i.Step+": "+i.Question, ": "))
		if i.Next != "" {
			lines = append(lines, "  "+i.Next)
		}
	}
	if len(n.Items) == 0 && n.Reason != "" {
		lines = append(lines, n.Reason)
	}
	if n.More > 0 {
		lines = append(lines, "and more; see the inbox")
	}
	if n.Next != "" {
		lines = append(lines, n.Next)
	}
	if n.Host != "" {
		lines = append(lines, "on "+n.Host+" in "+n.Dir)
	}
	return strings.Join(lines, "\n")
}

// Read reads a notice as it is kept.
func Read(body string) (n Notice, err error) {
	err = json.Unmarshal([]byte(body), &n)
	return n, err
}
