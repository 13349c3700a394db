package receipt

import (
	"strings"
	"testing"
)

func TestTextFromOutsideIsOnlyText(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain words":             "plain words",
		"a_b snake_case _x_":      `a_b snake_case \_x\_`,
		"```sh\nrm -rf /\n```":    "\\`\\`\\`sh rm -rf / \\`\\`\\`",
		"a | b":                   `a \| b`,
		"<details><!--":           `\<details\>\<!--`,
		"[x](http://evil)":        `\[x\](http://evil)`,
		"\x1b[31mred\x1b[0m\x07":  "red",
		"one\r\n## two":           "one  ## two",
		"**ACHIEVED**":            `\*\*ACHIEVED\*\*`,
		"ask @bob | now":          "`ask @bob \\| now`",
		"ask @bob ``` now":        "````ask @bob ``` now````",
		"`@bob`":                  "`` `@bob` ``",
		`back\slash`:              `back\\slash`,
		strings.Repeat("x", 1000): strings.Repeat("x", maxText-1) + "…",
	} {
		if got := plain(in); got != want {
			t.Errorf("plain(%q) = %q, want %q", in, got, want)
		}
	}
}

// FuzzPlain tries to get out of a line and out of a cell.
func FuzzPlain(f *testing.F) {
	f.Add("a|b`c\n@d")
	f.Add("a\\|b@c\\")
	f.Fuzz(func(t *testing.T, in string) {
		for _, got := range []string{plain(in), code(in)} {
			if strings.ContainsAny(got, "\n\r\x1b\x00") {
				t.Errorf("%q gives %q", in, got)
			}
			if strings.HasSuffix(strings.ReplaceAll(got, `\\`, ""), `\`) {
				t.Errorf("%q gives %q: what follows would be escaped", in, got)
			}
			bare := strings.ReplaceAll(strings.ReplaceAll(got, `\\`, ""), `\|`, "")
			if strings.Contains(bare, "|") {
				t.Errorf("%q gives %q: a new cell", in, got)
			}
		}
	})
}

func TestCriteriaHaveAShape(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`[{"id":"c1","text":"t","status":"met","evidence":"e"}]`:                                  "c1 t met e",
		`[{"id":"c1","verdict":"unproven","evidence":["a","b"]}]`:                                 "c1  unproven a; b",
		`{"status":"PARTIAL","criteria":[{"id":"c1","text":"t","verdict":"unproven","why":"w"}]}`: "c1 t unproven w",
		`{"criteria":[{"text":"t","status":"unmet"}]}`:                                            " t unmet ",
		`"[{\"id\":\"c1\",\"text\":\"t\",\"status\":\"met\"}]"`:                                   "c1 t met ",
		`[{"id":"c1","status":"ACHIEVED"}]`:                                                       "",
		`[{"id":"c1","status":"met"},{"status":"met"}]`:                                           "",
		`[1,2]`: "", `{}`: "", `null`: "", ``: "", `"text"`: "", `[]`: "",
	} {
		got := ""
		for _, c := range criteriaIn([]byte(in)) {
			got += c.ID + " " + c.Text + " " + c.Verdict + " " + c.Evidence
		}
		if got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	ok, partial := 0, 5
	pass, fail, not := Again{Verdict: Passes}, Again{Verdict: Fails}, Again{Verdict: NotRun}
	for _, c := range []struct {
		run  *int
		list []Again
		want string
		code int
	}{
		{&ok, []Again{pass, pass}, Holds, 0},
		{&ok, []Again{not, fail, pass}, Broken, 1},
		{&ok, []Again{pass, not}, NoProof, 5},
		{&ok, nil, NoProof, 5},
		{&partial, []Again{pass}, Holds, 5},
		{&partial, []Again{fail}, Broken, 1},
		{nil, []Again{pass}, Holds, 1}, // it has not ended
	} {
		r := &Receipt{Code: c.run}
		r.Judge(c.list, nil)
		if r.Check.Verdict != c.want || r.Check.Code != c.code {
			t.Errorf("%v: %s, %d", c, r.Check.Verdict, r.Check.Code)
		}
	}
}
