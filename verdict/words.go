package verdict

import (
	"strings"

	"github.com/belay-run/belay/internal/pattern"
)

// What a text can say about work. These rules serve the classic judgement, which
// looks at nothing but the text, and the classifier of failures. They know
// English alone.
var (
	// noAccess: it could not get at the code.
	noAccess = pattern.Lazy(`(?i)(` +
		`\b(can(no|')t|cannot|can not|could( not|n't)|unable to|not able to)( \w+){0,3} (access|reach|read|open|view|inspect|browse|examine|explore|load|retrieve)\b[^.\n]{0,60}` + things +
		`|\b(can(no|')t|cannot|can not|could( not|n't)|unable to|not able to)( \w+){0,2} (find|see|locate)( \w+){0,3} ` + things +
		`|\b(do(es)?|did)( not|n't)( \w+){0,2} have( \w+){0,3} (access|permission|visibility|ability|way)\b[^.\n]{0,60}` + things +
		`|\b(no|without|lack|lacks|lacking|lacked)( \w+){0,2} access\b[^.\n]{0,40}` + things +
		`|\bno( \w+){0,2} ` + things + ` (was|were|is|are|has been|have been) (found|provided|attached|available|accessible|visible|shared|given|mounted)` +
		`|` + things + ` (is|are|was|were|seems?( to be)?|appears?( to be)?) (not (accessible|available|readable|visible)|inaccessible|unavailable|empty|missing)\b` +
		`|` + things + ` (isn't|aren't|wasn't|weren't) (accessible|available|readable|visible|provided|there)\b` +
		`)`)

	// searched: what looks like a lack of access is the result of a search.
	searched = pattern.Lazy(`(?i)^s? (that|which|where|using|with|containing|matching|referencing|named|called|calling)\b`)

	// concrete: a change, a finding or an artifact is described.
	concrete = pattern.Lazy(`(?i)\b(added|changed|fixed|removed|renamed|replaced|implemented|created|updated|wrote|written|refactored|moved|deleted|found|caused by|root cause|the (bug|problem|issue|reason|cause|error) (is|was|lies)|returns?|fails? (when|if|with|at)|passes|crashes|conclu(de|ded|sion)|defaults? (to|is)|depends on|is defined|is called)\b`)

	// wish: a sentence that asks or offers, and tells of nothing.
	wish = pattern.Lazy(`(?i)\b(please|(could|can|would|will) you|let me know|you('d| would)? (like|want|need|wish)|if you|once you|when you|happy to|feel free|i('ll| will|'d| would| can) (then |gladly |be )?(help|assist|fix|look|do|make|add|start|take|update|implement|write|able))\b`)

	// place: a file, a line, a diff, a result of tests, a commit.
	place = pattern.Lazy(`(?m)((^|[\s('"` + "`" + `])(~|\.{1,2})?/[\w.-]+(/[\w.-]+)*` + // absolute, or from here
		`|\b[\w-]+(/[\w-]+)*/[\w-]+\.\w+\b` + // with an extension
		`|\b[\w-]+/[\w-]+/[\w-]+` +
		`|\b(src|lib|cmd|internal|pkg|tests?|spec|docs?|app|bin|scripts|include|vendor|examples)/[\w-]+` +
		`|\b[\w-]+\.(go|py|ts|tsx|js|jsx|rs|java|kt|c|h|cc|cpp|cs|rb|php|swift|md|ya?ml|json|toml|sh|sql|txt|html|css|proto|mod|lock|cfg|ini|env|xml)\b(:\d+)?` +
		`|^(\+\+\+|---|@@|diff --git) |\b\d+ (passed|failed|tests?)\b|^(--- )?(PASS|FAIL)\b|^ok\s+\S+\s+[\d(])`)

	// code: a piece of it; commit: the short name of one.
	code   = pattern.Lazy("`[^`\n]+`|```")
	commit = pattern.Lazy(`\b[0-9a-f]{7,40}\b`)

	// products are names that look like files, and addresses are no places in the code.
	products  = pattern.Lazy(`(?i)\b(node|next|nuxt|vue|react|express|three|d3|ember|backbone|chart|alpine|discord)\.js\b`)
	addresses = pattern.Lazy(`\bhttps?://\S+`)

	// disowns: it says itself that it is not done, or that there was nothing to do.
	disowns = pattern.Lazy(`(?i)\b(could( not|n't)|cannot|can't|unable to|did( not|n't)|have( not|n't)|has(n't| not)|was(n't| not) able|not (yet )?(done|finished|complete|fixed|implemented|possible|able)|fail(s|ed|ing)? to|partial(ly)?|incomplete|blocked|remains?|still (fails?|open|missing|to do)|todo|no changes? (was|were|is|are)? ?(made|needed|necessary|required)|nothing (to do|to change|to fix|needs|had to|was)|(no|not any) work (was |is )?(needed|left)|already (fixed|done|implemented|exists?|present|correct|there|works?|handle[ds]?|return(s|ed)|up to date))\b`)

	// refuses: it will not do it.
	refuses = pattern.Lazy(`(?i)^\W*((I'm|I am|so|very) ?)*((sorry|apologi[sz]e|unfortunately|I apologi[sz]e)\W+)?(but )?I('m| am)? (can't|cannot|can not|won't|will not|unable to|not able to|must decline|have to decline|decline)( to)?(\W*$| (help|assist|comply|continue|do (that|this)|fulfil|fulfill|complete|provide|support|engage|participate|create|generate|write|discuss|this|that)\b)`)
)

// things are what an agent works on.
const things = `\b(code ?base|repositor(y|ies)|repo|files?|file ?system|workspace|working (directory|tree)|director(y|ies)|source( code|s)?|project|code)\b`

// emphasis is what Markdown prints bold or slanted: the signs around it mean
// nothing. A name of Python with two lines on each side is none.
var emphasis = pattern.Lazy(`\*\*([^*\s][^*\n]*)\*\*|(^|[\s(])(?:__([A-Z][^_\n]*)__|\*([^*\s][^*\n]*)\*|_([^_\s][^_\n]*)_)($|[\s.,;:!?)])`)

// plain is a text with straight apostrophes, and without emphasis, addresses and
// names of products that look like files.
func plain(text string) string {
	text = strings.NewReplacer("\u2019", "'", "\u2018", "'", "\u02bc", "'").Replace(text)
	text = emphasis().ReplaceAllString(text, "$1$2$3$4$5$6")
	return products().ReplaceAllString(addresses().ReplaceAllString(text, ""), "")
}

var stop = pattern.Lazy(`[.!?]+(\s+|$)|\n+`)

func sentences(text string) []string { return stop().Split(text, -1) }

// emptyWords is the classic rule: it says that it has no access, and describes
// and refers to nothing.
func emptyWords(text string) bool {
	text = plain(text)
	return lacksAccess(text) && !reference(text) && !finding(text)
}

func lacksAccess(text string) bool {
	for _, at := range noAccess().FindAllStringIndex(text, -1) {
		if !searched().MatchString(text[at[1]:]) {
			return true
		}
	}
	return false
}

// reference tells whether a text refers to a place in the code. What it asks
// for is none, nor is the name of a tool or a thing that it could not get at.
func reference(text string) bool {
	if strings.Contains(text, "```") {
		return true
	}
	for _, s := range sentences(text) {
		switch {
		case wish().MatchString(s) && !concrete().MatchString(s):
		case place().MatchString(s), hasCommit(s), code().MatchString(s) && !lacksAccess(s):
			return true
		}
	}
	return false
}

// hasCommit tells whether there is a name of a commit: words of the letters a
// to f and plain numbers are none.
func hasCommit(s string) bool {
	for _, w := range commit().FindAllString(s, -1) {
		if strings.ContainsAny(w, "0123456789") && strings.ContainsAny(w, "abcdef") {
			return true
		}
	}
	return false
}

// finding tells whether a text describes something concrete. What follows "I
// could not" or "please" describes nothing.
func finding(text string) bool {
	for _, s := range sentences(text) {
		if concrete().MatchString(s) && !disowns().MatchString(s) && !lacksAccess(s) && !wish().MatchString(s) {
			return true
		}
	}
	return false
}

// declines tells whether the whole text is a refusal.
func declines(text string) bool {
	text = plain(text)
	return refuses().MatchString(text) && !reference(text) && !finding(text)
}
