package task

import (
	"fmt"
	"slices"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/pattern"
)

// failure is why a step failed, as the key failed: of a step gives it.
type failure struct {
	class belay.Class
	rule  string
	text  string
	agent bool // an agent had begun what failed
}

// readFailure reads why a step failed; nil where it did not.
func readFailure(v any) *failure {
	o, ok := unwrapped(v).(map[string]any)
	if !ok {
		if text := line(textOf(v), maxLine); text != "" && text != "false" && text != "null" {
			return &failure{class: belay.ClassUnknown, text: text}
		}
		return nil
	}
	if nothing(o) {
		return nil
	}
	f := &failure{class: belay.Class(first(o, "class")), rule: first(o, "rule"), agent: first(o, "agent") == "true", text: line(first(o, "text"), maxLine)}
	if m := chain().FindStringSubmatch(f.text); m != nil && m[2] != "" { // of a sub-recipe in a sub-recipe
		f.text = m[1] + " failed: " + m[2]
	}
	if f.text == "" {
		f.text = "the step that does the work failed"
	}
	return f
}

// claimed tells whether an agent said that it did the work, and had not. One that gave no
// answer says nothing.
func (f *failure) claimed() bool { return f.class == belay.ClassHollow && f.rule != belay.RuleNoAnswer }

// workFailed is why the work was not done in full; nil where it was, also by a
// recipe that did it instead.
func workFailed(in *inputs) *failure {
	if f := readFailure(in.any("instead_failed")); f != nil {
		return f
	}
	if doneInstead(in) {
		return nil
	}
	return readFailure(in.any("failed"))
}

// doneInstead tells whether another recipe did all of the work in the place of the step
// that should: its result is that of the round.
func doneInstead(in *inputs) bool {
	_, done := unwrapped(in.any("instead")).(map[string]any)
	return done && readFailure(in.any("instead_failed")) == nil
}

// limit says what keeps a round from being more than PARTIAL, whatever its criteria
// say: work that was not done in full, tests that did not pass.
func (j *judgement) limit(in *inputs, seen evidence) {
	if why := in.text("committed"); why != "" { // told first: it is done, and no round takes it back
		j.limitTo("%s", why)
	}
	if lost, all := undone(in); len(lost) > 0 && !doneInstead(in) {
		j.limitTo("%d of %d workstreams were not done: %s", len(lost), all, strings.Join(lost, ", "))
	} else if f := workFailed(in); f != nil {
		j.limitTo("the work did not end well: %s", f.text)
	}
	// of the first round the failed step names them
	if files := pathsOf(in.any("altered")); len(files) > 0 && (workFailed(in) == nil || len(in.object("before")) > 0) {
		j.stays = true
		j.limitTo("nothing was to be changed, and files are not as they were when the first round began: %s", line(strings.Join(files, ", "), maxGoal))
	}
	for _, why := range unfinished(in) {
		j.limitTo("%s", why)
	}
	if f := readFailure(in.any("merged_failed")); f != nil {
		j.limitTo("what was merged was not found to be in order: %s", f.text)
	}
	if tests := unwrapped(in.any("tests")); in.flag("expect_tests") && expectsChange(in) && !passed(tests) {
		o, _ := tests.(map[string]any)
		why := line(first(o, "why"), maxLine)
		if why == "" {
			why = "tests were expected, and none passed"
		}
		j.limitTo("%s", why)
	}
	j.asWritten(in, seen)
	j.oldTests(in, seen)
	if len(seen.altered) > 0 {
		j.limitTo("files that git ignores were changed in your own checkout during the run, by an agent or by somebody else, and the checks ran with them: %s", line(strings.Join(seen.altered, ", "), maxGoal))
	}
	own := pathsOf(in.any("own_path"))
	var links []string
	own = slices.DeleteFunc(own, func(p string) bool {
		is := strings.Contains(p, " -> ")
		if is {
			links = append(links, p)
		}
		return is
	})
	if len(own) > 0 {
		j.limitTo("the work names its own worktree, which others do not have: %s", line(strings.Join(own, ", "), maxGoal))
	}
	if len(links) > 0 {
		j.limitTo("a new link leads out of the repository: %s", line(strings.Join(links, ", "), maxGoal))
	}
	if strings.TrimSpace(textOf(in.any("after"))) == "changed" {
		j.limitTo("files changed after they were judged")
	}
}

// notes is what else is to be said about the work.
func notes(in *inputs) []string {
	var list []string
	for l := range strings.Lines(textOf(in.any("notes"))) {
		if l = line(l, maxLine); l != "" && !strings.HasPrefix(l, warningMark) && !strings.HasPrefix(l, pushedMark) {
			list = append(list, l)
		}
	}
	return list
}

// pushedMark begins a note that names a branch at a remote which has commits of the work.
const pushedMark = "pushed: "

// pushed are the branches at remotes that agents pushed to, in this round or before it.
func pushed(in *inputs) []string {
	list := texts(in.object("before")["pushed"])
	said := textOf(in.any("notes"))
	for _, x := range results(in) {
		o, _ := unwrapped(x).(map[string]any)
		said += "\n" + first(o, "committed")
	}
	for l := range strings.Lines(said) {
		if name, is := strings.CutPrefix(line(l, maxLine), pushedMark); is && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// warningMark begins a note that a person must see, whatever the status is.
const warningMark = "warning: "

// warnings are the notes that are such.
func warnings(in *inputs) []string {
	var list []string
	for l := range strings.Lines(textOf(in.any("notes"))) {
		if text, is := strings.CutPrefix(line(l, maxLine), warningMark); is {
			list = append(list, text)
		}
	}
	return list
}

// results are what the recipes gave that did the work.
func results(in *inputs) []any {
	streams, _ := unwrapped(in.any("streams")).([]any)
	return append(slices.Clone(streams), in.any("work"), in.any("instead"))
}

// unfinished is what the recipes that did the work say themselves to be missing.
func unfinished(in *inputs) []string {
	var list []string
	for _, x := range results(in) {
		o, _ := unwrapped(x).(map[string]any)
		var c belay.Closing
		ok := c.Read(strings.TrimSpace(first(o, "work_ends")))
		if text := line(c.Text, maxLine); ok && c.Word != belay.ClosedAchieved && !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return list
}

func (j *judgement) limitTo(format string, args ...any) {
	j.Limits = append(j.Limits, fmt.Sprintf(format, args...))
	j.because(format, args...)
	j.lower(Partial)
}

// undone are the names of the workstreams that gave nothing.
func undone(in *inputs) (names []string, all int) {
	list, _ := unwrapped(in.any("streams")).([]any)
	of, _ := unwrapped(in.any("names")).([]any)
	for i, x := range list {
		if x != nil {
			continue
		}
		name := fmt.Sprintf("number %d", i+1)
		if i < len(of) {
			o, _ := of[i].(map[string]any)
			if is := line(first(o, "name", "id"), 60); is != "" {
				name = is
			}
		}
		names = append(names, name)
	}
	return names, len(list)
}

var chain = pattern.Lazy(`^(?:(?:step (\S+)|recipe \S+|[a-z]+(?:_[a-z]+)*(?: \([a-z_]+\))?): )+(.*)$`)
