package verdict

import (
	"slices"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/pattern"
)

// Rule gives a class to a text. Rules are data: the first that fits decides,
// and its id is in the record. A rule says what a family of messages has in
// common; none is a copy of a message.
type Rule struct {
	ID      string
	Tool    string // the tool whose words these are; "" = any
	Class   belay.Class
	Move    belay.Act // "" = the first move of the class
	Pattern string    // case does not matter; ^ and $ are the ends of a line
	Exit0   bool      // only together with exit 0
}

type compiledRule struct {
	Rule
	re *pattern.Any
}

func newClassifier(rules []Rule) *Classifier {
	c := &Classifier{rules: make([]compiledRule, 0, len(rules))}
	for _, r := range rules {
		c.rules = append(c.rules, compiledRule{r, pattern.NewAny(`(?im)` + r.Pattern)})
	}
	for _, m := range marks() {
		c.marks = append(c.marks, compiledMark{m.tool, pattern.NewAny(m.pattern)})
	}
	return c
}

// Rules is the whole list in its order: what came with exit 0, what test
// runners and compilers print, what belongs to one tool, and what holds for all.
func Rules() []Rule {
	return slices.Concat(exit0Rules(), outputRules(), agentRules(), toolRules(), limitRules(), worldRules(), inputRules())
}

func exit0Rules() []Rule {
	return []Rule{
		{"exit0.progress", "", belay.ClassBenign, "", `^(reconnecting|retrying)\b`, true},
		{"exit0.no_turns", "", belay.ClassHollow, "", `"num_turns": ?0\b|"result": ?""`, true},
		{"exit0.denied", "", belay.ClassHollow, "", `"permission_denials": ?\[\s*\{`, true},
		{"exit0.blocked", "", belay.ClassRefusal, "", `"stop_reason": ?"refusal"|"error":\{[^}]*(safety|blocked|prohibited|content.?filter)|"reason": ?"content.?filter"|ContentFilterError`, true},
		{"exit0.cut", "", belay.ClassHollow, "", `^partial\b|"(stop|finish)_?reason": ?"(max_tokens|length)"|max_tokens|\btruncated\b|"status": ?"error"|"response": ?""`, true},
		{"exit0.nothing", "", belay.ClassHollow, "", `\b(empty|blank|no) (answer|response|result|reply)\b|\bdid nothing\b`, true},
		{"exit0.gave_up", "", belay.ClassWorkFailure, "", `\baborting\b|\b(giving|gave) up\b`, true},
		{"exit0.no_tests", "", belay.ClassHollow, "", `\[no test files\]|no tests? (to run|ran|found|were)|collected 0 items|ran 0 tests|0 passing`, true},
	}
}

// outputRules know what a test runner, a compiler or a linter looks like.
func outputRules() []Rule {
	work := func(id, pattern string) Rule {
		return Rule{ID: "output." + id, Tool: outputTool, Class: belay.ClassWorkFailure, Pattern: pattern}
	}
	return []Rule{
		{ID: "output.no_tests", Tool: outputTool, Class: belay.ClassHollow, Pattern: `^no tests? (found|ran|to run)|^error: no test files? found|=+ no tests ran|collected 0 items$`},
		{ID: "output.library", Tool: outputTool, Class: belay.ClassInfrastructure, Move: belay.ActRepair, Pattern: `cannot find -l\w`},
		work("go_test", `^\s*--- FAIL: |^FAIL\s+\S+|^panic: test timed out|^FAIL$|^# \S+\n\S+\.go:\d+`),
		work("pytest", `^=+ .*\b\d+ (failed|errors?)\b.* in |^(FAILED|ERROR) \S+\.py|^E    ?\w*(Error|assert)|^FAILED \((failures|errors)=`),
		work("cargo", `^test result: FAILED|^error\[E\d{4}\]|could not compile|^thread '.*panicked at|^error: test failed`),
		work("js_test", `^\s*Tests?:? +\d+ fail|^\s*\d+ failing$|^\s*FAIL\s+\S+\.[cm]?[jt]sx?|^\s*● |AssertionError( \[|:)|^not ok \d+|^# fail [1-9]`),
		work("jvm", `Tests run: \d+, Failures: [1-9]|Tests run: \d+, Failures: \d+, Errors: [1-9]|COMPILATION ERROR|Compilation failed|^\S+\.(java|kt|scala):\d+: error|There were failing tests|\d+ tests completed, \d+ failed|^e: .*\.kts?:`),
		work("tsc", `error TS\d+:|\(\d+,\d+\): error \w+\d+`),
		work("compiler", `^\S+\.\w+:\d+(:\d+)?:? (fatal )?error\b|\b[\w/-]+\.\w{1,6}:\d+:\d+:? (fatal )?error\b|^\S+\.\w{1,4}:\d+:\d+: |^File "[^"]+", lines? \d[\d-]*, characters|^\*\* \(\w+Error\) \S+:\d+|^\s*--> \S+:\d+:\d+|^PHP (Fatal|Parse) error|^(Fatal|Parse) error: .* on line \d+|^ERROR: LoadError|(cannot|can't|could not) find .{0,60}\bin scope\b|\bunbound (value|constructor|module)\b|match expected type|type mismatch|incompatible types|undefined reference to|import cycle|^ld: |^collect2: |linker command failed|: undefined symbol`),
		work("ruby_php", `^\d+ examples?, [1-9]\d* failures?|^\d+ runs, \d+ assertions, [1-9]|^FAILURES!$|^\d+ tests?, .*[1-9]\d* failures?|tests?, \d+ assertions?, [1-9]\d* failures?`),
		work("dotnet", `^Failed! +- Failed:|\berror CS\d{4}\b|error MSB\d+`),
		work("lint", `✖ \d+ problems?|^found \d+ errors?|^\d+ errors? (found|generated)|would reformat|files? would be reformatted|code style issues|violations? found|^\s*\d+:\d+\s+(error|warning)\s|issues? found|\b\d+ (offenses?|vulnerabilit\w+|violations?|problems?|issues?)\b|\b[A-Z]{1,4}\d{3,5}\b:? \(?(info|style|warning|error)\b`),
		work("assertion", `\bexpected to (find|be|have|equal|contain|see|match)\b|^\s*(expected|received|actual|got) *:|^\s*FAIL(ED)?:? .{0,200}\b(expected|got|want(ed)?)\b`),
		work("ctest", `tests passed, [1-9]\d* tests? failed|The following tests FAILED|\[  FAILED  \]|^\d+ of \d+ tests? failed|[1-9]\d* (tests?|specs?|scenarios?|checks?) (have |has )?failed|test suites? failed|tests? failed$`),
	}
}

// agentRules are the words of agent CLIs that no general rule understands.
func agentRules() []Rule {
	return []Rule{
		{ID: "claude.bad_session", Tool: "claude", Class: belay.ClassInvalidInput, Move: belay.ActRetry, Pattern: `tool_(use|result).*(tool_(use|result))|^no conversation|session id .*(already in use|not found)`},
		{ID: "claude.flag", Tool: "claude", Class: belay.ClassInvalidInput, Move: belay.ActAbort, Pattern: `^error: (unknown option|input must|option .* (argument|requires|invalid)|.*--\w+)`},
		{ID: "gemini.hidden", Tool: "gemini", Class: belay.ClassQuota, Pattern: `\[object object\]`},
		{ID: "gemini.model", Tool: "gemini", Class: belay.ClassInvalidInput, Move: belay.ActFailover, Pattern: `models?/\S+ (is )?not (found|supported)`},
		{ID: "opencode.aborted", Tool: "opencode", Class: belay.ClassCancelled, Pattern: `MessageAbortedError`},
		{ID: "copilot.policy", Tool: "copilot", Class: belay.ClassAuth, Pattern: `access denied by policy|not (enabled|licensed|entitled)|no (copilot )?(license|subscription|access)`},
	}
}
