package verdict

import (
	"strings"

	"github.com/belay-run/belay/internal/pattern"
)

// The plain words of somebody who could not do it. They are looked at clause by
// clause, since "I could not use make, so I used ninja" is no failure; what is
// quoted, supposed or given as a reason is nobody's own word. They know English
// alone: in another language only the checks of the step speak.
var (
	// unreached: the whole of it is not done.
	unreached = pattern.Lazy(`(?i)(` +
		cannot + `( \w+){0,2} be( \w+)? ` + whole + `\b` +
		`|\b(is|are|was|were|has|have|remains?|am)(n't| not| still not)( yet| been| fully| really){0,2} (` + wholeWords + `|recoverable|possible)\b` +
		`|\b(ir|un)recoverabl[ey]\b|\bunfinished\b|\bimpossible to ` + verbs + `\b|\bbeyond (repair|recovery)\b|\bno (way|means|possibility) (\w+ ){0,2}(to|of|for)\b` +
		`|\b(recovery|repair|attempt|rescue)s?( \w+){0,3} (failed|(is|was) (impossible|unsuccessful|not possible))\b|\b(failed|unsuccessful) (recovery|attempt)` +
		`|\b(I|we)( \w+)? (give|gave|giving|given|have given|had to give) up\b|\b(I|we)( \w+)? (stop|stopped|had to stop|have to stop) here\b` +
		`|\bnothing( \w+){0,3} (can|could)( \w+)? (do|be done)\b|` + cannot + `( \w+){0,2} do (anything|it|this|that|what)\b` +
		`|` + own + `( \w+){0,2} ` + verbs + ` (it|this|that|them|the (work|task|job|rest|recipe|sub-?recipe|step|steps|request|goal|recovery)|what)\b` +
		`|\b(I|we) did(n't| not) (` + doings + `|succeed|manage)\b)`)

	// unable: something did not work out; whether that is all of it the rest tells.
	unable = pattern.Lazy(`(?i)(` + own + `( \w+){0,2} ` + verbs + `|\b(sorry|apologi[sz]e|unfortunately)\b.*` + cannot + `)\b`)

	// reached: something was done, by somebody who says so.
	reached = pattern.Lazy(`(?i)(\b(I|we)('ve| have)?( now| also| then| just| still| finally| instead| successfully| therefore| simply){0,2} ` +
		`(was able to|were able to|managed to|succeeded|did|finished|restarted|reran|rebuilt|used|restored|recovered|repaired|solved|generated|produced|downloaded|copied|worked around|ran|` +
		`fixed|implemented|refactored|edited|modified|rewrote|written|wrote|patched|committed|pushed|added|created|updated|removed|deleted|renamed|replaced|changed|made|resolved|corrected|completed|applied|done|built|installed|retried|switched)\b` +
		`|\b(is|are|was|were|has been|have been|be)( now| all| fully| successfully| already){0,2} ` + whole + `\b` +
		`|^\W*(successfully |then |now |all ){0,2}(done|finished|completed|recovered|fixed|repaired|resolved|solved|restored|rebuilt|added|created|updated|wrote|replaced)\b` +
		`|\b(works?|pass(es)?|succeeds?|green|passed|succeeded)( again| now|\W*$)|\bnow (works?|pass(es)?|succeeds?)\b)`)

	// denied takes back what a clause seems to say.
	denied = pattern.Lazy(`(?i)(\b(not|nothing|none|neither|nobody|never|cannot|unable|partly|partially|half|hardly)\b|n't\b|\bno \w+ (is|are|was|were)\b)`)

	// supposed begins a clause that tells of no fact, or of a reason.
	supposed = pattern.Lazy(`(?i)^\W*(if|once|when|whenever|unless|because|since|as|would|should|in case|whether|until|due to)\b`)

	// joint is where a clause ends; the word that begins the next stays with it.
	joint = pattern.Lazy(`(?i)[.!?]+(\s+|$)|[\n,;:]+|\s+[\x{2013}\x{2014}-]+\s+|\s+(but|so|and|yet|then|however|although|though)\s+`)
	turn  = pattern.Lazy(`(?i)\s(because|since|until|unless|if|once|when|due to|whether)\s`)

	quoted = pattern.Lazy("(?s)```.*?(```|$)|`[^`\n]*`|\"[^\"\n]*\"|\u201c[^\u201d\n]*\u201d")
)

const (
	cannot     = `\b(can't|cannot|can not|could( not|n't))`
	own        = `\b(((I|we)( \w+)? (can't|cannot|can not|could( not|n't)))|(I|we)( am| was| were| are|'m|'re)( \w+)? (unable|not able) to|unable to|not able to|(was|were)n't able to|(I|we)( \w+)? failed to|no way (for me )?to)`
	wholeWords = `done|finished|completed?|recovered|fixed|repaired|resolved|solved|restored|achieved|reached|rescued|salvaged|mended`
	whole      = `(` + wholeWords + `|in place|ready)`
	doings     = `recover|finish|complete|fix|repair|resolve|solve|restore|achieve|reach|rescue|salvage|mend`
	verbs      = `(` + doings + `|do|make|proceed|continue|go on|help|produce|create|write|build|install|run|start|access|connect|get|apply|perform|carry out|determine|provide|generate|deliver)`
)

// gaveUp tells whether an answer says in plain words that the work is not done.
// What it says last counts: a failure that was overcome is told before the
// success. A failure of something smaller counts where no success is told at all.
// An answer that is a JSON value is a result, not a word about it.
func gaveUp(text string) bool {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		return false
	}
	lost, weak, good := false, false, false
	for _, c := range clauses(quoted().ReplaceAllString(plain(text), " ")) {
		switch {
		case supposed().MatchString(c):
		case unreached().MatchString(c):
			lost = true
		case unable().MatchString(c):
			weak = true
		case reached().MatchString(c) && !denied().MatchString(c):
			lost, good = false, true
		}
	}
	return lost || weak && !good
}

// clauses cuts a text where one statement ends.
func clauses(text string) []string {
	text = turn().ReplaceAllString(text, ", $1 ")
	return joint().Split(text, -1)
}
