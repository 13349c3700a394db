package verdict

import (
	"regexp"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/pattern"
)

// maxFailing bounds the list of what fails.
const maxFailing = 200

// failing are the forms in which test runners and compilers name what fails.
// The first group is the name or the place.
var failing = []func() *regexp.Regexp{
	pattern.Lazy(`^\s*--- FAIL: (\S+)`),                                  // go test
	pattern.Lazy(`^(?:FAILED|ERROR) (\S+::\S+)`),                         // pytest
	pattern.Lazy(`^\s*(?:not ok) \d+ -? ?(.+?)\s*$`),                     // TAP
	pattern.Lazy(`^test (\S+) \.\.\. FAILED`),                            // cargo
	pattern.Lazy(`^\s*[✕✗×] (.+?)(?: \(\d+ ?m?s\))?\s*$`),                // jest, mocha, vitest
	pattern.Lazy(`^(?:FAIL|ERROR): (\S+)`),                               // unittest, make check
	pattern.Lazy(`^\s*(?:--> )?([\w./@+-]+\.\w+:\d+)(?::\d+)?:? `),       // a compiler's place
	pattern.Lazy(`^\s*--> ([\w./@+-]+\.\w+:\d+)`),                        // rustc
	pattern.Lazy(`^([\w./@+-]+\.\w+\(\d+,\d+\)): (?:error|warning) \w+`), // tsc, msbuild
}

// Failing lists what fails by the words of a test runner or a compiler, sorted
// and none twice; nil when its words are not known.
func Failing(text string) []string {
	var list []string
	for line := range strings.SplitSeq(tail(text), "\n") {
		for _, re := range failing {
			if m := re().FindStringSubmatch(line); m != nil {
				list = append(list, m[1])
				break
			}
		}
	}
	slices.Sort(list)
	list = slices.Compact(list)
	return list[:min(len(list), maxFailing)]
}
