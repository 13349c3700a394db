package worktree

import (
	"path"
	"slices"
	"strings"

	"github.com/belay-run/belay"
)

// deed is what one use of a tool could have done to files, read from the tool's
// name, its path and its command alone.
type deed struct {
	writes bool // it may change files
	afar   bool // it may have an effect outside of the working tree
	names  []naming
	texts  []string // of programs in other languages: what they name may be written
	many   bool     // it is more than one simple command: one of them may have failed, and others not
}

// naming is a path that a tool names as written.
type naming struct {
	path string
	how  manner
	from string // where the shell stood, seen from where it began; somewhere = nobody knows
}

// manner is how a path is named.
type manner int

const (
	written manner = iota // the file
	within                // the file, or all in the folder
	made                  // the file, if it was not there
	gone                  // the file, or all in the folder, if it is not there any more
)

// somewhere stands for a place that nobody knows.
const somewhere = "?"

// The words by which CLIs name their tools, in small letters: those that make
// something, those that only look, and whole names of those that touch no file.
var (
	doers   = []string{"write", "edit", "replace", "patch", "create", "delete", "insert", "update", "move", "rename", "file_change"}
	lookers = []string{"read", "view", "grep", "glob", "search", "list", "ls", "find", "fetch"}
	idlers  = []string{
		"todowrite", "todo_write", "todoread", "todo_read", "write_todos", "update_todo", "updatetodo", "update_plan", "plan",
		"think", "thinking", "askuserquestion", "ask_user", "exitplanmode", "exit_plan_mode", "enterplanmode", "switch_mode",
		"bashoutput", "read_bash", "killshell", "stop_bash", "taskoutput", "report_intent", "toolsearch", "websearch", "web_search",
	}
)

// idle tells whether a tool changes nothing, by its name.
func idle(tool string) bool {
	tool = strings.ToLower(tool)
	within := func(w string) bool { return strings.Contains(tool, w) }
	return slices.Contains(idlers, tool) || slices.ContainsFunc(lookers, within) && !slices.ContainsFunc(doers, within)
}

// deedOf reads a tool call. What nobody knows may do anything.
func deedOf(call belay.ToolCall) deed {
	switch {
	case call.Denied:
		return deed{}
	case call.Command != "":
		return deedOfCommand(call)
	case idle(call.Name):
		return deed{}
	case call.Path != "":
		if call.Failed { // a file tool that failed wrote nothing
			return deed{}
		}
		how := written
		if name := strings.ToLower(call.Name); strings.Contains(name, "delete") {
			how = gone
		} else if strings.Contains(name, "move") {
			how = within
		}
		return deed{writes: true, names: []naming{{path: call.Path, how: how}}}
	}
	return deed{writes: !call.Failed, afar: !call.Failed}
}

// deedOfCommand reads a shell command. One that failed may have changed files
// before; when there is but one simple command in it, it wrote nothing.
func deedOfCommand(call belay.ToolCall) deed {
	s := &shellReader{}
	s.read(call.Command, 0)
	d := s.deed
	if call.Masked { // it is longer than what is seen of it, or the seen part does not tell its end
		d.many = true
	}
	failed := call.Failed || call.Exit != nil && *call.Exit != 0
	if failed && !d.many {
		d.names, d.texts = nil, nil
	}
	return d
}

// makesCommit tells whether a simple command makes commits when it ends well.
func makesCommit(words []string) bool {
	if path.Base(words[0]) != "git" {
		return false
	}
	verb, rest := gitVerb(words[1:])
	if slices.ContainsFunc(rest, func(w string) bool {
		return oneOf(w, []string{"--allow-empty", "--dry-run", "--help", "-h", "--abort", "--no-commit", "-n"})
	}) {
		return false
	}
	return oneOf(verb, []string{"commit", "merge", "cherry-pick", "revert", "rebase", "pull", "am"})
}

// gitVerb is the command of git in its arguments, and what follows it.
func gitVerb(words []string) (verb string, rest []string) {
	for i := 0; i < len(words); i++ {
		switch w := words[i]; {
		case oneOf(w, []string{"-C", "-c", "--git-dir", "--work-tree", "--namespace"}):
			i++
		case strings.HasPrefix(w, "-"):
		default:
			return w, words[i+1:]
		}
	}
	return "", nil
}
