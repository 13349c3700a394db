package cli

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzSet holds the type of a value against what is documented, told in another
// way than the code tells it, and gives each value back to --set: what is no
// text must come out as the same value again.
func FuzzSet(f *testing.F) {
	for _, s := range []string{
		"", "true", "True", "TRUE", "false", "False", "null", "42", "-7", "1.23", "1e3", "007", "+1", ".5", "1.", "0x10", "NaN",
		`{"a": 1}`, `[1, "x"]`, `"hello"`, `"a`, "a=b=c", " 42 ", "[1,]", "{}", "12345678901234567890.5", "-0", "1e999", "[1e999]", "\u2028", "a\nb",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		vars, err := parseSets([]string{"v=" + text})
		if !utf8.ValidString(text) {
			if err == nil {
				t.Fatalf("%q is no UTF-8 and became %s", text, vars["v"])
			}
			return
		}
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		got := string(vars["v"])
		if want := kindOfSet(text); kindOfJSON(got) != want {
			t.Fatalf("%q became %s, which is no %s", text, got, want)
		}
		if kindOfJSON(got) == "text" {
			return
		}
		again, err := parseSets([]string{"v=" + got})
		if err != nil || string(again["v"]) != got {
			t.Fatalf("%q became %s and then %s (%v)", text, got, again["v"], err)
		}
	})
}

// kindOfSet is the type that the manual promises for a text.
func kindOfSet(text string) string {
	if text == "True" || text == "False" {
		return "boolean"
	}
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return "text" // no JSON, or a number in it that no computer holds
	}
	return kindOfJSON(strings.Trim(text, " \t\r\n"))
}

// kindOfJSON tells the type of valid JSON by how it begins.
func kindOfJSON(text string) string {
	switch text[0] {
	case '"':
		return "text"
	case '{':
		return "object"
	case '[':
		return "list"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}
