package demo

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/belay-run/belay/internal/pattern"
	"github.com/belay-run/belay/internal/readable"
)

// act is a part of the show: a step, and what is told before it is heard of for
// the first time.
type act struct{ step, text string }

func acts() []act {
	return []act{
		{"test", "1. A test fails. An agent gets the output of the test and fixes the program."},
		{"readme", "2. An agent says that it is done, and has done nothing. Belay asks it for the work."},
		{"changes", "3. An agent hangs. Belay ends it after its timeout and resumes its session."},
		{"review", "4. Belay itself is killed while an agent works."},
		{"translate", "5. The quota of an account is used up. Another agent takes over."},
		{"version", "6. A recipe fails. A recovery agent finishes its work, and Belay runs the check."},
		{"archive", "7. A recipe calls itself without end. Belay stops it and runs the fallback."},
		{"notes", "8. A recipe has no step for this task. That is not a success, so Belay runs the fallback."},
		{"commit", "9. The work is committed, once."},
	}
}

// ansi is a colour.
var ansi = pattern.Lazy("\x1b\\[[0-9;]*m")

// voice tells the story: what the runs print, line by line as it comes, with a
// word before each act. It is given to processes as their output.
type voice struct {
	out    io.Writer
	width  int // of the terminal; 0 for none
	colour bool
	lost   context.CancelCauseFunc // nobody listens any more
	over   func() bool             // the show was broken off
	keep   bool                    // there will be something to look at

	mu   sync.Mutex
	rest []byte // a line that is not whole yet
	told int    // acts
	part string // only what stands below this heading is told; "" = all
	in   bool   // there it stands
}

// say tells a person what comes.
func (v *voice) say(format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.flush()
	v.narrate(fmt.Sprintf(format, args...))
}

func (v *voice) narrate(text string) {
	text = "» " + text
	if v.colour {
		text = "\x1b[1m" + text + "\x1b[0m"
	}
	v.put("\n" + text + "\n")
}

// only tells nothing of what follows but the part below a heading; "" = all.
func (v *voice) only(heading string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.flush()
	v.part, v.in = heading, false
}

// Write takes what a process prints. It never fails: a process must not die of
// a reader that is gone; it is ended in order.
func (v *voice) Write(p []byte) (int, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.rest = append(v.rest, p...)
	for {
		line, rest, whole := bytes.Cut(v.rest, []byte("\n"))
		if !whole {
			return len(p), nil
		}
		v.line(string(line))
		v.rest = rest
	}
}

// flush tells what came without an end of line.
func (v *voice) flush() {
	if len(v.rest) > 0 {
		v.line(string(v.rest))
		v.rest = nil
	}
}

// line tells one line of a process. What one says that is broken off is not for
// the story, nor is what leads to a state that is about to go away.
func (v *voice) line(text string) {
	if v.over() || !v.keep && (strings.HasPrefix(text, "why: ") || strings.HasPrefix(text, "next: ")) {
		return
	}
	if v.part != "" {
		if strings.HasPrefix(text, "#") {
			v.in = strings.HasPrefix(text, v.part)
		}
		if !v.in {
			return
		}
	}
	all := acts()
	if v.told < len(all) && stepOf(text) == all[v.told].step {
		v.narrate(all[v.told].text)
		v.told++
	}
	v.put(text + "\n")
}

// stepOf is the step that a line about one is about: its second word, without
// what it is nested in or done for it.
func stepOf(line string) string {
	line = ansi().ReplaceAllString(line, "")
	for _, mark := range []string{"✓", "✗"} { // of a line about a step that ended
		if rest, ended := strings.CutPrefix(line, mark); ended {
			line = " " + rest
		}
	}
	words := strings.Fields(strings.Replace(line, " not taken ", " not_taken ", 1))
	if len(words) < 2 || !strings.HasPrefix(line, "  ") {
		return ""
	}
	name, _, _ := strings.Cut(words[1], "/")
	name, _, _ = strings.Cut(name, "@")
	return name
}

func (v *voice) put(text string) {
	var lines []string
	for l := range strings.SplitSeq(text, "\n") {
		lines = append(lines, readable.Fold(l, v.width)...)
	}
	text = strings.Join(lines, "\n")
	if _, err := io.WriteString(v.out, text); err != nil {
		v.lost(err)
	}
}
