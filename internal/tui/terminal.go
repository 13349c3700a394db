package tui

import (
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/flow"
)

// maxTyped bounds a line that is typed.
const maxTyped = 4096

// Terminal asks who sits at a terminal. It never waits: a line is read when it is
// there, and only while this process is in the foreground.
type Terminal struct {
	in     *os.File
	screen *Screen
	by     string // the person
	asked  string // the question that stands on the screen, by its run and item
	gone   bool   // nobody types any more
}

// NewTerminal asks on a screen and reads from a terminal.
func NewTerminal(in *os.File, screen *Screen, by string) *Terminal {
	return &Terminal{in: in, screen: screen, by: by}
}

// Ask puts the first open question on the screen, once, and gives the answer when
// it was typed.
func (t *Terminal) Ask(open []flow.Asking) ([]event.Request, bool) {
	if t.gone {
		return nil, false
	}
	open = slices.DeleteFunc(open, func(q flow.Asking) bool { return len(q.Who) > 0 && !slices.Contains(q.Who, t.by) })
	if len(open) == 0 {
		t.done(false)
		return nil, false // others have to answer
	}
	q := open[0]
	if name := q.Run.Of(q.ID); t.asked != name {
		t.done(false)
		t.drain() // what was typed before the question is no answer to it
		t.asked = name
		t.screen.Ask(&q, prompt(q))
		return nil, true
	}
	line, ok := t.line()
	switch {
	case t.gone:
		t.done(false)
		return nil, false
	case !ok:
		return nil, true
	}
	choice, ok := Chosen(line, q.Choices)
	if q.About == event.ItemInput { // any text
		choice = strings.TrimSpace(line)
		ok = choice != ""
	}
	t.done(true)
	if !ok {
		return nil, true // it is asked again
	}
	return []event.Request{{Run: q.Run, By: t.by, Item: q.ID, Choice: choice, Why: "typed at the terminal"}}, true
}

// done takes the question off the screen.
func (t *Terminal) done(typed bool) {
	if t.asked != "" {
		t.screen.Asked(typed)
	}
	t.asked = ""
}

// prompt is what stands before the answer.
func prompt(q flow.Asking) string {
	switch {
	case q.About == event.ItemInput:
		return "answer, or reject: "
	case plain(q.Choices):
		return "[y/n] "
	}
	return "[" + strings.Join(q.Choices, "/") + "] "
}

// plain tells whether a question is one of yes and no.
func plain(choices []string) bool {
	return slices.Equal(choices, []string{belay.ChoiceApprove, belay.ChoiceReject})
}

// Chosen is the choice that a typed line means: the word itself, or the beginning
// of one word alone; of yes and no also these.
func Chosen(line string, choices []string) (string, bool) {
	word := strings.ToLower(strings.TrimSpace(line))
	if plain(choices) {
		switch word {
		case "y", "yes":
			return belay.ChoiceApprove, true
		case "n", "no":
			return belay.ChoiceReject, true
		}
	}
	var found []string
	for _, c := range choices {
		if strings.ToLower(c) == word {
			return c, true
		}
		if word != "" && !plain(choices) && strings.HasPrefix(strings.ToLower(c), word) {
			found = append(found, c)
		}
	}
	if len(found) != 1 {
		return "", false
	}
	return found[0], true
}

// line is a line that was typed, if one is there.
func (t *Terminal) line() (string, bool) {
	if !t.foreground() || !t.readable() {
		return "", false
	}
	b := make([]byte, maxTyped)
	n, err := t.in.Read(b) // a terminal gives whole lines, and one is there
	if n == 0 || err != nil {
		t.gone = true
		return "", false
	}
	return string(b[:n]), true
}

// drain drops what was typed and not read.
func (t *Terminal) drain() {
	if t.foreground() {
		flush(int(t.in.Fd()))
	}
}

// foreground tells whether the terminal is this process's to read: in the
// background a read would stop it.
func (t *Terminal) foreground() bool {
	group, err := unix.IoctlGetInt(int(t.in.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

func (t *Terminal) readable() bool {
	fds := []unix.PollFd{{Fd: int32(t.in.Fd()), Events: unix.POLLIN}} //nolint:gosec // a descriptor is small
	n, err := unix.Poll(fds, 0)
	return err == nil && n > 0 && fds[0].Revents&(unix.POLLIN|unix.POLLHUP|unix.POLLERR) != 0
}
