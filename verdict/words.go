package verdict

import (
	"fmt"
	"regexp"
	"strings"
)

// What a text can say about work. These rules decide only where there is no
// evidence, and never that work was done.
var (
	noAccess = regexp.MustCompile(`(?i)\b(can(no|')t|cannot|could( not|n't)|unable to|(do|did)( not|n't) have|no|without|lack(s|ed|ing)?|wasn't able to|not able to)\b[^.\n]{0,40}\b(access|reach|read|open|find|see|locate|view|inspect)?[^.\n]{0,25}\b(code ?base|repositor(y|ies)|repo|files?|workspace|working directory|source( code)?|project)\b`)

	// A concrete change, finding or artifact.
	concrete = regexp.MustCompile(`(?i)\b(added|changed|fixed|removed|renamed|replaced|implemented|created|updated|wrote|written|refactored|moved|deleted|found|because|caused by|root cause|the (bug|problem|issue|reason) is|returns?|fails? (when|if|with|at)|passes|conclu(de|sion))\b`)

	// A file path, a line, a diff, a test result, a piece of code.
	reference = regexp.MustCompile("(?m)(\\b[\\w.-]+/[\\w./-]+\\b|\\b[\\w-]+\\.(go|py|ts|tsx|js|jsx|rs|java|c|h|cc|cpp|rb|md|ya?ml|json|toml|sh|sql|txt|html|css|proto|mod|lock|cfg|ini)\\b(:\\d+)?|^(\\+\\+\\+|---|@@|diff --git) |\\b\\d+ (passed|failed|tests?)\\b|\\b(PASS|FAIL|ok)\\b\\s+\\S|`[^`\n]+`|```|\\b[0-9a-f]{7,40}\\b)")

	// The agent says itself that it is not done, or that there was nothing to do.
	disowns = regexp.MustCompile(`(?i)\b(could( not|n't)|cannot|can't|unable to|did( not|n't)|have( not|n't)|has(n't| not)|not (yet )?(done|finished|complete|fixed|implemented|possible|able)|fail(s|ed|ing)? to|partial(ly)?|incomplete|blocked|remains?|still (fails?|open|missing|to do)|todo|no changes? (was|were|is|are)? ?(made|needed|necessary|required)|nothing (to do|needs|had to|was)|already (fixed|done|implemented|exists?|present|correct|there|works?|handled))\b`)
)

// emptyWords is the classic rule: it says that it has no access, and describes
// and refers to nothing.
func emptyWords(text string) bool {
	return noAccess.MatchString(text) && !reference.MatchString(text) && !finding(text)
}

// finding tells whether a text describes something concrete. What follows "I
// could not" describes nothing.
func finding(text string) bool {
	for _, sentence := range strings.FieldsFunc(text, func(r rune) bool { return r == '.' || r == '\n' || r == '!' }) {
		if concrete.MatchString(sentence) && !disowns.MatchString(sentence) && !noAccess.MatchString(sentence) {
			return true
		}
	}
	return false
}

// owns tells whether an agent says itself that the goal is not reached or that
// nothing had to be done, and gives something specific with it.
func owns(text string) bool {
	return disowns.MatchString(text) && reference.MatchString(text)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func joined(names []string) string { return strings.Join(names, ", ") }

func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
