package agent

import (
	"regexp"
	"strings"

	"github.com/belay-run/belay/internal/pattern"
)

// saying is what a line of a runner says beside its numbers.
type saying int

const (
	saysCount saying = iota // its numbers alone; without any, that no test ran
	saysSome                // tests ran
	saysBad                 // tests failed
)

// summary is a line in which a runner of tests sums up. The groups of its
// expression are numbers: all, pass, fail, errors, skip; or a list of them.
type summary struct {
	word string // without it the line is not looked at
	line func() *regexp.Regexp
	says saying
	less bool // its numbers are among those of a line before it
	tap  bool // it sums up lines of the Test Anything Protocol
}

func sums(word, line string) summary { return summary{word: word, line: pattern.Lazy(line)} }

func says(word, line string, what saying) summary {
	s := sums(word, line)
	s.says = what
	return s
}

func sumsTAP(word, line string) summary {
	s := sums(word, line)
	s.tap = true
	return s
}

func sumsLess(word, line string, what saying) summary {
	s := says(word, line, what)
	s.less = true
	return s
}

// spoken are the summaries whose words are in a text.
func spoken(text string) []summary {
	var list []summary
	for _, s := range summaries {
		if strings.Contains(text, s.word) {
			list = append(list, s)
		}
	}
	return list
}

// speaks tells whether a runner may have summed up in a text: with the words of
// a summary, of go or of the Test Anything Protocol.
func speaks(text string) bool {
	text = plain(text)
	for _, word := range []string{"ok", "FAIL", "PASS", `"Action":"`, "1.."} {
		if strings.Contains(text, word) {
			return true
		}
	}
	return len(spoken(text)) > 0
}

// summaries are the lines that are known. The first that fits counts.
var summaries = []summary{
	// no test ran, in words
	sums("o test", `^\s*(?:\[\w+\] )?(?:There are )?[Nn]o tests? (?:to run|found|ran|files found|executed|were found|were executed|is available|matches|modules found|targets were found|configuration file found|defined)`),
	sums("0 test", `^\s*(?:\[\w+\] )?0 tests? (?:were )?(?:ran|run|executed|found|collected)\b`),
	sums("no tests to run", `^(?:testing: warning|error): no tests to run`),
	sums("o test", `^(?:error|Error): (?:No test modules found|No tests found)`),
	sums("ests", `^(?:\[\w+\] )?(?:Tests are skipped\.|NO TESTS RAN|Zero tests ran)`),
	sums("NO TESTS RAN", `^NO TESTS RAN`),
	// go: gotestsum, ginkgo
	sums("DONE ", `^DONE (?:\d+ runs?, )?(?P<all>\d{1,9}) tests?(?:, (?P<skip>\d{1,9}) skipped)?(?:, (?P<fail>\d{1,9}) failures?)?(?:, (?P<errors>\d{1,9}) errors?)?`),
	sums(" Passed | ", `^(?:SUCCESS!|FAIL!) -- (?P<pass>\d{1,9}) Passed \| (?P<fail>\d{1,9}) Failed`),
	// python: pytest, unittest
	sums(" in ", `^=* ?(?P<list>(?:\d{1,9} [a-z ]+, )*\d{1,9} (?:passed|failed|errors?|skipped|deselected|xfailed|xpassed|warnings?)(?:, \d{1,9} [a-z ]+)*) in \d[\d.]*s\b`),
	sums(" collected", `^=* ?(?:no|\d[\d/]*) tests? collected\b.* in \d[\d.]*s\b`),
	sums("no tests ran", `^=* ?no tests ran in \d[\d.]*s\b`),
	sums("Ran ", `^Ran (?P<all>\d{1,9}) tests? in \d[\d.]*s$`),
	sumsLess("OK (", `^OK \(.*\bskipped=(?P<skip>\d{1,9})`, saysCount),
	sumsLess("FAILED (", `^FAILED \((?:failures=(?P<fail>\d{1,9}))?(?:, )?(?:errors=(?P<errors>\d{1,9}))?(?:, )?(?:skipped=(?P<skip>\d{1,9}))?`, saysBad),
	// javascript: jest, vitest, pest, mocha, playwright, ava, bun, node, tape
	sums("Tests", `^\s*Tests:?\s+(?P<list>\d{1,9} [a-z]+\b.*)$`),
	sums("Tests", `^\s+Tests\s+no tests`),
	says("Test ", `^\s*Test (?:Suites:|Files) +\d{1,9} failed`, saysBad),
	sums("passing", `^\s+(?P<pass>\d{1,9}) passing(?: \(|$)`),
	sums("failing", `^\s+(?P<fail>\d{1,9}) failing$`),
	sums(" passed (", `^\s+(?P<pass>\d{1,9}) passed \(\d[\d.]*m?s\)$`),
	sums(" failed", `^\s+(?P<fail>\d{1,9}) failed$`),
	sums("test", `^\s+(?P<pass>\d{1,9}) tests? passed$`),
	sums("test", `^\s+(?P<fail>\d{1,9}) tests? failed$`),
	sums(" pass", `^\s+(?P<pass>\d{1,9}) pass$`),
	sums(" fail", `^\s+(?P<fail>\d{1,9}) fail$`),
	sums(" across ", `^Ran \d{1,9} tests? across \d+ files?\.`),
	sumsTAP(" tests", `^(?:#|ℹ) tests +\d{1,9}$`),
	sumsTAP(" pass", `^(?:#|ℹ) pass +(?P<pass>\d{1,9})$`),
	sumsTAP(" fail", `^(?:#|ℹ) fail +(?P<fail>\d{1,9})$`),
	sumsTAP(" cancelled", `^(?:#|ℹ) cancelled +(?P<fail>\d{1,9})$`),
	// scripts that sum up by hand, the whole line
	sums(" passed", `^(?P<pass>\d{1,9}) (?:tests? )?passed(?:[,;] (?P<fail>\d{1,9}) (?:tests? )?failed)?(?:[,;] (?P<skip>\d{1,9}) (?:tests? )?skipped)?\.?$`),
	sums(" passed", `^(?P<fail>\d{1,9}) (?:tests? )?failed[,;] (?P<pass>\d{1,9}) (?:tests? )?passed(?:[,;] (?P<skip>\d{1,9}) (?:tests? )?skipped)?\.?$`),
	// perl
	sumsTAP("Tests=", `^Files=\d+, Tests=(?P<pass>\d{1,9}),`),
	says("Result: FAIL", `^Result: FAIL$`, saysBad),
	// rust: cargo, nextest
	sums("test result: ", `^test result: (?:ok|FAILED)\. (?P<pass>\d{1,9}) passed; (?P<fail>\d{1,9}) failed;`),
	sums("Summary [", `^\s+Summary \[.*?\]\s+\d[\d/]* tests? run: (?P<list>.*)$`),
	// java: maven, gradle, sbt
	sums("Tests run: ", `^(?:\[\w+\] )?Tests run: (?P<all>\d{1,9}), Failures: (?P<fail>\d{1,9}), Errors: (?P<errors>\d{1,9}), Skipped: (?P<skip>\d{1,9})$`),
	sums("surefire", `^\[INFO\] --- \S*surefire\S*:test \(`), // a sum follows if there are any
	says("There are test failures", `^(?:\[\w+\] )?There are test failures`, saysBad),
	sums("> Task :", `^> Task :(?:[\w.-]+:)*(?:test(?:[A-Z]\w*)?|integrationTest|functionalTest|\w+UnitTest|\w+AndroidTest) (?:NO-SOURCE|UP-TO-DATE|SKIPPED|FROM-CACHE)$`),
	says("> Task :", `^> Task :(?:[\w.-]+:)*(?:test|integrationTest|functionalTest|test\w+UnitTest|connected\w+AndroidTest)$`, saysSome),
	says("completed", `^\d{1,9} tests? completed, (?P<fail>\d{1,9}) failed`, saysBad),
	sums(": Total ", `(?:Passed|Failed|Error): Total \d{1,9}, Failed (?P<fail>\d{1,9}), Errors (?P<errors>\d{1,9}), Passed (?P<pass>\d{1,9})`),
	// c, c++: ctest, meson, googletest, catch2
	sums("tests passed, ", `^\d{1,3}% tests passed, (?P<fail>\d{1,9}) tests? failed out of (?P<all>\d{1,9})`),
	sums("Ok:", `^Ok: +(?P<pass>\d{1,9})$`),
	sums("Fail:", `^Fail: +(?P<fail>\d{1,9})$`),
	sums("PASSED", `^\[  PASSED  \] (?P<pass>\d{1,9}) tests?\.$`),
	sums("FAILED", `^\[  FAILED  \] (?P<fail>\d{1,9}) tests?, listed below:`),
	says("All tests passed (", `^All tests passed \(\d+ assertions? in (?P<pass>\d{1,9}) test cases?\)`, saysSome),
	sums("test cases: ", `^test cases: +\d{1,9} (?P<list>\|.*)$`),
	// ruby, elixir, bats, cucumber, busted
	sums("failure", `^(?:\d{1,9} (?:doctests?|features?), |\d{1,9} propert(?:y|ies), )*(?P<all>\d{1,9}) (?:examples?|runs?|tests?), (?P<list>(?:\d{1,9} [a-z ]+, )*\d{1,9} failures?\b.*)$`),
	sums("scenario", `^\d{1,9} scenarios? \((?P<list>.*)\)$`),
	sums("0 scenarios", `^0 scenarios$`),
	sums("scenario", `^(?P<pass>\d{1,9}) scenarios? passed, (?P<fail>\d{1,9}) failed`),
	sums("success", `^(?P<pass>\d{1,9}) success(?:es)? / (?P<fail>\d{1,9}) failures? / (?P<errors>\d{1,9}) errors?`),
	// php
	sums("OK (", `^OK \((?P<pass>\d{1,9}) tests?, \d+ assertions?\)`),
	sums("Assertions: ", `^Tests: (?P<all>\d{1,9}), Assertions: \d+(?:, Errors: (?P<errors>\d{1,9}))?(?:, Failures: (?P<fail>\d{1,9}))?(?:, (?:PHPUnit )?(?:Warnings|Deprecations|Notices|Incomplete|Risky): \d+)*(?:, Skipped: (?P<skip>\d{1,9}))?(?:, (?:PHPUnit )?(?:Warnings|Deprecations|Notices|Incomplete|Risky): \d+)*\.$`),
	// dotnet
	sums("Passed: ", `^\s*(?:Passed!|Failed!)\s+- Failed:\s+(?P<fail>\d{1,9}), Passed:\s+(?P<pass>\d{1,9})`),
	sums("Total tests: ", `^Total tests: \d{1,9}$`),
	sums("Passed: ", `^\s+Passed: (?P<pass>\d{1,9})$`),
	sums("Failed: ", `^\s+Failed: (?P<fail>\d{1,9})$`),
	sums("succeeded: ", `^\s+succeeded: (?P<pass>\d{1,9})$`),
	sums("failed: ", `^\s+failed: (?P<fail>\d{1,9})$`),
	// deno, swift, dart, zig, clojure, bazel
	sums(" passed", `^(?:ok|FAILED) \| (?P<pass>\d{1,9}) passed(?: \(.*?\))? \| (?P<fail>\d{1,9}) failed`),
	says("Executed ", `^\s*Executed [1-9]\d* tests?, with (?:\d+ tests? skipped and )?(?P<fail>\d{1,9}) failures?`, saysSome),
	sums("Executed ", `^\s*Executed 0 tests, with`),
	sums("Test run with ", `Test run with (?P<pass>\d{1,9}) tests?(?: in \d+ suites?)? passed`),
	says("Test run with ", `Test run with \d+ tests?(?: in \d+ suites?)? failed`, saysBad),
	sums("tests ", `^\d\d:\d\d \+(?P<pass>\d{1,9})(?: ~\d+)?(?: -(?P<fail>\d{1,9}))?: (?:All tests passed!|Some tests failed\.)`),
	sums("passed", `^All (?P<pass>\d{1,9}) tests passed\.`),
	sums("containing", `^Ran (?P<pass>\d{1,9}) tests? containing \d+ assertions?\.`),
	sums("failures, ", `^(?P<fail>\d{1,9}) failures?, (?P<errors>\d{1,9}) errors?\.$`),
	says(" out of ", `^Executed \d+ out of \d+ tests?: .*\bfails?\b`, saysBad),
	says(" out of ", `^Executed \d+ out of [1-9]\d* tests?: (?P<list>.*)$`, saysSome),
}
