package expr

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestRender(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"", ""}, {"plain", "plain"}, {"{{s}}", "hello"}, {"a {{ s }}, {{n}}!", "a hello, 42!"}, {"{{my-var}}{{step-2}}", "hok"},
		{"{{flag}} {{off}} {{nothing}}.", "true false ."}, {"{{obj.deep.x}}", "1"}, {"{{obj.deep}} {{lst}}", `{"x":1} ["a","b",3]`},
		{"日本 {{wide}}", "日本 naïve 日本"}, {"{ {s} } }}", "{ {s} } }}"},
	} {
		text, err := ParseText(c.src)
		if err != nil {
			t.Errorf("%q: %v", c.src, err)
			continue
		}
		if got, err := text.Render(look(vars())); err != nil || got != c.want {
			t.Errorf("%q gives %q, %v; want %q", c.src, got, err, c.want)
		}
	}
}

// What is put in is data: brackets in a value are not looked at again.
func TestRenderOnce(t *testing.T) {
	text, err := ParseText("{{a}}")
	if err != nil {
		t.Fatal(err)
	}
	got, err := text.Render(look(map[string]any{"a": "{{b}}", "b": "wrong"}))
	if err != nil || got != "{{b}}" {
		t.Errorf("got %q, %v; want the value as it is", got, err)
	}
}

func TestTextErrors(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"a {{s", "col 3: the {{ that starts here is not closed"},
		{"日本 {{}}", "col 4: {{ }} names no variable"},
		{"{{ s }} {{a b}}", `col 9: "a b" is not the name of a variable: {{ }} holds a name, and filters after |`},
		{"{{a|upper}}", `col 1: no filter named "upper" (in {{ }} there are default, json, lines, short, trim)`},
		{"{{{s}}}", `col 1: "{s" is not the name of a variable: {{ }} holds a name, and filters after |`},
		{"{{.s}}", `col 1: ".s" is not the name of a variable: {{ }} holds a name, and filters after |`},
		{"{{a..b}}", `col 1: "a..b" is not the name of a variable: {{ }} holds a name, and filters after |`},
		{"{{9}}", `col 1: "9" is not the name of a variable: {{ }} holds a name, and filters after |`},
		{"{{é}}", `col 1: "é" is not the name of a variable: {{ }} holds a name, and filters after |`},
		{"x{{missing}}", `col 2: no variable named "missing"`},
		{"x{{obj.deep.y}}", `col 2: "obj.deep" has no field "y"`},
		{"x{{s.y}}", `col 2: "s" is not an object, so it has no field "y"`},
		{"{{nothing.y}}", `col 1: "nothing" is not an object, so it has no field "y"`},
	} {
		text, err := ParseText(c.src)
		if err == nil {
			_, err = text.Render(look(vars()))
		}
		if err == nil || err.Error() != c.want {
			t.Errorf("%q: %v\nwant %s", c.src, err, c.want)
		}
	}
}

func TestTextBounds(t *testing.T) {
	if _, err := ParseText(strings.Repeat("x", MaxResult+1)); err == nil {
		t.Error("a text over the bound is accepted")
	}
	text, err := ParseText("{{a}}{{a}}")
	if err != nil {
		t.Fatal(err)
	}
	a := strings.Repeat("x", MaxResult/2)
	if got, err := text.Render(look(map[string]any{"a": a})); err != nil || len(got) != MaxResult {
		t.Errorf("a result at the bound: %d bytes, %v", len(got), err)
	}
	if _, err := text.Render(look(map[string]any{"a": a + "x"})); err == nil {
		t.Error("a result over the bound is given")
	}
}

func TestTextNames(t *testing.T) {
	text, err := ParseText("{{b.c}} {{a}} {{b}}")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := text.Names(), []string{"a", "b"}; !slices.Equal(got, want) || text.Literal() {
		t.Errorf("names %q, literal %v; want %q, false", got, text.Literal(), want)
	}
	if text, err = ParseText("no names"); err != nil || !text.Literal() || len(text.Names()) != 0 {
		t.Errorf("a plain text is not literal: %v", err)
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"", "{{s}}", "a {{ obj.deep }} b", "{{", "}}{{", "{{{s}}}", "{{日}}", "{{s}}{{n}}{{lst}}", "{{ obj['k'] | json | default('}}') }}{{lst[-1]|trim}}{{'{{'}}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		text, err := ParseText(src)
		if err != nil {
			var te *Error
			if !errors.As(err, &te) || te.Col < 1 || te.Col > len([]rune(src))+1 {
				t.Fatalf("%q: the error %v has no column inside the source", src, err)
			}
			return
		}
		got, err := text.Render(look(vars()))
		again, err2 := text.Render(look(vars()))
		if got != again || (err == nil) != (err2 == nil) {
			t.Fatalf("%q gives %q and then %q", src, got, again)
		}
		if text.Literal() && (err != nil || got != src) {
			t.Fatalf("the plain text %q gives %q, %v", src, got, err)
		}
	})
}
