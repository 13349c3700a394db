package task

import (
	"fmt"
	"slices"
	"strings"
)

// tests are test files that are not as the step left them that wrote them, and why something
// does not pass with them as they were.
type tests struct {
	files []string
	fails string
	in    string // the folder where they are as they were
}

func (t tests) String() string {
	return fmt.Sprintf("%s (%s)", line(strings.Join(t.files, ", "), maxGoal), t.fails)
}

func readTests(v any) tests {
	o, _ := unwrapped(v).(map[string]any)
	return tests{pathsOf(o["written"]), line(first(o, "written_fails"), maxGoal), line(first(o, "written_in"), maxLine)}
}

// writtenTests are those of checks, by the id of their criterion.
func writtenTests(v any) map[string]tests {
	list := map[string]tests{}
	results, _ := unwrapped(v).([]any)
	for _, x := range results {
		o, _ := x.(map[string]any)
		if t := readTests(o); len(t.files) > 0 {
			list[first(o, "id", "criterion")] = t
		}
	}
	return list
}

// asWritten says what the tests come to as they were written in this run. Who does the work must
// not be who says what it is tested by, so that they fail keeps a round from being more than
// PARTIAL, whoever gave the criteria.
func (j *judgement) asWritten(in *inputs, seen evidence) {
	t, what := readTests(in.any("old_tests")), "the tests do"
	for _, c := range j.Criteria {
		if of := seen.written[c.ID]; of.fails != "" && t.fails == "" {
			t, what = of, "the check of "+c.ID+" does"
		}
	}
	switch {
	case len(t.files) == 0:
		return
	case t.fails == "":
		j.because("the tests pass with the test files as they were written, too: %s", line(strings.Join(t.files, ", "), maxGoal))
		return
	}
	if j.Written = slices.Clone(t.files); t.in != "" {
		j.WrittenIn = t.in
	}
	j.limitTo("test files were changed after they were written, and %s not pass with them as they were: %s", what, t)
}

// writtenAgain tells the next round about such files.
func writtenAgain(status map[string]any) string {
	files := texts(status["written"])
	if len(files) == 0 {
		return ""
	}
	text := "These test files are not as the step write-tests left them, and the work does not pass them as they were: " + line(strings.Join(files, ", "), maxLine) + "."
	if in := line(first(status, "written_in"), maxLine); in != "" {
		text += " As they were they are below " + in + "."
	}
	return text + " Make the work pass them. Only the step write-tests may correct such a file, and only by a change in this round; it says in the file why."
}
