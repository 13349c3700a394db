// Package task is a library of pure functions about tasks: how one is classified
// and split, what findings and reflections amount to, which round was the best,
// what a branch or an issue is named. Steps of recipes reach them with call:. They
// look at what they are given and at nothing else: no clock, no disk, no process;
// the same inputs have the same result for ever. What has effects is another
// step's.
package task

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Function is a function that a call: step names. All that is known of one is its
// row in Functions: the reader of recipes, belay calls and the reference page are
// made from it.
type Function struct {
	Name    string  `json:"name"`
	Does    string  `json:"does"` // in one line
	Inputs  []Field `json:"inputs"`
	Outputs []Field `json:"outputs"`
	Example Example `json:"example"`

	do func(*inputs) any
}

// Field is an input or an output.
type Field struct {
	Name string `json:"name"`
	Type Type   `json:"type"`
	Must bool   `json:"required,omitempty"` // of an input: it must be there
	Doc  string `json:"doc"`
}

// Type is the closed list of types of inputs and outputs.
type Type string

const (
	TypeText   Type = "text"    // any value: what is no text is taken as the text of its JSON
	TypeFlag   Type = "boolean" // true or false, or a text that says so
	TypeNumber Type = "number"  // a whole number, or a text that is one
	TypeList   Type = "list"    // a list, or a text that is one in JSON
	TypeObject Type = "object"  // an object, or a text that is one in JSON
	TypeAny    Type = "any"     // whatever it is
)

// Example shows a call and its result.
type Example struct {
	With  json.RawMessage `json:"with"`
	Gives json.RawMessage `json:"gives"`
}

// Functions are all of them, in the order of the reference page.
func Functions() []Function {
	return []Function{
		callTaskType(), callTriage(), callReviewStop(), callExecutionGap(), callCriteriaStatus(), callNextTask(),
		callBestRound(), callTestsStatus(), callBlockingFindings(), callPullRequest(), callCitations(), callClaims(), callBranchName(), callIssueFingerprint(), callValue(),
	}
}

// Names are the names of all functions.
func Names() []string {
	var names []string
	for _, f := range Functions() {
		names = append(names, f.Name)
	}
	return names
}

// Named is a function by its name.
func Named(name string) (Function, bool) {
	all := Functions()
	at := slices.IndexFunc(all, func(f Function) bool { return f.Name == name })
	if at < 0 {
		return Function{}, false
	}
	return all[at], true
}

// Input is an input by its name.
func (f Function) Input(name string) (Field, bool) {
	at := slices.IndexFunc(f.Inputs, func(in Field) bool { return in.Name == name })
	if at < 0 {
		return Field{}, false
	}
	return f.Inputs[at], true
}

// InputError says which input is wrong, and why.
type InputError struct {
	Function string
	Input    string // "" = the call as a whole
	Msg      string
}

func (e *InputError) Error() string {
	if e.Input == "" {
		return e.Function + ": " + e.Msg
	}
	return fmt.Sprintf("%s: input %s: %s", e.Function, e.Input, e.Msg)
}

// Call calls a function. The error is an *InputError: a function that has its
// inputs always has a result.
func Call(name string, with map[string]json.RawMessage) (json.RawMessage, error) {
	f, ok := Named(name)
	if !ok {
		return nil, &InputError{Function: name, Msg: "there is no such function"}
	}
	in := &inputs{of: f, values: map[string]any{}}
	for _, given := range slices.Sorted(maps.Keys(with)) {
		field, ok := f.Input(given)
		if !ok {
			return nil, &InputError{Function: name, Input: given, Msg: "there is no such input"}
		}
		v, err := field.read(with[given])
		if err != nil {
			return nil, &InputError{Function: name, Input: given, Msg: err.Error()}
		}
		in.values[given] = v
	}
	for _, field := range f.Inputs {
		if field.Must && in.values[field.Name] == nil {
			return nil, &InputError{Function: name, Input: field.Name, Msg: "it is missing, or null"}
		}
	}
	result := f.do(in)
	if in.wrong != nil {
		return nil, in.wrong
	}
	raw, err := encode(result)
	if err != nil {
		return nil, &InputError{Function: name, Msg: err.Error()}
	}
	return raw, nil
}

// encode writes JSON without escapes for the sake of HTML: people read it.
func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}
