package cli

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzSets holds --set to its rules: an error, or one value of valid JSON under
// a name that a script can read; text that is no JSON stays what it was.
func FuzzSets(f *testing.F) {
	for _, s := range []string{
		"a=1", "a=", "=", "a", "a=True", "a=\"x\"", "a={\"k\":[1,2]}", "a=007", "a=1e999", "a=-0", "PATH=x", "a b=1",
		"a=\x00", "a=\xff", "a= 1 ", "a=[1,", "a=nan", "ä=1", "a-b=c=d", "a=12345678901234567890123",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		vars, err := parseSets([]string{s})
		if err != nil {
			if err.Error() == "" || len(vars) != 0 {
				t.Fatalf("%q: error %q with values %v", s, err, vars)
			}
			return
		}
		name, text, _ := strings.Cut(s, "=")
		raw, ok := vars[name]
		if !ok || len(vars) != 1 || !json.Valid(raw) || !utf8.Valid(raw) {
			t.Fatalf("%q became %q", s, vars)
		}
		var v any
		if err := json.Unmarshal(raw, &v); err != nil {
			t.Fatalf("%q became %s: %v", s, raw, err)
		}
		if got, isText := v.(string); isText && got != text {
			t.Fatalf("%q is text and became %q", text, got)
		}
	})
}
