package agent

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/pattern"
)

// hiddenValue stands where a value was that nobody is shown.
const hiddenValue = "[REDACTED]"

// secretName tells names whose values nobody is shown.
func secretName(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"token", "secret", "password", "key"}, func(w string) bool { return strings.Contains(name, w) })
}

// named finds a member of a JSON object in any text, whole or cut off, whose
// name may be a secret's; the quotes may be escaped.
var named = pattern.Lazy(`(?i)(\\*"[^"\\]*(?:token|secret|password|key)[^"\\]*\\*"\s*:\s*)(?:"(?:\\.|[^"\\])*(?:"|$)|\\+"[^"]*(?:"|$)|[^\s"\\,}\]\[{]+)`)

// maxNested is how deep JSON in JSON texts is looked at.
const maxNested = 20

// hideNamed hides the values in a text that have the name of a secret, at any
// depth of a JSON value. Where the text is no JSON value as a whole, members of
// objects in it are found by their look. A text without any is left as it is.
func hideNamed(text string) string { return hideText(text, 0) }

func hideText(text string, depth int) string {
	trimmed := strings.TrimSpace(text)
	if depth < maxNested && (strings.HasPrefix(trimmed, "{") || strings.HasPrefix(trimmed, "[")) {
		d := json.NewDecoder(strings.NewReader(trimmed))
		d.UseNumber()
		var v any
		if d.Decode(&v) == nil && !d.More() {
			v, hid := hideValue(v, depth+1)
			if !hid {
				return text
			}
			var b bytes.Buffer
			e := json.NewEncoder(&b)
			e.SetEscapeHTML(false)
			if e.Encode(v) == nil {
				return strings.TrimSuffix(b.String(), "\n")
			}
		}
	}
	return named().ReplaceAllString(text, "${1}"+hiddenValue)
}

// hideValue hides in a JSON value, and tells whether there was anything.
func hideValue(v any, depth int) (out any, hid bool) {
	if depth >= maxNested {
		return hiddenValue, true // nobody looks so deep
	}
	switch v := v.(type) {
	case map[string]any:
		for name, x := range v {
			if secretName(name) {
				v[name], hid = hiddenValue, true
				continue
			}
			y, found := hideValue(x, depth+1)
			v[name], hid = y, hid || found
		}
		return v, hid
	case []any:
		for i, x := range v {
			y, found := hideValue(x, depth+1)
			v[i], hid = y, hid || found
		}
		return v, hid
	case string:
		text := hideText(v, depth+1)
		return text, text != v
	default:
		return v, false
	}
}
