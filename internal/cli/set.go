package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/belay-run/belay/recipe"
)

var variableForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// parseSets reads the values of --set; of the same name the last one counts.
func parseSets(sets []string) (map[string]json.RawMessage, error) {
	vars := map[string]json.RawMessage{}
	for _, s := range sets {
		name, text, ok := strings.Cut(s, "=")
		switch {
		case !ok:
			return nil, fmt.Errorf("--set %q: there is no =", s)
		case !variableForm.MatchString(name):
			return nil, fmt.Errorf("--set %q: %q cannot name a variable: it is a letter or _, then letters, digits, _ and -", s, name)
		case recipe.Denied(name):
			return nil, fmt.Errorf("--set %q: a variable named %q would overwrite one that the system or belay itself relies on", s, name)
		}
		v, err := typedValue(text)
		if err != nil {
			return nil, fmt.Errorf("--set %q: %w", name, err)
		}
		vars[name] = v
	}
	return vars, nil
}

// typedValue is the value that a text stands for: JSON when it is any but a
// string, True and False, else the text as it is.
func typedValue(text string) (json.RawMessage, error) {
	switch text {
	case "True":
		return json.RawMessage("true"), nil
	case "False":
		return json.RawMessage("false"), nil
	}
	if !utf8.ValidString(text) {
		return nil, errors.New("the value is not valid UTF-8")
	}
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return json.Marshal(text) // not JSON, or a number that no computer holds
	}
	if _, isText := v.(string); isText {
		return json.Marshal(text) // its quotes are part of it
	}
	var b bytes.Buffer // not v again: a long number would lose digits
	if err := json.Compact(&b, []byte(text)); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
