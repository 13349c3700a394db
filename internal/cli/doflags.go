package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/pattern"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/internal/spelling"
	"github.com/belay-run/belay/task"
)

// oneTask takes the task as one argument: several are words without quotes.
func oneTask(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usage(cmd, fmt.Errorf("the task is one argument, and there are %d: put it in quotes", len(args)))
	}
	return nil
}

// flags says what is wrong with the flags, before anything is read.
func (o doOptions) flags(cmd *cobra.Command) error {
	kind, known := taskTypes[strings.ToLower(o.taskType)]
	given := cmd.Flags().Changed
	switch {
	case !known:
		return fmt.Errorf("--type %q: must be one of qa, operations, investigation, development", o.taskType)
	case !slices.Contains([]string{"", string(belay.ExpectChange), string(belay.ExpectTests)}, o.expect):
		return fmt.Errorf("--expect %q: must be change or tests", o.expect)
	case !slices.Contains([]string{"none", "branch", "pr"}, o.publish):
		return fmt.Errorf("--publish %q: must be one of none, branch, pr", o.publish)
	case o.rounds < 1 || o.rounds > mostRounds:
		return fmt.Errorf("--rounds %d: must be from 1 to %d", o.rounds, mostRounds)
	case o.review && o.noReview:
		return errors.New("--plan-review and --no-plan-review exclude each other")
	case given("plan-review-rounds") && (o.reviews < 1 || o.reviews > config.MostReviews):
		return fmt.Errorf("--plan-review-rounds %d: must be from 1 to %d", o.reviews, config.MostReviews)
	}
	if kind == "" || kind == development {
		return nil
	}
	if name := o.onlyDevelopment(); name != "" {
		return fmt.Errorf("--%s is for Development tasks, and --type says %s", name, kind)
	}
	return nil
}

// onlyHere are the flags of do that say where the task is, what this run is called, and how
// it is shown: another run of the same task is begun without them.
var onlyHere = []string{"dir", "id", "detach", "json", "plan"}

// givenFlags are the flags that were typed, but for some.
func givenFlags(cmd *cobra.Command, without ...string) []string {
	list := []string{}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if cmd.InheritedFlags().Lookup(f.Name) != nil || slices.Contains(without, f.Name) {
			return
		}
		value := f.Value.String()
		if f.Name == "file" && (value == "" || value == "-") {
			return
		}
		switch several, ok := f.Value.(pflag.SliceValue); {
		case ok:
			values := several.GetSlice()
			if len(values) == 0 { // --staff '' is none, and no flag is the default
				values = []string{""}
			}
			for _, v := range values {
				list = append(list, "--"+f.Name+"="+v)
			}
			return
		case f.Value.Type() == "bool":
			if value == "true" {
				list = append(list, "--"+f.Name)
			}
			return
		case f.Name == "criteria", f.Name == "file":
			if abs, err := filepath.Abs(value); err == nil { // as it is, else
				value = abs
			}
		}
		list = append(list, "--"+f.Name+"="+value)
	})
	return list
}

// onlyDevelopment is a flag that was given and is for tasks of that type; "" = none was.
func (o doOptions) onlyDevelopment() string {
	switch {
	case o.expect != "":
		return "expect"
	case o.publish != "none":
		return "publish"
	case o.track:
		return "issue"
	}
	return ""
}

// development is the type of a task that changes files.
const development = "Development"

// criteriaOf reads success criteria: a JSON list, or one on each line.
func criteriaOf(file string) (json.RawMessage, error) {
	if file == "" {
		return json.RawMessage("[]"), nil
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, exit.New(exit.Invalid, "read the criteria", err, "")
	}
	const hint = "write a JSON list, or one criterion on each line"
	refuse := func(format string, args ...any) (json.RawMessage, error) {
		return nil, exit.New(exit.Invalid, "read the criteria", fmt.Errorf("%s: %w", file, fmt.Errorf(format, args...)), hint)
	}
	b = bytes.TrimPrefix(b, []byte("\ufeff")) // some editors begin a text with it
	whole, b := b, bytes.TrimSpace(b)
	var list []any
	switch {
	case !utf8.Valid(b):
		return refuse("it is not valid UTF-8")
	case bytes.HasPrefix(b, []byte("[")):
		if err := json.Unmarshal(b, &list); err != nil {
			return refuse("%w", err)
		}
		starts := startsOf(b)
		for i, x := range list {
			if !isCriterion(x) {
				return refuse("number %d is neither a text nor an object with a text", i+1)
			}
			if key, why := oddKey(x); why != "" {
				at := bytes.Index(whole, b) + starts[i]
				at += max(0, bytes.Index(whole[at:], []byte(strconv.Quote(key))))
				return refuse("line %d: %s", 1+bytes.Count(whole[:at], []byte("\n")), why)
			}
		}
	case bytes.HasPrefix(b, []byte("{")):
		return refuse("a JSON list is expected, and it begins with {")
	case json.Valid(b):
		return refuse("a JSON list is expected, and it is %s", readable.Cut(string(b), 60))
	default:
		for line := range strings.Lines(string(b)) {
			if m := keyLine().FindStringSubmatch(line); m != nil {
				return refuse("line %d: %s: on a line of its own a criterion is a text, without keys; with a check it is an object of a JSON list", 1+bytes.Count(whole[:bytes.Index(whole, []byte(line))], []byte("\n")), m[1])
			}
			if line = strings.TrimSpace(strings.TrimLeft(line, "-* ")); line != "" {
				list = append(list, line)
			}
		}
	}
	switch {
	case len(list) == 0:
		return refuse("there are none in it")
	case len(list) > task.MostCriteria:
		return refuse("there are %d criteria, and at most %d are allowed: put some together in one check", len(list), task.MostCriteria)
	}
	return json.Marshal(list)
}

// criterionKeys are the keys of a criterion, with the names that agents give to its text.
var criterionKeys = []string{"id", "text", "check", "files", "criterion", "description", "name"}

// keyLine is a line that has the key of a criterion, as in YAML.
var keyLine = pattern.Lazy(`^\s*(?:[-*]\s+)?(id|text|check|files): `)

// oddKey is a key of a criterion that is not known, or has a value of another kind, and
// what is wrong with it.
func oddKey(x any) (key, why string) {
	o, _ := x.(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(o)) {
		_, text := o[key].(string)
		list, ok := o[key].([]any)
		switch {
		case !slices.Contains(criterionKeys, key):
			why = fmt.Sprintf("the key %q is not known", key)
			if near := spelling.Near(key, criterionKeys); near != "" {
				why += fmt.Sprintf(": did you mean %q?", near)
			}
			return key, why
		case key == "files" && ok:
			for _, f := range list {
				if _, ok = f.(string); !ok {
					return key, "the key \"files\" must be a list of texts"
				}
			}
		case !text:
			return key, fmt.Sprintf("the key %q must be a text", key)
		case key == "check" && task.BadCheck(o[key].(string)) != "":
			return key, "the check " + task.BadCheck(o[key].(string))
		}
	}
	return "", ""
}

// startsOf is where the values of a JSON list begin.
func startsOf(text []byte) []int {
	var starts []int
	d := json.NewDecoder(bytes.NewReader(text))
	_, err := d.Token()
	for err == nil && d.More() {
		starts = append(starts, int(d.InputOffset()))
		var x json.RawMessage
		err = d.Decode(&x)
	}
	return starts
}

// isCriterion tells whether a value of a list can be a criterion.
func isCriterion(x any) bool {
	o, isObject := x.(map[string]any)
	if isObject {
		x = o["text"]
		for _, key := range []string{"criterion", "description"} { // as agents call it
			if x == nil {
				x = o[key]
			}
		}
	}
	text, ok := x.(string)
	return ok && strings.TrimSpace(text) != ""
}
