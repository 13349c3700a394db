package recipe

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// cured gives a table what to say of words that are keys elsewhere, and that no
// other spelling cures.
func (t *table[T]) cured(cures map[string]string) *table[T] {
	t.cures = cures
	return t
}

const linesCure = "foreach: NAME | lines goes through the lines of a text"

// topCures are said of keys at the top of a recipe.
var topCures = map[string]string{
	"env":               "write it under a step, or under defaults: for all steps",
	"on_error":          "write hooks: {on_error: COMMAND} for each step that fails, or finally: for steps at the end",
	"on_failure":        "write hooks: {on_error: COMMAND} for each step that fails, or finally: for steps at the end",
	"working_directory": "write working_dir: under a step, or under defaults: for all steps",
	"working_dir":       "write it under a step, or under defaults: for all steps",
	"cwd":               "write working_dir: under a step, or under defaults: for all steps",
	"split":             linesCure,
}

// stepCures are said of keys of a step.
var stepCures = map[string]string{"split": linesCure}

// inQuotes is the cure of a text that YAML reads as a list or a mapping.
func (p *parser) inQuotes(k, v *yaml.Node) string {
	if !slices.Contains(scriptKeys, k.Value) && !slices.Contains(conditionKeys, k.Value) && k.Value != "prompt" {
		return ""
	}
	if i := p.src.offset(posOf(v)); v.Kind == yaml.SequenceNode && i+1 < len(p.src.text) && p.src.text[i] == '[' && p.src.text[i+1] != ' ' {
		return "write it as one text, without a list" // the words of a command
	}
	if v.Style&yaml.FlowStyle != 0 {
		return quoteHint(k, p.src, v)
	}
	if v.Kind == yaml.MappingNode {
		return "write | behind " + k.Value + ":, and the text below it"
	}
	return ""
}

// asSteps is the cure of what should be a list of steps.
func asSteps(k, v *yaml.Node) string {
	switch {
	case v.Kind == yaml.MappingNode:
		return "begin each step with a dash: - id: NAME, and its other keys below"
	case v.Kind == yaml.ScalarNode && !isNull(v) && !strings.ContainsAny(v.Value, "\n'") && len(v.Value) <= 60:
		return "write a step: " + k.Value + ": [{id: NAME, command: '" + v.Value + "'}]"
	}
	return ""
}

// switched is the cure of a true or false where on or off is wanted.
func switched(v string, words []string) string {
	if !slices.Contains(words, "off") {
		return ""
	}
	switch strings.ToLower(v) {
	case "false", "no", "never":
		return "write off"
	case "true", "yes":
		if slices.Contains(words, "on") {
			return "write on"
		}
	}
	return ""
}

// wholeCure is the cure of a line that is no YAML because of how its value begins:
// the key, where the value begins, and the value in single quotes. False where the line
// is no key with a value, or the value may well be a list or a mapping.
func wholeCure(line string) (cure string, at int, ok bool) {
	text := strings.TrimLeft(line, "- ")
	key, value, ok := strings.Cut(text, ": ")
	if value = strings.TrimSpace(value); !ok || !varForm(key) || value == "" || len(value) > 60 {
		return "", 0, false
	}
	inner := value
	switch c := value[0]; c {
	case '"', '\'':
		if inner = strings.TrimSuffix(value[1:], string(c)); !strings.ContainsRune(inner, rune(c)) {
			return "", 0, false // another thing is wrong
		}
	case '[', '{':
		if !slices.Contains(scriptKeys, key) && !slices.Contains(conditionKeys, key) && key != "prompt" {
			return "", 0, false
		}
	case '@', '`', '%', '!', '*', '&':
	default:
		return "", 0, false
	}
	return "put the whole value in quotes: " + key + ": '" + strings.ReplaceAll(inner, "'", "''") + "'", strings.Index(line, value), true
}

// placedCure is the cure of a line that is indented otherwise than it should be; "" when
// that is not what is wrong.
func (s *source) placedCure(line int, msg string) string {
	before := ""
	above := line - 1
	for ; above > 0 && strings.TrimSpace(before) == ""; above-- {
		before = s.line(above)
	}
	text := s.line(line)
	switch trimmed := strings.TrimSpace(before); {
	case msg == noColon && (strings.HasSuffix(trimmed, ": |") || strings.HasSuffix(trimmed, ": >") || strings.HasSuffix(trimmed, ": |-") || strings.HasSuffix(trimmed, ": >-")):
		return "indent what stands below " + trimmed[len(trimmed)-1:] + " more than its key"
	case msg == noValues && strayColon(text) < 0 && keyColumn(text) > keyColumn(before) && strings.Contains(trimmed, ": "):
		return "indent this line as far as " + strings.TrimLeft(trimmed[:strings.Index(trimmed, ": ")], "- ") + " above it: keys that belong together stand below each other"
	}
	return ""
}

// keyColumn is where the key of a line begins, behind the dash of a list.
func keyColumn(line string) int { return len(line) - len(strings.TrimLeft(line, "- ")) }
