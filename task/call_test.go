package task

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// call calls a function with JSON and gives its result, decoded.
func call(t *testing.T, name, with string) map[string]any {
	t.Helper()
	var args map[string]json.RawMessage
	if err := json.Unmarshal([]byte(with), &args); err != nil {
		t.Fatalf("%s: %v in %s", name, err, with)
	}
	raw, err := Call(name, args)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatalf("%s gives no object: %s", name, raw)
	}
	return out
}

// Every function has a whole row, and its example is true.
func TestFunctions(t *testing.T) {
	t.Parallel()
	for _, f := range Functions() {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			if f.Does == "" || len(f.Inputs) == 0 || len(f.Outputs) == 0 || f.do == nil {
				t.Fatalf("a row with holes: %+v", f)
			}
			var with map[string]json.RawMessage
			if err := json.Unmarshal(f.Example.With, &with); err != nil {
				t.Fatal(err)
			}
			raw, err := Call(f.Name, with)
			if err != nil {
				t.Fatal(err)
			}
			var gave, says any
			if err := json.Unmarshal(f.Example.Gives, &says); err != nil {
				t.Fatalf("%v; it gives %s", err, raw)
			}
			if err := json.Unmarshal(raw, &gave); err != nil || !reflect.DeepEqual(gave, says) {
				t.Errorf("the example gives\n%s\nand says\n%s (%v)", raw, f.Example.Gives, err)
			}
			if f.Outputs[0].Name == "" { // a value that has no parts of its own
				return
			}
			got, _ := gave.(map[string]any)
			for _, out := range f.Outputs {
				if _, there := got[out.Name]; out.Must && !there {
					t.Errorf("no output %s", out.Name)
				}
			}
			for name := range got {
				if !strings.Contains(names(f.Outputs), " "+name+" ") {
					t.Errorf("output %s is not in the row", name)
				}
			}
			again, err := Call(f.Name, with)
			if err != nil || !bytes.Equal(raw, again) {
				t.Errorf("called twice: %s and %s (%v)", raw, again, err)
			}
		})
	}
}

func names(fields []Field) string {
	text := " "
	for _, f := range fields {
		text += f.Name + " "
	}
	return text
}

// What is wrong with a call is said with the name of the input.
func TestCallErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, with, want string }{
		{"nothing", `{}`, "nothing: there is no such function"},
		{"branch-name", `{}`, "branch-name: input text: it is missing, or null"},
		{"branch-name", `{"text": null}`, "branch-name: input text: it is missing, or null"},
		{"branch-name", `{"text": "x", "colour": 1}`, "branch-name: input colour: there is no such input"},
		{"branch-name", `{"text": "x", "issue": "seven"}`, `branch-name: input issue: a whole number is wanted, found the text "seven"`},
		{"branch-name", `{"text": "x", "issue": 1.5}`, "branch-name: input issue: a whole number is wanted, found the number 1.5"},
		{"branch-name", `{"text": "x", "issue": [1]}`, "branch-name: input issue: a whole number is wanted, found a list"},
	} {
		var with map[string]json.RawMessage
		if err := json.Unmarshal([]byte(c.with), &with); err != nil {
			t.Fatal(err)
		}
		if _, err := Call(c.name, with); err == nil || err.Error() != c.want {
			t.Errorf("%s %s: %v, want %s", c.name, c.with, err, c.want)
		}
	}
}

// A value means the same whether it is JSON or a text that holds JSON.
func TestTypes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		typ  Type
		raw  string
		want any
	}{
		{TypeText, `"a"`, "a"},
		{TypeText, `12`, "12"},
		{TypeText, `1.50`, "1.50"},
		{TypeText, `true`, "true"},
		{TypeText, `{"a":"<b>"}`, `{"a":"<b>"}`},
		{TypeText, `""`, ""},
		{TypeText, `null`, nil},
		{TypeFlag, `true`, true},
		{TypeFlag, `"false"`, false},
		{TypeFlag, `"True"`, true},
		{TypeFlag, `""`, nil},
		{TypeNumber, `3`, 3},
		{TypeNumber, `" 3 "`, 3},
		{TypeNumber, `""`, nil},
		{TypeList, `["a"]`, []any{"a"}},
		{TypeList, `"[\"a\"]"`, []any{"a"}},
		{TypeList, `" "`, nil},
		{TypeObject, `{"a":null}`, map[string]any{"a": nil}},
		{TypeObject, `"{\"a\":null}"`, map[string]any{"a": nil}},
		{TypeAny, `"{}"`, "{}"},
	} {
		got, err := Field{Type: c.typ}.read(json.RawMessage(c.raw))
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s %s: %#v, %v, want %#v", c.typ, c.raw, got, err, c.want)
		}
	}
	for _, c := range []struct {
		typ Type
		raw string
	}{
		{TypeFlag, `1`},
		{TypeFlag, `"maybe"`},
		{TypeNumber, `true`},
		{TypeNumber, `"1e3"`},
		{TypeList, `{}`},
		{TypeList, `"[1] and more"`},
		{TypeObject, `[]`},
		{TypeObject, `"not {}"`},
		{TypeText, `{`},
	} {
		if v, err := (Field{Type: c.typ}).read(json.RawMessage(c.raw)); err == nil {
			t.Errorf("%s %s: %#v", c.typ, c.raw, v)
		}
	}
}
