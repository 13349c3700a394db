package redact

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
)

const (
	// minPart is the length in bytes from which a part of a value is hidden by
	// itself: a line, a string in JSON, or a beginning that was cut off.
	minPart = 8
	// maxParts bounds how many parts of one value are looked for.
	maxParts = 512
)

// ordinary are texts that stand in the files of keys and logins and are no
// secret: to hide them would hide half of every log.
var ordinary = [...]string{
	"service_account", "authorized_user", "external_account", "googleapis.com",
	"username", "password", "localhost", "postgres", "postgresql", "production", "development",
}

// partsOf are the pieces of a value that tell a secret by themselves: the lines of
// one that has several, and the strings in one that is JSON.
func partsOf(v string) []string {
	var all []string
	add := func(part string) {
		part = strings.TrimSpace(part)
		if len(all) < maxParts && len(part) >= minPart && part != v && telling(part) && !slices.Contains(all, part) {
			all = append(all, part)
		}
	}
	lines := func(text string) {
		for line := range strings.Lines(text) {
			add(line)
		}
	}
	if v[0] == '{' || v[0] == '[' || v[0] == '"' {
		var tree any
		if json.Unmarshal([]byte(v), &tree) == nil {
			stringsOf(tree, func(s string) {
				add(s)
				lines(s)
			})
		}
	}
	lines(v)
	return all
}

// stringsOf visits all strings in a JSON value; the names of fields are none of
// them.
func stringsOf(v any, visit func(string)) {
	switch v := v.(type) {
	case string:
		visit(v)
	case []any:
		for _, e := range v {
			stringsOf(e, visit)
		}
	case map[string]any:
		for _, e := range v {
			stringsOf(e, visit)
		}
	}
}

// telling tells whether a part of a secret says anything that is secret: not the
// frame of a key, not the name of a field without its value, not punctuation.
func telling(part string) bool {
	if frame(part) || slices.Contains(ordinary[:], strings.ToLower(strings.Trim(part, `"',`))) {
		return false
	}
	words := strings.TrimRight(part, " \t{[(|>-") // a field that holds others
	if name, found := strings.CutSuffix(words, ":"); found && !strings.ContainsAny(strings.Trim(name, `"'- `), " \t:") {
		return false
	}
	return strings.ContainsFunc(words, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// frame tells whether a line is the first or the last of a PEM block.
func frame(line string) bool {
	return strings.HasPrefix(line, "-----") && strings.HasSuffix(line, "-----")
}

// cutAt tells whether a text that ends with so much of the pattern was cut off in
// a secret. A whole word that the secret happens to begin with is none.
func (p *pattern) cutAt(head int) bool {
	if head < p.cut {
		return false
	}
	word := p.kind == kindText && head < len(p.text) && !alnum(p.text[head]) &&
		!strings.ContainsFunc(p.text[:head], func(r rune) bool { return !unicode.IsLetter(r) })
	return !word
}

// open is how many of the first bytes of a value everybody may see: the frame
// with which a PEM block begins.
func open(v string) int {
	line, _, several := strings.Cut(v, "\n")
	if several && frame(strings.TrimSpace(line)) {
		return len(line) + 1
	}
	return 0
}
