package expr

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// A placeholder alone stands for its value, of whatever type; in a text it is text.
func TestFill(t *testing.T) {
	t.Parallel()
	vars := map[string]any{"list": []any{"a", json.Number("1.10")}, "object": map[string]any{"in": true}, "word": "w", "nothing": nil}
	look := func(n string) (any, bool) { v, ok := vars[n]; return v, ok }
	template := map[string]any{
		"whole": "{{list}}", "field": "{{object.in}}", "item": "{{list[1]}}", "text": "x {{word}} {{list}}", "same": json.Number("7"),
		"inside": []any{"{{object}}", map[string]any{"deep": "{{word}}"}}, "null": "{{nothing}}", "fallback": "{{none | default('d')}}",
		"braces": "{{ '{{' }}", "json": "{{object | json}}",
	}
	want := map[string]any{
		"whole": vars["list"], "field": true, "item": json.Number("1.10"), "text": `x w ["a",1.10]`, "same": json.Number("7"),
		"inside": []any{vars["object"], map[string]any{"deep": "w"}}, "null": nil, "fallback": "d",
		"braces": "{{", "json": `{"in":true}`,
	}
	got, err := Fill(template, look, false)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%#v, %v", got, err)
	}
	if _, err := Fill([]any{"{{none}}"}, look, false); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("a missing name: %v", err)
	}
	if got, err := Fill("{{none}}", look, true); err != nil || got != nil {
		t.Errorf("a missing name that may be missing: %#v, %v", got, err)
	}
	if _, err := Fill(map[string]any{"a": "{{"}, look, false); err == nil {
		t.Error("a broken placeholder is taken")
	}
}
