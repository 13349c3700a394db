package agent

import (
	"strconv"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/pattern"
)

const (
	tallyPart = 64 << 10 // of the beginning, and of the end of an output
	tallyLine = 4 << 10  // of one line
)

// TallyOf reads what the output of a command tells of tests, nil when it tells
// nothing. It knows how runners of tests sum up. Of a long output it reads the
// beginning and the end: there they do it. That no test ran is told only where
// nothing between them looks like the word of a runner.
func TallyOf(output string) *belay.Tally {
	var t tally
	if len(output) <= 2*tallyPart {
		t.read(output)
		return t.sum()
	}
	from := strings.LastIndexByte(output[:tallyPart], '\n') + 1
	to := len(output)
	if i := strings.IndexByte(output[to-tallyPart:], '\n'); i >= 0 {
		to += i - tallyPart
	}
	t.read(output[:from])
	t.read(output[to:])
	t.cut = true
	sum := t.sum()
	if sum != nil && sum.None && speaks(output[from:to]) {
		return nil // others may have run some
	}
	return sum
}

// tally is what the lines so far tell.
type tally struct {
	told         bool // something about tests was said
	some         bool // some ran, without a number
	bad          bool
	passed       int // as runners sum it up
	failed       int
	cut          bool // a part of the output was left out
	goRuns       bool // go lists its tests
	goPackages   int  // that are told to be fine
	goPassed     int  // counted line by line
	tapPlan      bool
	tapTold      bool // a summary follows it
	tapPassed    int
	tapFailed    int
	scriptFollow bool // the next line is the script that npm or yarn runs
}

// read takes in lines; a carriage return ends one too. Most outputs have the
// words of few runners, or of none: only those are looked for in each line.
func (t *tally) read(text string) {
	text = plain(text)
	rules := spoken(text)
	for len(text) > 0 {
		line := text
		if i := strings.IndexAny(text, "\r\n"); i >= 0 {
			line, text = text[:i], text[i+1:]
		} else {
			text = ""
		}
		if line = strings.TrimRight(cut(line, tallyLine), " \t"); line != "" {
			t.line(line, rules)
		}
	}
}

func (t *tally) line(line string, rules []summary) {
	line = strings.TrimPrefix(line, "Output: ") // as some agents hand it on
	if t.script(line) || t.golang(line) || t.tap(line) {
		return
	}
	for _, s := range rules {
		if !strings.Contains(line, s.word) {
			continue
		}
		if m := s.line().FindStringSubmatch(line); m != nil {
			t.take(s, m)
			return
		}
	}
}

// take adds what one line of a runner says.
func (t *tally) take(s summary, m []string) {
	t.told = true
	t.some = t.some || s.says == saysSome
	t.bad = t.bad || s.says == saysBad
	var all, passed, failed, skipped int
	for i, name := range s.line().SubexpNames() {
		n, err := strconv.Atoi(m[i])
		switch {
		case name == "list":
			p, f, k := t.list(m[i])
			passed, failed, skipped = passed+p, failed+f, skipped+k
		case err != nil: // not in this line
		case name == "all":
			all += n
		case name == "pass":
			passed += n
		case name == "fail" || name == "errors":
			failed += n
		case name == "skip":
			skipped += n
		}
	}
	if all > 0 && passed == 0 {
		passed = max(0, all-failed-skipped)
	}
	if s.less {
		passed = -failed - skipped
	}
	t.passed, t.failed = t.passed+passed, t.failed+failed
	t.tapTold = t.tapTold || s.tap
}

var counted = pattern.Lazy(`(\d{1,9}) ([a-z]+)`)

// list reads "2 passed, 1 failed" and its like.
func (t *tally) list(text string) (passed, failed, skipped int) {
	for _, m := range counted().FindAllStringSubmatch(text, -1) {
		n, _ := strconv.Atoi(m[1]) // digits, few enough
		switch m[2] {
		case "passed", "passing", "pass", "xpassed", "flaky", "succeeded":
			passed += n
		case "failed", "failing", "fail", "failure", "failures", "error", "errors", "fails":
			failed += n
		case "skipped", "skip", "skips", "pending", "pendings", "excluded", "ignored", "omissions", "todo",
			"xfailed": // a test that may fail shows nothing
			skipped += n
		}
	}
	return passed, failed, skipped
}

// sum is the whole; no test ran when runners spoke and told of none.
func (t *tally) sum() *belay.Tally {
	passed, failed := max(0, t.passed), t.failed
	if !t.cut { // else they were not all counted
		passed += t.goPassed
	}
	if t.tapPlan && !t.tapTold {
		t.told = true
		t.some, t.bad = t.some || t.tapPassed > 0, t.bad || t.tapFailed > 0
		if !t.cut {
			passed, failed = passed+t.tapPassed, failed+t.tapFailed
		}
	}
	t.some = t.some || t.goPassed > 0 || t.goPackages > 0 && !t.goRuns
	if !t.told && t.goPackages == 0 {
		return nil
	}
	bad := t.bad || failed > 0
	return &belay.Tally{Passed: passed, Failed: failed, Bad: bad, None: !bad && passed == 0 && !t.some}
}

var (
	goPackage = pattern.Lazy(`^(ok|\?|FAIL) *\t\S+(?:\t| \[)(.*)$`)
	goTest    = pattern.Lazy(`^--- (PASS|FAIL|SKIP): `)
	goRecord  = pattern.Lazy(`^\{.*"Action":"(\w+)","Package":"[^"]*"(?:,"Test":"([^"]*)")?`)
)

// golang reads a line of go test.
func (t *tally) golang(line string) bool {
	if !strings.Contains("-o?F={", line[:1]) { // no line of it begins otherwise
		return false
	}
	if m := goTest().FindStringSubmatch(line); m != nil {
		t.goLine(m[1])
		return true
	}
	if m := goPackage().FindStringSubmatch(line); m != nil {
		t.told = true
		switch {
		case m[1] == "FAIL":
			t.bad = true
		case m[1] == "ok" && !strings.Contains(m[2], "[no tests to run]"):
			t.goPackages++
		}
		return true
	}
	switch {
	case strings.HasPrefix(line, "=== RUN "):
		t.goRuns = true
	case line == "FAIL":
		t.told, t.bad = true, true
	case strings.HasPrefix(line, "{"):
		return t.goRecord(line)
	default:
		return false
	}
	return true
}

// goLine counts one test. Those inside of another are parts of it.
func (t *tally) goLine(how string) {
	t.told, t.goRuns = true, true
	switch how {
	case "PASS":
		t.goPassed++
	case "FAIL":
		t.failed++
	}
}

// goRecord reads a line of go test -json.
func (t *tally) goRecord(line string) bool {
	m := goRecord().FindStringSubmatch(line)
	if m == nil {
		return false
	}
	switch part := strings.Contains(m[2], "/"); {
	case m[1] == "fail" && m[2] == "":
		t.told, t.bad = true, true
	case m[1] == "pass" && m[2] == "", m[1] == "skip" && m[2] == "":
		t.told, t.goRuns = true, true
	case m[1] == "pass" && !part:
		t.goLine("PASS")
	case m[1] == "fail" && !part:
		t.goLine("FAIL")
	}
	return true
}

var (
	tapPlan = pattern.Lazy(`^1\.\.\d+( #.*)?$`)
	tapTest = pattern.Lazy(`^(not )?ok \d+\b(.*)$`)
	tapMark = pattern.Lazy(`(?i)# *(?:skip|todo)`)
)

// tap reads a line of the Test Anything Protocol.
func (t *tally) tap(line string) bool {
	if !strings.Contains("1on", line[:1]) {
		return false
	}
	if tapPlan().MatchString(line) {
		t.tapPlan = true
		return true
	}
	m := tapTest().FindStringSubmatch(line)
	switch {
	case m == nil:
		return false
	case tapMark().MatchString(m[2]):
	case m[1] == "":
		t.tapPassed++
	default:
		t.tapFailed++
	}
	return true
}

var (
	scriptHead = pattern.Lazy(`^(?:> (?:\S+@\S+ )?\S*test\S*(?: /.*)?|yarn run v.*)$`)
	scriptLine = pattern.Lazy(`^[>$] (.*)$`)
	scriptIdle = pattern.Lazy(`^(?:echo\b.*|true|:|exit(?: 0)?)$`)
)

// script reads which script npm or yarn runs: one that only prints is no test.
func (t *tally) script(line string) bool {
	follows := t.scriptFollow
	if t.scriptFollow = false; !strings.Contains(">$y", line[:1]) {
		return false
	}
	t.scriptFollow = scriptHead().MatchString(line)
	m := scriptLine().FindStringSubmatch(line)
	if !follows || m == nil {
		return t.scriptFollow
	}
	for part := range strings.SplitSeq(strings.ReplaceAll(m[1], ";", "&&"), "&&") {
		if !scriptIdle().MatchString(strings.TrimSpace(part)) {
			return true
		}
	}
	t.told = true
	return true
}
