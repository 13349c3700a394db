package verdict

import (
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/pattern"
)

// What a text says about a change of the code, where an answer was asked for
// and the agent looked at the code. It must be said of the agent's own work and
// of this moment: who answers a question tells of changes too.
var (
	// changer: somebody says that he changed something.
	changer = pattern.Lazy(`(?i)\b(I|we)('ve| have)?( now| also| just| then| successfully| carefully| fully| gone ahead and){0,3} ` +
		`(?P<verb>fixed|implemented|refactored|edited|modified|rewrote|rewritten|patched|committed|added|created|updated|removed|deleted|renamed|replaced|changed|corrected|applied|wrote|written|resolved)\b(?P<what>[^\n]{0,60})`)

	// changing: what can be changed in a code base; self: what was asked for.
	changing = pattern.Lazy(`(?i)\b(bugs?|code|codebase|functions?|methods?|class(es)?|modules?|files?|features?|handlers?|endpoints?|fix(es)?|tests?|scripts?|configuration|implementation|typos?|imports?|error handling)\b`)
	self     = pattern.Lazy(`(?i)^ (it|this|that|them|everything|all of (it|them)|(the|this|that|these|all( the)?) (issues?|problems?|tasks?|errors?|failures?))\b`)

	// papers: what an answer is made of is no change of the code.
	papers = pattern.Lazy(`(?i)^( \w+){0,3} (summar(y|ies)|lists?|reports?|plans?|overviews?|tables?|drafts?|proposals?|outlines?|analys[ie]s|reviews?|descriptions?|explanations?|diagrams?|notes?|suggestions?|checklists?|designs?|answers?|comparisons?|findings?|recommendations?|assessments?|timelines?)\b`)

	// unreal: it did not happen.
	unreal = pattern.Lazy(`(?i)\b(if|when|unless|until|before|after|once|should|whether|where|as though) (\w+ )?$`)

	// now: that something is changed, since a moment ago.
	now = pattern.Lazy(`(?i)\b(bugs?|issues?|problems?|code|functions?|features?|fix|implementation|it|file|tests?)\b[^\n]{0,60}\b(has been|have been|is now|are now) (now |fully |all |successfully )*(fixed|implemented|resolved|corrected|applied|added|updated|refactored|renamed|removed|replaced|rewritten|patched|in place)\b`)

	// past: that it was changed at another time.
	past = pattern.Lazy(`(?i)\b(in|by|since|with|from|as of) (commit|version|release|revision|PR|pull request|change|v?\d|#\d|[0-9a-f]{7,40}\b)|\b(upstream|already|previously|earlier|last (week|month|year|release))\b`)

	// begins: a text that begins with what was done. It may be a line for a
	// changelog, unless it speaks of the task, or of tests that pass.
	begins = pattern.Lazy(`(?i)^\W{0,3}(successfully )?(fixed|implemented|refactored|rewrote|patched|added|created|updated|removed|deleted|renamed|replaced|changed|corrected)\b(?P<what>[^\n]{0,60})`)
	asked  = pattern.Lazy(`(?is)^[\s:]*(the|this|that|it)\b.*[.!]\W*$|\b(tests?|suite|build)( \w+){0,2} (pass(es|ed)?|is green|are green)\b`)

	// stressed: the same with the verb in bold, which is how somebody reports.
	stressed = pattern.Lazy(`(?i)^\W{0,3}(\*\*|__)(fixed|implemented|refactored|rewrote|patched|added|created|updated|removed|deleted|renamed|replaced|changed|corrected)(\*\*|__) (the|this|that|it)\b`)

	// listed: words after which somebody lists what he did, and a first point that
	// is a change.
	listed = pattern.Lazy(`(?i)\b(here('s| is) what (I|we)('ve| have)? (did|done|changed|fixed|implemented|updated)|what (I|we) (did|changed)|(I|we)('ve| have)? made the following changes|(the )?following changes (were|have been) made|changes (I|we)('ve| have)? made)\b[^\n]{0,40}:\W*` +
		`[\s*•\d.)-]*(fixed|implemented|refactored|rewrote|patched|modified|edited|added|created|updated|removed|deleted|renamed|replaced|changed|corrected)\b`)

	// opened: somebody says that he made a pull request. To have opened one can
	// also be to have looked at it.
	opened = pattern.Lazy(`(?i)\b(I|we)('ve| have)?( now| also| just| then| successfully| gone ahead and){0,3} ` +
		`((created|submitted|raised|filed|sent|pushed)( a| an| the)?( new| draft)? (PR|pull request|merge request)\b` +
		`|opened( a| an| the)?( new| draft)? (PR|pull request|merge request)( #?\d+)?( (with|for|that|which|against|containing|from)\b|[.!:]|\s*$))`)

	item = pattern.Lazy(`(?im)^[\s*•\d.)-]*(fixed|implemented|refactored|rewrote|patched|added|created|updated|removed|deleted|renamed|replaced|changed|corrected|improved|deprecated)\b`)
)

// claimsChange tells whether an answer says that its agent changed the code. A
// text that shows code may be the change itself, and a value is no claim.
func claimsChange(text string) bool {
	raw := strings.TrimSpace(text)
	text = strings.TrimSpace(plain(text))
	if strings.Contains(text, "```") || strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		return false
	}
	what := changer().SubexpIndex("what")
	for _, m := range changer().FindAllStringSubmatchIndex(text, -1) {
		if changesCode(text[m[2*what]:m[2*what+1]]) && !unreal().MatchString(text[max(0, m[0]-20):m[0]]) {
			return true
		}
	}
	if m := begins().FindStringSubmatchIndex(text); m != nil && len(item().FindAllString(text, 2)) < 2 {
		at := 2 * begins().SubexpIndex("what")
		if changesCode(text[m[at]:m[at+1]]) && (asked().MatchString(text[m[at]:]) || stressed().MatchString(raw)) {
			return true
		}
	}
	if reports(text) {
		return true
	}
	return slices.ContainsFunc(sentences(text), func(s string) bool {
		return now().MatchString(s) && !past().MatchString(s) && !hasCommit(s) && !strings.HasSuffix(s, "?")
	})
}

// reports tells whether a text lists what its agent changed, or says that it made
// a pull request.
func reports(text string) bool {
	for _, m := range opened().FindAllStringIndex(text, -1) {
		if !unreal().MatchString(text[max(0, m[0]-20):m[0]]) {
			return true
		}
	}
	return listed().MatchString(text)
}

// changesCode tells whether what somebody says to have changed is code.
func changesCode(what string) bool {
	if nothing().MatchString(what) || papers().MatchString(what) || past().MatchString(what) {
		return false
	}
	return changing().MatchString(what) || self().MatchString(what) || place().MatchString(what) || code().MatchString(what)
}
