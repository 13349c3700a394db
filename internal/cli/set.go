package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/pattern"
	"github.com/belay-run/belay/recipe"
)

// setHelp tells how the text of --set becomes a value.
const setHelp = `A value of --set is JSON where it is JSON, else it is text:
  --set n=3               the number 3; 1.5, -2 and 1e3 are numbers, too
  --set ok=true           true; True and False are read as well
  --set list='[1,"two"]'  a list; '{"k":"v"}' is an object, null is nothing
  --set who=ann           the text ann
  --set id='"3"'          the text "3" with its quotes: what is in quotes stays as typed
  --set note=             the empty text`

func setFlag(cmd *cobra.Command, o *setOptions) {
	f := cmd.Flags()
	f.StringArrayVar(&o.sets, "set", nil, "a variable: NAME=VALUE, where VALUE is JSON or else text: n=3, ok=true, list=[1,2], who=ann")
	f.StringArrayVar(&o.files, "set-file", nil, "a file of variables: YAML or JSON with an object of names and values, or .env with lines of NAME=VALUE; --set takes precedence")
	f.StringArrayVar(&o.envs, "var-env", nil, "a variable with the value of one of the environment, as text: NAME, or NAME=VARIABLE")
}

var variableForm = pattern.Lazy(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// parseSets reads the values of --set; of the same name the last one counts.
func parseSets(sets []string) (map[string]json.RawMessage, error) {
	vars := map[string]json.RawMessage{}
	for _, s := range sets {
		name, text, ok := strings.Cut(s, "=")
		if !ok {
			return nil, fmt.Errorf("--set %q: there is no =", s)
		}
		if err := variableName(name); err != nil {
			return nil, fmt.Errorf("--set %q: %w", s, err)
		}
		v, err := typedValue(text)
		if err != nil {
			return nil, fmt.Errorf("--set %q: %w", name, err)
		}
		vars[name] = v
	}
	return vars, nil
}

// variableName refuses what cannot name a variable.
func variableName(name string) error {
	switch {
	case !variableForm().MatchString(name):
		return fmt.Errorf("%q cannot name a variable: it is a letter or _, then letters, digits, _ and -", name)
	case recipe.Denied(name):
		return fmt.Errorf("a variable named %q would overwrite one that the system or belay itself relies on", name)
	}
	return nil
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
	if key, _, _, twice := keyTwice([]byte(text)); twice {
		return nil, fmt.Errorf("the key %q is given twice", key)
	}
	var b bytes.Buffer // not v again: a long number would lose digits
	if err := json.Compact(&b, []byte(text)); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
