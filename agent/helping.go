package agent

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Trouble is what an agent is told that fixes what made a step fail.
type Trouble struct {
	Step    string
	Cause   string   // the failure in words
	Script  string   // what the step runs; "" = it is no script
	Check   string   // its check, when that is what failed
	Tail    string   // the last lines that were printed
	Failing []string // what fails, as far as it is known
	Round   int      // from 1
}

// RepairTask asks for a repair. The step itself runs again afterwards: that is
// the judge, not the answer.
func RepairTask(t Trouble) string {
	parts := []string{
		fmt.Sprintf("The step %q of a run failed: %s.\n"+
			"Find the cause and fix it in the working directory. When you end, the step runs again exactly as it is\n"+
			"and decides whether it is fixed. Do not weaken, skip or delete a test or a check to make it pass,\n"+
			"and do not change what the step runs.", t.Step, oneLine(t.Cause)),
		fenced("What the step runs", t.Script), fenced("Its check", t.Check),
	}
	if len(t.Failing) > 0 {
		parts = append(parts, "## What fails\n\n- "+strings.Join(t.Failing, "\n- "))
	}
	parts = append(parts, fenced("The last lines that it printed", t.Tail))
	if t.Round > 1 {
		parts = append(parts, fmt.Sprintf("This is repair %d. The ones before it made less fail, but not nothing: look at what they did first (git diff, git log).", t.Round))
	}
	return join(parts...)
}

// MergeTask asks for a conflict to be resolved. Whether it is, the merge shows.
func MergeTask(step, cause string) string {
	return fmt.Sprintf("You are in the working tree of the step %q of a run. The work of the step is done, but %s.\n"+
		"The other changes were put into this working tree. Where both sides changed the same lines, the files have\n"+
		"conflict marks (<<<<<<<, =======, >>>>>>>); beside a file that cannot hold marks lies a note with the ending\n"+
		".belay-conflict that says what the conflict is.\n\n"+
		"Resolve all conflicts, so that the purpose of both sides is kept, and leave everything else as it is. Remove\n"+
		"all marks, and delete the notes when you are done with them. Do not commit, and do not run git merge, rebase\n"+
		"or checkout: when you end, the files are merged as they are then.", step, oneLine(cause))
}

// fenced puts a text from outside between fences that it cannot close.
func fenced(title, text string) string {
	text = strings.TrimRight(text, " \t\n")
	if text == "" {
		return ""
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return "## " + title + "\n\n" + fence + "\n" + text + "\n" + fence
}

// PlanTask asks for the parts of a task that was too big for one agent.
func PlanTask(task, why string, most int) string {
	return join(
		"A task was too big for one agent to do at once ("+oneLine(why)+"). Split it. Do no part of it yourself and change no file.",
		"# The task to be split\n\n"+strings.TrimSpace(task),
		fmt.Sprintf(`# How to split

- 2 to %d parts, each clearly smaller than the whole, together the whole and nothing more.
- Split by what must hold at the end (acceptance criteria) if you can; else by files or packages; else by
  phase (find out, change, verify).
- Look at the files first: what is done already is no part any more.
- Each part is done by an agent that knows nothing but its own text: say there all that it must know.

Answer with one JSON value and nothing else:

{"parts": [{"title": "a few words", "task": "what to do, in full", "check": "how to see that it is done", "files": ["paths", "it", "writes"], "needs": [1]}]}

"needs" are the numbers of the parts that must be done before, counted from 1; leave it out where there are none.`, most))
}

// The limits of what a recovery agent is shown.
const (
	partialChars = 500
	summaryKeys  = 20
	summaryChars = 80
)

// Fallen is a sub-recipe that failed, for the agent that is asked to finish it.
type Fallen struct {
	Recipe  string
	Steps   []string // those that failed
	Error   string
	Partial string      // what it printed or gave before it failed
	Context [][2]string // names and values, in order
}

// RecoveryTask asks an agent to finish what a sub-recipe left, or to say that
// it cannot be done.
func RecoveryTask(f Fallen) string {
	var b strings.Builder
	b.WriteString("A sub-recipe of a running workflow failed, and you are asked to recover from it.\n\n")
	fmt.Fprintf(&b, "Sub-recipe: %s\n", f.Recipe)
	fmt.Fprintf(&b, "Failed steps: %s\n", strings.Join(f.Steps, ", "))
	fmt.Fprintf(&b, "Error: %s\n", indented(hideNamed(f.Error)))
	fmt.Fprintf(&b, "Partial outputs (first 500 chars): %s\n\n", indented(cutTo(hideNamed(f.Partial), partialChars)))
	b.WriteString("You have two choices:\n" +
		"1. Finish the work that the sub-recipe was there to do, in the working directory, and answer with its result.\n" +
		"2. If it cannot be finished, answer with: UNRECOVERABLE: reason\n\n")
	b.WriteString("Current context summary:\n")
	for _, kv := range f.Context[:min(len(f.Context), summaryKeys)] {
		value := cutTo(oneLine(hideNamed(kv[1])), summaryChars)
		if secretName(kv[0]) {
			value = hiddenValue
		}
		fmt.Fprintf(&b, "  %s: %s\n", kv[0], value)
	}
	return b.String()
}

// indented keeps the further lines of a text from outside from looking like
// lines of ours.
func indented(s string) string {
	return strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n    ")
}

// oneLine keeps a value from looking like further lines of the summary.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// cutTo is the first so many characters of a text.
func cutTo(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most])
}

// Unrecoverable tells whether an answer says that the work cannot be finished.
func Unrecoverable(answer string) bool {
	return strings.Contains(strings.ToUpper(answer), "UNRECOVERABLE")
}

// previewChars is how much of an answer is shown in one line.
const previewChars = 200

// Preview is the beginning of an answer, in one line.
func Preview(answer string) string { return cutTo(oneLine(answer), previewChars) }
