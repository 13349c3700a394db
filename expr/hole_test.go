package expr

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPlaceholders(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"{{lst[0]}}{{lst[-1]}}{{ obj.list[1] }}", "a32"}, {"{{obj['k']}}{{obj[\"deep\"].x}}{{obj[ 'k' ]}}", "v1v"},
		{"{{s|json}} {{ n | json }} {{lst | json}} {{nothing|json}}", `"hello" 42 ["a","b",3] null`},
		{"[{{ pad | trim }}] [{{n|trim}}] [{{nothing|trim}}]", "[x y] [42] []"},
		{"{{missing | default('a b')}} {{nothing|default(\"n\")}} {{s | default('x')}} {{empty|default('x')}}.", "a b n hello ."},
		{"{{obj.no|default('x')}} {{lst[9]|default(3)}} {{obj.no.deep | default(true)}} {{nothing.a|default(false)}} {{missing.a[0]|default(-1.5)}}", "x 3 true false -1.5"},
		{"{{missing | trim | default(' x ')}}|{{missing|default(' x ')|trim}}|{{missing|json|default('{}')}}|{{missing|default('x')|json}}", ` x |x|{}|"x"`},
		{"{{ missing | default('}}') }}", "}}"}, {`{{missing|default('it\'s \\ "q"\n')}}`, "it's \\ \"q\"\n"}, {"{{missing|default('')}}", ""},
		{"{{ '{{' }}.Names}}", "{{.Names}}"}, {"{{'a'|json}}", `"a"`}, {"{{obj.0|default('zero')}}", "zero"}, {"{{s}}}", "hello}"},
	} {
		text, err := ParseText(c.src)
		if err != nil {
			t.Errorf("%s: %v", c.src, err)
			continue
		}
		m := vars()
		m["pad"] = " \n x y\t"
		if got, err := text.Render(look(m)); err != nil || got != c.want {
			t.Errorf("%s gives %q, %v; want %q", c.src, got, err, c.want)
		}
	}
}

func TestPlaceholderErrors(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"{{s | trimm}}", `col 1: no filter named "trimm", did you mean "trim"? (in {{ }} there are default, json, lines, short, trim)`},
		{"{{s | }}", `col 1: no filter named "" (in {{ }} there are default, json, lines, short, trim)`},
		{"{{s | default}}", "col 1: the filter default takes a text in quotes, a number, true or false, as in default('x')"},
		{"{{s | default()}}", "col 1: the filter default takes a text in quotes, a number, true or false, as in default('x')"},
		{"{{s | default(x)}}", "col 1: the filter default takes a text in quotes, a number, true or false, as in default('x')"},
		{"{{s | trim('x')}}", "col 1: the filter trim takes no argument"},
		{"{{s | default('x}}", "col 1: a text that starts in this placeholder is not closed"},
		{`{{s | default('\d')}}`, `col 1: unknown escape: a backslash stands before \, ', ", n or t, and is itself written \\`},
		{"{{lst[x]}}", "col 1: an index is a whole number or a text in quotes"},
		{"{{lst[1.5]}}", "col 1: an index is a whole number or a text in quotes"},
		{"{{lst[0}}", `col 1: "lst[0" is not the name of a variable: {{ }} holds a name, and filters after |`},
		{"{{a\n}}", "col 1: the {{ that starts here is not closed"},
		{"{{" + strings.Repeat(" ", MaxPlaceholder) + "s}}", "col 1: the {{ that starts here is not closed"},
		{"{{lst[9]}}", `col 1: "lst" has 3 items, so it has no item 9`},
		{"{{obj.list[7]}}", `col 1: "obj.list" has 2 items, so it has no item 7`},
		{"{{s[0]}}", `col 1: "s" is not a list, so it has no item 0`},
		{"{{obj[0]|default('x')}}", `col 1: "obj" is not a list, so it has no item 0`},
		{"{{s.k|default('x')}}", `col 1: "s" is not an object, so it has no field "k"`},
		{"{{obj.no}}", `col 1: "obj" has no field "no"`},
		{"{{missing | trim}}", `col 1: no variable named "missing"`},
	} {
		text, err := ParseText(c.src)
		if err == nil {
			_, err = text.Render(look(vars()))
		}
		if err == nil || err.Error() != c.want {
			t.Errorf("%.40s: %v\nwant %s", c.src, err, c.want)
		}
	}
}

func TestAlone(t *testing.T) {
	for src, want := range map[string]string{
		"{{big}}": "big", "{{ my-var }}": "my-var", "{{big}} ": "", "{{a}}{{b}}": "", "{{a.b}}": "", "{{a[0]}}": "", "{{a|trim}}": "", "{{'a'}}": "", "a": "", "": "",
	} {
		text, err := ParseText(src)
		if err != nil {
			t.Fatal(err)
		}
		if name, ok := text.Alone(); ok != (want != "") || ok && name != want {
			t.Errorf("%s alone is %q, %v; want %q", src, name, ok, want)
		}
	}
}

func TestReads(t *testing.T) {
	text, err := ParseText("{{a}} {{b|default('x')}} {{c|trim}} {{c|default(1)}} {{'d'}}")
	if err != nil {
		t.Fatal(err)
	}
	want := []Read{{"a", 0, false}, {"b", 6, true}, {"c", 25, false}}
	if got := text.Reads(); !slices.Equal(got, want) {
		t.Errorf("reads %v, want %v", got, want)
	}
	if late, err := ParseText("é {{a|default(1)}} {{b}} {{a}} {{a}}"); err != nil {
		t.Error(err)
	} else if got, want := late.Reads(), []Read{{"b", 20, false}, {"a", 26, false}}; !slices.Equal(got, want) {
		t.Errorf("reads %v, want %v", got, want)
	}
	if got, want := text.Names(), []string{"a", "b", "c"}; !slices.Equal(got, want) {
		t.Errorf("names %q, want %q", got, want)
	}
	if text, err = ParseText("{{'d'}}"); err != nil || text.Literal() || len(text.Names()) != 0 {
		t.Errorf("a text in quotes: %v", err)
	}
}

func TestHoles(t *testing.T) {
	src := "é {{a}} {{.b}} {{c.d}} {{"
	var got []string
	for _, h := range Holes(src) {
		if h.Err != nil {
			got = append(got, "wrong "+h.Err.Error())
			continue
		}
		got = append(got, src[h.Start:h.End]+" "+h.Value.String())
	}
	want := []string{
		"{{a}} {{a}}", `wrong col 9: ".b" is not the name of a variable: {{ }} holds a name, and filters after |`,
		"{{c.d}} {{c.d}}", "wrong col 24: the {{ that starts here is not closed",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestShort(t *testing.T) {
	t.Parallel()
	text, err := ParseText("{{v | short}}")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		v    any
		want string
	}{
		{nil, ""},
		{"as it is", "as it is"},
		{strings.Repeat("x", maxShort), strings.Repeat("x", maxShort)},
		{"begin" + strings.Repeat("é", maxShort) + "end", ""},
		{[]any{strings.Repeat("y", 3*maxShort)}, ""},
	} {
		got, err := text.Render(func(string) (any, bool) { return c.v, true })
		switch whole := TextOf(c.v); {
		case err != nil:
			t.Error(err)
		case len(whole) <= maxShort && got != c.want:
			t.Errorf("%.40q gives %.40q", c.v, got)
		case len(whole) > maxShort && (len(got) > maxShort+60 || !utf8.ValidString(got) || !strings.HasPrefix(got, whole[:4]) || !strings.HasSuffix(got, whole[len(whole)-3:]) || !strings.Contains(got, " bytes are left out]\n")):
			t.Errorf("%.20q of %d bytes gives %.20q … %q of %d", whole, len(whole), got, got[len(got)-5:], len(got))
		}
	}
}
