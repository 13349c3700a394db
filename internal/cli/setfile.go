package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/recipe"
)

// setOptions are the flags that give a recipe its variables.
type setOptions struct {
	sets  []string // NAME=VALUE
	files []string
	envs  []string // NAME, or NAME=VARIABLE of the environment
}

// variables are the values of all these flags: what --set says is over --var-env,
// and that over the files, of which the last one counts.
func (a *app) variables(cmd *cobra.Command, o setOptions) (map[string]json.RawMessage, error) {
	vars := map[string]json.RawMessage{}
	for _, name := range o.files {
		if name == "" {
			return nil, usage(cmd, errors.New("--set-file needs the name of a file"))
		}
		list, err := a.valuesIn(name)
		if err != nil {
			return nil, exit.New(exit.Invalid, "--set-file", err, "nothing was started")
		}
		maps.Copy(vars, list)
	}
	for _, text := range o.envs {
		name, from, given := strings.Cut(text, "=")
		if !given {
			from = name
		}
		value, err := a.fromEnv(name, from)
		var missing *noVariable
		switch {
		case errors.As(err, &missing):
			return nil, exit.New(exit.Usage, "--var-env "+text, err,
				fmt.Sprintf("set it before: export %s=VALUE; or give the value itself: --set %s=VALUE", from, name))
		case err != nil:
			return nil, usage(cmd, fmt.Errorf("--var-env %q: %w", text, err))
		}
		vars[name] = value
	}
	list, err := parseSets(o.sets)
	if err != nil {
		return nil, usage(cmd, err)
	}
	maps.Copy(vars, list)
	return vars, nil
}

// noVariable says that the environment lacks a variable.
type noVariable struct{ name string }

func (e *noVariable) Error() string { return "the environment has no " + e.name }

// fromEnv is the value that a variable of the environment has, as text.
func (a *app) fromEnv(name, from string) (json.RawMessage, error) {
	if err := variableName(name); err != nil {
		return nil, err
	}
	if from == "" {
		return nil, errors.New("the name of a variable of the environment is wanted behind the =")
	}
	if !slices.ContainsFunc(a.environ, func(kv string) bool { return strings.HasPrefix(kv, from+"=") }) {
		return nil, &noVariable{from}
	}
	value := a.env(from)
	if !utf8.ValidString(value) {
		return nil, errors.New("the value is not valid UTF-8")
	}
	return json.Marshal(value)
}

// valuesIn are the variables of a file: YAML, JSON, or lines of NAME=VALUE.
func (a *app) valuesIn(name string) (map[string]json.RawMessage, error) {
	text, err := os.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: there is no such file", name)
	case errors.Is(err, syscall.EISDIR):
		return nil, fmt.Errorf("%s is a directory, and a file is wanted", name)
	case err != nil:
		return nil, err
	}
	switch ext := strings.ToLower(filepath.Ext(name)); {
	case ext == ".json":
		return a.jsonValues(name, text)
	case ext == ".yaml" || ext == ".yml":
		return a.yamlValues(name, text)
	case ext == ".env" || strings.HasPrefix(filepath.Base(name), ".env"):
		return dotenvValues(name, text)
	}
	return nil, fmt.Errorf("%s: a file of values ends in .yaml, .yml, .json or .env", name)
}

func (a *app) jsonValues(file string, text []byte) (map[string]json.RawMessage, error) {
	vars := map[string]json.RawMessage{}
	err := json.Unmarshal(text, &vars)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case !utf8.Valid(text):
		return nil, fmt.Errorf("%s is not valid UTF-8", file)
	case len(bytes.TrimSpace(text)) == 0:
		return nil, fmt.Errorf("%s is empty: an object of names and values is wanted", file)
	case errors.As(err, &syntax):
		return nil, fmt.Errorf("%s:%d: not valid JSON: %w", file, 1+bytes.Count(text[:syntax.Offset], []byte("\n")), err)
	case errors.As(err, &kind):
		return nil, fmt.Errorf("%s: an object of names and values is wanted, not JSON of type %s", file, kind.Value)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", file, err)
	case vars == nil:
		return nil, fmt.Errorf("%s: an object of names and values is wanted, not null", file)
	}
	if key, first, at, twice := keyTwice(text); twice {
		line, _ := placeIn(text, first)
		p := recipe.Problem{File: file, Msg: fmt.Sprintf("the key %q is given twice, first in line %d", key, line)}
		p.Line, p.Col = placeIn(text, at)
		fmt.Fprintln(a.std.Err, p.FormatIn(text, a.errWidth()))
		return nil, fmt.Errorf("%s cannot be read", file)
	}
	for name, v := range vars {
		if err := variableName(name); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		var b bytes.Buffer
		if err := json.Compact(&b, v); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", file, name, err)
		}
		vars[name] = b.Bytes()
	}
	return vars, nil
}

func (a *app) yamlValues(file string, text []byte) (map[string]json.RawMessage, error) {
	list, problems := recipe.Values(file, text)
	bad := false
	for _, p := range problems {
		if bad = bad || !p.Warning; !p.Warning || !a.quiet {
			fmt.Fprintln(a.std.Err, p.FormatIn(text, a.errWidth()))
		}
	}
	if bad {
		return nil, fmt.Errorf("%s cannot be read", file)
	}
	vars := make(map[string]json.RawMessage, len(list))
	for _, v := range list {
		vars[v.Name] = v.JSON
	}
	return vars, nil
}

// dotenvValues reads lines of NAME=VALUE. A value is text: as it is written, without
// the blanks around it, or what stands in quotes; in double quotes \n is a new line,
// and \" and \\ are what follows the backslash.
func dotenvValues(file string, text []byte) (map[string]json.RawMessage, error) {
	vars := map[string]json.RawMessage{}
	n := 0
	for line := range strings.Lines(string(bytes.TrimPrefix(text, []byte("\ufeff")))) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(strings.TrimPrefix(line, "export "), "=")
		name = strings.TrimSpace(name)
		err := variableName(name)
		if !ok {
			err = errors.New("the line has no =: NAME=VALUE is wanted")
		}
		if err == nil {
			value, err = dotenvValue(strings.TrimSpace(value))
		}
		if err == nil {
			vars[name], err = json.Marshal(value)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, n, err)
		}
	}
	return vars, nil
}

// dotenvValue is the text that a value stands for.
func dotenvValue(v string) (string, error) {
	switch {
	case !utf8.ValidString(v):
		return "", errors.New("the value is not valid UTF-8")
	case v == "" || v[0] != '"' && v[0] != '\'':
		v, _, _ = strings.Cut(v, " #")
		return strings.TrimSpace(v), nil
	}
	quote := v[0]
	var b strings.Builder
	for i := 1; i < len(v); i++ {
		switch {
		case v[i] == quote:
			if rest := strings.TrimSpace(v[i+1:]); rest != "" && rest[0] != '#' {
				return "", fmt.Errorf("%q stands after the closing quote", rest)
			}
			return b.String(), nil
		case v[i] == '\\' && quote == '"' && i+1 < len(v) && strings.IndexByte(`n"\$`, v[i+1]) >= 0:
			if i++; v[i] == 'n' {
				b.WriteByte('\n')
				continue
			}
		}
		b.WriteByte(v[i])
	}
	return "", errors.New("a quote is not closed: a value ends on its line, and \\n in double quotes is a new line")
}
