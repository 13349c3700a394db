package expr

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// kindOf names the type of a value for an error; "" for a type that no
// variable may have.
func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case float64, json.Number:
		return "a number"
	case string:
		return "a text"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return ""
}

func truth(v any) bool {
	switch v := v.(type) {
	case bool:
		return v
	case float64, json.Number:
		d, _ := number(v)
		return d.sign() != 0
	case string:
		return v != ""
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	}
	return false
}

// TextOf is the text of a value as {{name}} and str() give it: nothing for
// null, JSON with sorted keys for lists and objects.
func TextOf(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case bool:
		return strconv.FormatBool(v)
	case string:
		return v
	}
	return jsonOf(v)
}

// jsonOf is a value as compact JSON with sorted keys.
func jsonOf(v any) string {
	if f, ok := v.(float64); ok && f == 0 { // no -0
		return "0"
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // the text goes to people and programs, not into a page
	if err := enc.Encode(v); err != nil {
		return "" // NaN and infinities are not JSON, and no variable holds them
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// boolean reads a text that is a boolean.
func boolean(s string) (value, ok bool) {
	switch s {
	case "true", "True":
		return true, true
	case "false", "False":
		return false, true
	}
	return false, false
}

func length(v any) (int, bool) {
	switch v := v.(type) {
	case string:
		return utf8.RuneCountInString(v), true
	case []any:
		return len(v), true
	case map[string]any:
		return len(v), true
	}
	return 0, false
}
