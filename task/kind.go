package task

import (
	"strings"

	"github.com/belay-run/belay/internal/pattern"
)

// Kind is the closed list of types of tasks.
type Kind string

const (
	QandA         Kind = "Q&A"           // a question that an answer is enough for
	Operations    Kind = "Operations"    // something is run or set up, no code is written
	Investigation Kind = "Investigation" // something is found out, with evidence
	Development   Kind = "Development"   // files of the repository are changed
)

// Recipe is the recipe that does tasks of the type.
func (k Kind) Recipe() string {
	switch k {
	case QandA:
		return "qa"
	case Operations:
		return "operations"
	case Investigation:
		return "investigation-workflow"
	case Development:
	}
	return "default-workflow"
}

// exactKind is a type by its name.
func exactKind(word string) (Kind, bool) {
	for _, k := range []Kind{QandA, Operations, Investigation, Development} {
		if strings.EqualFold(strings.TrimSpace(word), string(k)) {
			return k, true
		}
	}
	return "", false
}

// nearKind is the type that a word was likely meant for; Development asks for the
// most evidence, so it is the one where nothing is known.
func nearKind(word string) Kind {
	word = strings.ToLower(word)
	for _, row := range []struct {
		kind  Kind
		marks []string
	}{
		{QandA, []string{"q&a", "qa", "question", "answer"}},
		{Operations, []string{"ops", "operation", "admin", "command"}},
		{Investigation, []string{"invest", "research", "explor", "analys", "understand"}},
	} {
		for _, mark := range row.marks {
			if strings.Contains(word, mark) {
				return row.kind
			}
		}
	}
	return Development
}

const (
	asking      = `what|why|how|where|who|whose|whom|when|which|is|are|was|were|does|do|did|can|could|should|would|will|has|have|explain|describe|tell me|summari[sz]e|compare|list`
	changeVerbs = `(?:add|implement|fix|refactor|rewrite|write|create|build|change|update|remove|delete|rename|migrate|port|replace|introduce|extend|support|optimi[sz]e|convert|integrate|patch|repair|simplify|extract|delete|expose|deprecate|mend|make|correct|improve|harden)`
	codeNouns   = `(?:code|codebase|functions?|methods?|class(?:es)?|structs?|interfaces?|modules?|packages?|librar(?:y|ies)|apis?|endpoints?|handlers?|parsers?|middlewares?|bugs?|features?|components?|sub-?commands?|flags?|regressions?|crash(?:es)?|races?|typos?|readme|docs?|documentation|unit tests?|tests?|test suite|validation|caching|rate limit(?:s|ing|er)?|retr(?:y|ies)|logging|login|ui|cli)`
)

var (
	asksPR       = pattern.Lazy(`(?i)\b(?:open|create|make|submit|raise|send|file|prepare)\s+(?:[a-z]+\s+){0,2}(?:pull[ -]requests?|merge[ -]requests?|prs?)\b|\bas a (?:pull request|pr)\b`)
	asksTests    = pattern.Lazy(`(?i)\b(?:add|write|create|extend|fix|update|include|including|with|and|plus)\s+(?:[a-z-]+\s+){0,3}(?:tests|unit test|regression test|test cases?|test suite|test coverage)\b|\bmake\s+(?:[a-z-]+\s+){0,4}tests?\s+pass\b`)
	asksCode     = pattern.Lazy(`(?i)\b` + changeVerbs + `\s+(?:[^\s.;:!?]+\s+){0,6}?` + codeNouns + `\b`)
	asksFile     = pattern.Lazy(`(?i)\b` + changeVerbs + `\s+(?:[^\s;:!?]+\s+){0,6}?[^\s;:!?"'` + "`" + `]*[a-z0-9_-]\.(?:go|py|js|jsx|ts|tsx|rs|java|kt|c|h|cc|cpp|cs|rb|php|swift|scala|sql|sh|md|html|css|ya?ml|toml|json|proto)\b`)
	beginsChange = pattern.Lazy(`(?i)^(?:` + changeVerbs + `|bump|upgrade|downgrade|move|revert|merge|drop|switch|enable|disable|get rid of|speed up|set|use)\b`)
	numbered     = pattern.Lazy(`(?m)^\s*\d{1,2}[.)]\s+\S`)

	order      = pattern.Lazy(`(?im)(?:^|[.;:!?]\s|\b(?:then|also|please)\s|\b(and|but|so)\s)\s*(?:[-*•]\s+|\d{1,2}[.)]\s+)?(?:(?:please|then|also|just)\s+)*` + changeVerbs + `\b((?:\s+[^\s.;:!?]+){0,4})`)
	something  = pattern.Lazy(`(?i)^\s+(?:it|them|this|that|these|those|the|an?|all|any|what|whatever)\b`) // "what adds and removes files" orders nothing
	reportNoun = pattern.Lazy(`(?i)\b(?:reports?|summar(?:y|ies)|lists?|tables?|answers?|overviews?|findings?|notes?|recommendations?|proposals?|plan|diagrams?|graph|timeline|explanation|description|analysis|comparison|write-?up|up|down|sure|sense)\b`)
	seeks      = pattern.Lazy(`(?i)^(?:find|investigate|look|search|check|analy[sz]e|explore|research|understand|determine|identify|figure|trace|diagnose|debug|audit|review|report|measure|survey|evaluate|assess|profile|study|see|verify|` + asking + `)\b|[?？؟]`)
	must       = pattern.Lazy(`(?i)\b(?:must|should|shall|needs? to|has to|have to|ought to)\b`)

	polite   = pattern.Lazy(`(?i)^(?:please[,\s]+|(?:can|could|would|will) you\s+(?:please\s+)?)+`)
	alsoDoes = pattern.Lazy(`(?i)\b(?:and|then|also)\s+(?:[a-z]+\s+)?` + changeVerbs + `\b`)
	question = pattern.Lazy(`(?i)^(?:` + asking + `)\b`)
)

// manySteps is how many numbered items make a task more than an operation.
const manySteps = 3

// demandsWork says what in a task, or in what was planned for it, asks for changes
// of the repository; "" = nothing does. A question about such things does not.
func demandsWork(text string, said Kind, plan map[string]any) string {
	text = polite().ReplaceAllString(strings.TrimSpace(text), "")
	asking := question().MatchString(text)
	switch {
	case asksPR().MatchString(text) && !(asking && strings.HasSuffix(text, "?")):
		return "a pull request"
	case asking && (strings.HasSuffix(text, "?") || said == QandA && !alsoDoes().MatchString(text)):
		return ""
	case planned(plan):
		return "a pull request or the workflow for code, by its own plan"
	case asksTests().MatchString(text):
		return "tests"
	case asksCode().MatchString(text), asksFile().MatchString(text):
		return "changes of code"
	case said == QandA && !asking && !strings.ContainsAny(text, "?？؟"):
		return "something, and is no question"
	case said == Investigation && (beginsChange().MatchString(text) || orders(text)):
		return "a change"
	case said == Operations && len(numbered().FindAllString(text, manySteps)) >= manySteps:
		return "several changes"
	}
	return ""
}

// orders tells whether somewhere a sentence, or a part of one, begins with a change. To
// write a report is none.
func orders(text string) bool {
	for _, m := range order().FindAllStringSubmatch(text, -1) {
		if (m[1] == "" || something().MatchString(m[2])) && !reportNoun().MatchString(m[2]) {
			return true
		}
	}
	return !seeks().MatchString(text) && must().MatchString(text)
}

// planned tells whether the plan itself is one for changes of code.
func planned(plan map[string]any) bool {
	if strings.EqualFold(first(plan, "publish"), "pr") {
		return true
	}
	list, _ := unwrapped(plan["workstreams"]).([]any)
	for _, item := range list {
		if w, ok := item.(map[string]any); ok && first(w, "recipe") == Development.Recipe() {
			return true
		}
	}
	return false
}
