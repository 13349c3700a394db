package recovery

import (
	"slices"
	"strings"
	"testing"
)

// A plan is taken as it is meant, or refused in words that a person can read.
func TestReadPartsRefusesInPlainWords(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		`{"parts":[{"task":"a"},{"task":"b","needs":[7]}]}`:             "part 2 needs part 7, and there is none",
		`{"parts":[{"task":"a","needs":[0]},{"task":"b"}]}`:             "part 1 needs part 0, and there is none",
		`{"parts":[{"task":"a","needs":[1]},{"task":"b"}]}`:             "part 1 needs itself",
		`{"parts":[{"task":"a","needs":[2]},{"task":"b","needs":[1]}]}`: "the parts need each other in a circle",
		`{"parts":[{"task":"a"},{"task":"b","needs":["1"]}]}`:           "needs is a text, and must be a whole number",
		`{"parts":[{"task":"a"},{"task":["b"]}]}`:                       "task is a list, and must be a text",
		`[{"task":"a"},{"task":"b","files":"x"}]`:                       "files is a text, and must be a list",
		`"two parts"`: "it is a text, and must be an object with parts",
		`{"parts":[`:  "it is no JSON value",
		``:            "it is no JSON value",
	} {
		_, err := ReadParts([]byte(answer), "do it all")
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v, want %q", answer, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "Go ") {
			t.Errorf("%s: %v", answer, err)
		}
	}
}

// What a part needs is done before it, wherever the planner wrote it down.
func TestReadPartsOrdersByNeeds(t *testing.T) {
	t.Parallel()
	parts, err := ReadParts([]byte(strings.NewReplacer("FA", `"files":["a"]`, "FB", `"files":["b"]`, "FC", `"files":["c"]`).Replace(
		`{"parts":[{"task":"last","needs":[2,3],FA},{"task":"middle","needs":[3],FB},{"task":"first",FC}]}`)), "do it all")
	if err != nil {
		t.Fatal(err)
	}
	var tasks []string
	for i, p := range parts {
		tasks = append(tasks, p.Task)
		if slices.ContainsFunc(p.Needs, func(n int) bool { return n < 1 || n > i }) {
			t.Errorf("part %d needs %v", i+1, p.Needs)
		}
	}
	if !slices.Equal(tasks, []string{"first", "middle", "last"}) || !slices.Equal(parts[1].Needs, []int{1}) || !slices.Equal(parts[2].Needs, []int{1, 2}) {
		t.Errorf("%v %+v", tasks, parts)
	}
}
