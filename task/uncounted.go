package task

import (
	"fmt"
	"strings"
)

// uncounted says why tests that passed show nothing: the work changed what they are, or what runs
// them, and their output counts no test now. Without any change to them, a test command that
// never says how many tests ran is as good as it was; "" = so it is.
func uncounted(in *inputs) string {
	tests, _ := unwrapped(in.any("tests")).(map[string]any)
	if !passed(tests) || passed(tests["counted"]) {
		return ""
	}
	o, _ := unwrapped(in.any("old_tests")).(map[string]any)
	files, defines := pathsOf(o["files"]), pathsOf(o["defines"])
	before := passed(tests["counted_before"]) || passed(o) && passed(o["counted"])
	switch {
	case len(defines) > 0:
		return fmt.Sprintf("the work changed the test command (%s), and its output counts no test now", line(strings.Join(defines, ", "), maxGoal))
	case before && len(files) > 0:
		return fmt.Sprintf("the work changed the tests (%s), and their output counts no test now", line(strings.Join(files, ", "), maxGoal))
	case before:
		return "the output of the tests counts no test now, and before the work it counted some"
	}
	return ""
}
