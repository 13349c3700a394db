package recipe

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
)

// Every key is described, once, and says what it takes.
func TestKeys(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range Keys() {
		id := k.On + " " + k.Name
		if seen[id] || k.Doc == "" || len(k.Types) == 0 || k.On != "top" && k.On != "step" || k.On == "step" && len(k.Steps) == 0 || !strings.HasSuffix(k.Doc, ".") {
			t.Errorf("%+v", k)
		}
		seen[id] = true
	}
	for _, want := range []string{"top name", "top hooks.pre_step", "step id", "step retry.backoff", "step foreach", "step outputs", "step runs_on", "top runs_on"} {
		if !seen[want] {
			t.Errorf("%s is not described", want)
		}
	}
	for i := range stepKeys.keys {
		if same := stepKeys.keys[i].same; same != "" && !seen["step "+same] {
			t.Errorf("%s is another spelling of %s, which is no key", stepKeys.keys[i].name, same)
		}
	}
	for _, t2 := range []map[string]string{topKeys.others, stepKeys.others} {
		for word, meant := range t2 {
			if !seen["top "+meant] && !seen["step "+meant] {
				t.Errorf("%s is called %s here, which is no key", word, meant)
			}
		}
	}
}

// Every difference has a name of its own and says three things.
func TestDifferences(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range Differences() {
		if seen[d.ID] || d.ID == "" || d.Theirs == "" || d.Ours == "" || d.Why == "" || d.Theirs == d.Ours {
			t.Errorf("%+v", d)
		}
		seen[d.ID] = true
	}
	rows, err := os.ReadFile("rows_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`\(difference ([a-z-]+)\)`).FindAllStringSubmatch(string(rows), -1) {
		if !seen[m[1]] {
			t.Errorf("no difference is named %s", m[1])
		}
	}
}

func TestProblemForms(t *testing.T) {
	p := Problem{File: "a,b:c%.yaml", Line: 3, Col: 7, Msg: "100% \"wrong\": no\nway", Hint: "stop"}
	if got, want := p.GitHub(), "::error file=a%2Cb%3Ac%25.yaml,line=3,col=7::100%25 \"wrong\": no%0Away%0Ahint: stop"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	p.Warning, p.Hint = true, ""
	if !strings.HasPrefix(p.GitHub(), "::warning file=") || strings.Contains(p.GitHub(), "hint") {
		t.Errorf("got %s", p.GitHub())
	}
	raw, err := json.Marshal(p)
	if want := `{"file":"a,b:c%.yaml","line":3,"col":7,"message":"100% \"wrong\": no\nway","warning":true}`; err != nil || string(raw) != want {
		t.Errorf("got %s, want %s", raw, want)
	}
}
