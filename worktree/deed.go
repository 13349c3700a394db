package worktree

import (
	"slices"
	"strings"

	"github.com/belay-run/belay"
)

// deed is what one use of a tool could have done to files, read from the tool's
// name, its path and its command alone.
type deed struct {
	writes  bool // it may change files
	afar    bool // it may have an effect outside of the working tree
	names   []naming
	texts   []passage // of programs in other languages: what they name may be written
	many    bool      // it is more than one simple command: one of them may have failed, and others not
	commits []making  // by commands of git that make them
	tried   []string  // places where such a command stood, whatever came after it
	undone  bool      // commits that were made before may have been taken back
	reverts bool      // one was taken back by another: it may be one of its own
}

// naming is a path that a tool names as written.
type naming struct {
	path string
	how  manner
	from string // where the shell stood, seen from where it began; somewhere = nobody knows
}

// passage is a text in another language, and where the shell stood that gave it.
type passage struct {
	text, from string
}

// manner is how a path is named.
type manner int

const (
	written manner = iota // the file
	within                // the file, or all in the folder
	made                  // the file, if it was not there
	gone                  // the file, or all in the folder, if it is not there any more
	moded                 // the file, or all in the folder, if its mode is another
)

// somewhere stands for a place that nobody knows.
const somewhere = "?"

// deedOf reads a tool call. What nobody knows may do anything.
func deedOf(call belay.ToolCall, kept *texts) deed {
	switch {
	case call.Denied:
		return deed{}
	case call.Command != "":
		return deedOfCommand(call, kept)
	case idle(call.Name):
		return deed{}
	case slices.Contains(senders, strings.ToLower(call.Name)):
		return deed{afar: !call.Failed}
	case call.Path != "":
		if call.Failed { // a file tool that failed wrote nothing
			return deed{}
		}
		how := written
		if words := toolWords(call.Name); slices.Contains(words, "delete") {
			how = gone
		} else if slices.Contains(words, "move") {
			how = within
		}
		return deed{writes: true, afar: strings.Contains(call.Name, "__") || strings.Contains(call.Name, "."), names: []naming{{path: call.Path, how: how}}}
	}
	return deed{writes: !call.Failed, afar: !call.Failed}
}

// deedOfCommand reads a shell command. One that failed may have changed files
// before; when there is but one simple command in it, it wrote nothing.
func deedOfCommand(call belay.ToolCall, kept *texts) deed {
	failed := call.Failed || call.Exit != nil && *call.Exit != 0
	zero := !failed && !call.Open && !call.Masked // its end is told, and is a good one
	s := newShellReader(kept, zero)
	s.read(call.Command, zero)
	d := s.deed
	d.many = d.many || s.seen > 1
	if call.Masked { // it is longer than what is seen of it, or the seen part does not tell its end
		d.many = true
	}
	if failed && !d.many {
		d.names, d.texts = nil, nil
	}
	return d
}
