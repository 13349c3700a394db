package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCriteriaOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"\ufeff- fast\n* small\n": `["fast","small"]`,
		"\ufeff [\"fast\"]":       `["fast"]`,
		`[{"text": "a", "check": "true", "files": ["a"], "id": "x"}]`:                     `[{"check":"true","files":["a"],"id":"x","text":"a"}]`,
		"[\n{\"text\": \"a\", \"check\": \"x\"},\n{\"text\": \"b\", \"check\": [\"x\"]}]": `line 3: the key "check" must be a text`,
		`[{"text": "a", "check": {"run": "x"}}]`:                                          `line 1: the key "check" must be a text`,
		`[{"text": "a", "files": [1]}]`:                                                   `line 1: the key "files" must be a list of texts`,
		"[{\"text\": \"a\",\n\"chek\": \"x\"}]":                                           `line 2: the key "chek" is not known: did you mean "check"?`,
		`[{"text": "a", "zzzzzz": 1}]`:                                                    `line 1: the key "zzzzzz" is not known`,
		`"it works"`:                                                                      `a JSON list is expected, and it is "it works"`,
		" null\n":                                                                         `a JSON list is expected, and it is null`,
		`["a", null]`:                                                                     "number 2 is neither a text nor an object with a text",
		"- text: a\n  check: x\n":                                                         "line 1: text: on a line of its own",
		"it works\ncheck: x\n":                                                            "line 2: check: on a line of its own",
	} {
		file := filepath.Join(t.TempDir(), "criteria")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := criteriaOf(file)
		if err != nil {
			got = []byte(err.Error())
		}
		if !strings.Contains(string(got), want) {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
