package expr

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// vars are the variables of most tests.
func vars() map[string]any {
	return map[string]any{
		"flag": true, "off": false, "s": "hello", "empty": "", "n": 42.0, "z": 0.0, "nothing": nil,
		"text42": "42", "yes": "true", "my-var": "h", "step-2": "ok", "wide": "naïve 日本",
		"lst":  []any{"a", "b", 3.0},
		"none": []any{},
		"obj": map[string]any{
			"k": "v", "confirmed": false, "deep": map[string]any{"x": 1.0}, "in": "word", "list": []any{1.0, 2.0},
		},
	}
}

func look(m map[string]any) Lookup {
	return func(name string) (any, bool) { v, ok := m[name]; return v, ok }
}

func TestEval(t *testing.T) {
	for _, c := range []struct {
		src  string
		want any
	}{
		{"s", "hello"}, {"n", 42.0}, {"nothing", nil}, {"null", nil}, {"None", nil}, {"True", true}, {"-3.5", -3.5}, {"1e3", 1000.0},
		{`'it\'s \\ "x"\n\t'`, "it's \\ \"x\"\n\t"}, {`"a'b"`, "a'b"}, {"'日本'", "日本"},
		{"(s)", "hello"}, {"((n))", 42.0}, {"('a').upper() == 'A'", true}, {"(s) == 'hello'", true},
		{"my-var", "h"}, {"step-2 == 'ok'", true},
		{"[1, s, [n], obj.k, n == 42,]", []any{1.0, "hello", []any{42.0}, "v", true}}, {"[]", []any{}},
		{"obj.k", "v"}, {"obj['k']", "v"}, {"obj.deep.x", 1.0}, {"obj['deep'].x", 1.0}, {"obj.in", "word"}, {"obj.missing", nil},
		{"lst[0]", "a"}, {"lst[-1]", 3.0}, {"obj.list[1]", 2.0}, {"[[1]][0][0]", 1.0},

		{"flag and s", true}, {"flag && empty", false}, {"off or s", true}, {"off || empty", false}, {"not s", false}, {"not not s", true},
		{"off or flag and off", false}, {"(off or flag) and off", false}, {"not n == 42", false}, {"not (n == 1)", true},
		{"off and unknown", false}, {"flag or unknown.x.y", true}, {"flag or off and unknown", true},

		{"s == 'hello'", true}, {"s != 'hello'", false}, {"n == 42", true}, {"n == '42'", true}, {"text42 == 42", true}, {"'10' == 10.0", true},
		{"flag == 'true'", true}, {"flag == 'True'", true}, {"off == 'False'", true}, {"yes == true", true}, {"flag == 'false'", false},
		{"nothing == null", true}, {"s == null", false}, {"null == ''", false}, {"n != null", true}, {"lst != ''", true}, {"n == ''", false}, {"off == ''", false},
		{"lst == ['a', 'b', 3]", true}, {"lst == ['a', 'b', '3']", false}, {"obj.deep == obj['deep']", true}, {"[[1]] == [[2]]", false}, {"[1] == [[1]]", false},

		{"1 < 2", true}, {"2 <= 2", true}, {"n > '7'", true}, {"'7' < n", true}, {"'10' < '9'", true}, {"s >= 'hello'", true}, {"off < flag", true}, {"flag > 'false'", true},

		{"'ell' in s", true}, {"'x' not in s", true}, {"'a' in lst", true}, {"'3' in lst", true}, {"flag in lst", false}, {"3 in [1, 2]", false},
		{"'k' in obj", true}, {"'v' in obj", false}, {"'confirmed' in obj", true}, {"s in [obj.k, 'hello']", true}, {"not 'a' in lst", false}, {"'' in s", true},

		{"len(s)", 5.0}, {"len(wide)", 8.0}, {"len(lst)", 3.0}, {"len(obj)", 5.0}, {"len('')", 0.0},
		{"int('7')", 7.0}, {"int(1.9)", 1.0}, {"int(-1.9)", -1.0}, {"int(' 3 ') == 3", true}, {"int(flag)", 1.0}, {"float('1.5')", 1.5},
		{"str(42) == '42'", true}, {"str(1.5)", "1.5"}, {"str(true)", "true"}, {"str(null)", ""}, {"str(-0.0)", "0"},
		{"str(['<', 1])", `["<",1]`}, {"str(obj.deep)", `{"x":1}`},
		{"bool('false')", false}, {"bool(' True ')", true}, {"bool('true') and not bool('False')", true}, {"bool('')", false}, {"bool([])", false}, {"bool(obj)", true}, {"bool(0)", false}, {"bool(null)", false},
		{"min(3, 1, 2)", 1.0}, {"max('a', 'b')", "b"}, {"max(1, '2')", "2"}, {"min(2, 2)", 2.0},

		{"'  a '.strip()", "a"}, {"'xxa'.lstrip('x')", "a"}, {"'axx'.rstrip('x')", "a"}, {"' a '.lstrip()", "a "}, {"' a '.rstrip()", " a"},
		{"s.upper().lower()", "hello"}, {"\"it is HERE, o'neil\".title()", "It Is Here, O'Neil"},
		{"s.startswith('he')", true}, {"s.endswith('he')", false}, {"s.replace('l', 'LL')", "heLLLLo"},
		{"'a,b'.split(',')", []any{"a", "b"}}, {"' a  b '.split()", []any{"a", "b"}}, {"'-'.join(['a', s])", "a-hello"},
		{"s.count('l')", 2.0}, {"wide.find('日')", 6.0}, {"s.find('zz')", -1.0}, {"'x'.join([])", ""},
		{"len(s.split('l')) == 3 and min(len(s), 9) == 5", true},
		{"\n flag\n and\tn == 42\r\n", true},
	} {
		e, err := Parse(c.src)
		if err != nil {
			t.Errorf("%s: parse: %v", c.src, err)
			continue
		}
		got, err := e.Eval(look(vars()))
		if err != nil || jsonOf(got) != jsonOf(c.want) {
			t.Errorf("%s = %#v, %v; want %#v", c.src, got, err, c.want)
		}
	}
}

func TestTruth(t *testing.T) {
	for src, want := range map[string]bool{
		"null": false, "false": false, "0": false, "''": false, "[]": false, "none": false,
		"true": true, "-1": true, "'false'": true, "'0'": true, "[0]": true, "obj": true,
	} {
		e, err := Parse(src)
		if err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		if got, err := e.Truth(look(vars())); err != nil || got != want {
			t.Errorf("%s is %v, %v; want %v", src, got, err, want)
		}
	}
	e, err := Parse("unknown")
	if err != nil {
		t.Fatal(err)
	}
	if v, err := e.Truth(look(vars())); err == nil || v {
		t.Errorf("an unknown variable gives %v, %v; want false and an error", v, err)
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"", "col 1: the expression is empty"},
		{" \n ", "col 1: the expression is empty"},
		{"flag extra words", `col 6: unexpected "extra" after a complete expression`},
		{"flag AND s", `col 6: unexpected "AND" after a complete expression, did you mean "and"?`},
		{"s is 'x'", `col 3: unexpected "is" after a complete expression, did you mean "=="?`},
		{"s == 'a' == 'b'", `col 10: comparisons cannot be chained: join two of them with "and"`},
		{"1 < 2 < 0", `col 7: comparisons cannot be chained: join two of them with "and"`},
		{"a in b not in c", `col 8: comparisons cannot be chained: join two of them with "and"`},
		{"lenn(s) == 1", `col 1: no function named "lenn", did you mean "len"?`},
		{"system('x')", `col 1: no function named "system"`},
		{"s.uper()", `col 3: no method named "uper", did you mean "upper"?`},
		{"s.starts_with('x')", `col 3: no method named "starts_with", did you mean "startswith"?`},
		{"s.encode()", `col 3: no method named "encode"`},
		{"len()", "col 1: len takes 1 argument, found 0"},
		{"len(1, 2)", "col 1: len takes 1 argument, found 2"},
		{"min(1)", "col 1: min takes at least 2 arguments, found 1"},
		{"s.upper(1)", "col 3: upper takes no arguments, found 1"},
		{"s.strip(1, 2)", "col 3: strip takes 0 to 1 argument, found 2"},
		{"s = 'x'", `col 3: unexpected "=": did you mean "=="?`},
		{"s === 'x'", `col 3: unexpected "===": did you mean "=="?`},
		{"s <> 'x'", `col 3: unexpected "<>": did you mean "!="?`},
		{"a & b", `col 3: unexpected "&": did you mean "&&"?`},
		{"a | b", `col 3: unexpected "|": did you mean "||"?`},
		{"!a", `col 1: unexpected "!": did you mean "not"?`},
		{"a + b", `col 3: unexpected "+": there is no arithmetic here`},
		{"a - b", `col 3: unexpected "-": there is no arithmetic here`},
		{"{{s}} == 'x'", `col 1: unexpected "{{": a condition names a variable bare, without {{ }}`},
		{"$s", `col 1: unexpected "$": a condition names a variable bare, without $`},
		{"日本 == 1", `col 1: unexpected character '日'`},
		{"'日本' == §", `col 9: unexpected character '§'`},
		{"'abc", "col 1: the text that starts here is not closed"},
		{"s == 'a\\", `col 8: unknown escape: a backslash stands before \, ', ", n or t, and is itself written \\`},
		{`'日\d'`, `col 3: unknown escape: a backslash stands before \, ', ", n or t, and is itself written \\`},
		{"3x", "col 1: a name cannot start with a digit and a number cannot end in 'x'"},
		{"1e999", "col 1: the number 1e999 is too large"},
		{"(a", `col 3: expected ")" for the "(" in column 1, found the end`},
		{"(a]", `col 3: expected ")" for the "(" in column 1, found "]"`},
		{"[a b]", `col 4: expected "," or "]" for the "[" in column 1, found "b"`},
		{"[,]", `col 2: unexpected "," where a value should be`},
		{"a and", "col 6: the expression ends where a value should be"},
		{"and a", `col 1: unexpected "and" where a value should be`},
		{"a == not b", `col 6: unexpected "not" where a value should be`},
		{"a.", `col 3: expected a name after ".", found the end`},
		{"a.1", `col 3: expected a name after ".", found the number 1`},
		{"a['k'", `col 6: expected "]", found the end`},
		{"a[1.5]", "col 3: an index is a whole number"},
		{"a[b]", `col 3: an index is a whole number or a text in quotes, found "b"`},
		{"a\xff", "col 2: not valid UTF-8"},
		{"'\xff'", "col 2: not valid UTF-8"},
		{")", `col 1: unexpected ")" where a value should be`},
	} {
		_, err := Parse(c.src)
		if err == nil || err.Error() != c.want {
			t.Errorf("%q: %v\nwant %s", c.src, err, c.want)
		}
		var e *Error
		if err != nil && (!errors.As(err, &e) || e.Src != c.src) {
			t.Errorf("%q: error %T does not carry the source", c.src, err)
		}
	}
}

func TestEvalErrors(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"s == 'x' or missing", `col 13: no variable named "missing"`},
		{"n == 'abc'", "col 3: a number and a text cannot be compared: use str() to compare texts"},
		{"'maybe' == flag", "col 9: a text and a boolean cannot be compared: use str() to compare texts"},
		{"flag == 1", "col 6: a boolean and a number cannot be compared"},
		{"lst == 'a'", "col 5: a list and a text cannot be compared"},
		{"obj != lst", "col 5: an object and a list cannot be compared"},
		{"s < 1", "col 3: a text and a number have no order"},
		{"null < 1", "col 6: null and a number have no order"},
		{"lst < lst", "col 5: a list and a list have no order"},
		{"true < 1", "col 6: a boolean and a number have no order"},
		{"42 in 'abc 42'", "col 4: only a text can be in a text, found a number: use str()"},
		{"1 in obj", "col 3: the keys of an object are texts, found a number"},
		{"'a' in nothing", "col 5: nothing can be in null"},
		{"'a' in 5", "col 5: nothing can be in a number"},
		{"s.k", `col 3: a text has no field "k"`},
		{"obj.missing.x", `col 13: null has no field "x"`},
		{"lst[3]", "col 5: the list has 3 items, so it has no item 3"},
		{"lst[-4]", "col 5: the list has 3 items, so it has no item -4"},
		{"s[0]", "col 3: a text has no item 0"},
		{"obj[0]", "col 5: an object has no item 0"},
		{"n.upper()", "col 3: expected a text, found a number"},
		{"s.replace('a', 1)", "col 3: expected a text, found a number"},
		{"s.join([1])", "col 3: expected a text, found a number"},
		{"s.join('ab')", "col 3: expected a list, found a text"},
		{"s.split('')", "col 3: the separator is empty"},
		{"int('abc')", "col 1: the text is not a number"},
		{"int('1.5')", "col 1: the text is not a whole number"},
		{"int('')", "col 1: the text is not a number"},
		{"float('nan')", "col 1: the text is not a number"},
		{"float('0x1p3')", "col 1: the text is not a number"},
		{"int(null)", "col 1: null cannot be made a number"},
		{"len(n)", "col 1: a number has no length"},
		{"min(1, lst)", "col 1: a list and a number have no order"},
		{"max(lst, lst)", "col 1: a list and a list have no order"},
	} {
		e, err := Parse(c.src)
		if err != nil {
			t.Errorf("%q: parse: %v", c.src, err)
			continue
		}
		if v, err := e.Eval(look(vars())); err == nil || err.Error() != c.want {
			t.Errorf("%q = %v, %v\nwant %s", c.src, v, err, c.want)
		}
	}
}

func TestUnknownGoType(t *testing.T) {
	e, err := Parse("n")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Eval(look(map[string]any{"n": 1})); err == nil {
		t.Error("an int is no value of the language; want an error")
	}
}

func TestBounds(t *testing.T) {
	long := "'" + strings.Repeat("x", MaxLen-2) + "'"
	if _, err := Parse(long); err != nil {
		t.Errorf("%d bytes: %v", len(long), err)
	}
	if _, err := Parse(long + " "); err == nil {
		t.Errorf("%d bytes are accepted", len(long)+1)
	}
	for _, pair := range [][2]string{{"(", ")"}, {"[", "]"}, {"str(", ")"}, {"not ", ""}} {
		deep := func(n int) string { return strings.Repeat(pair[0], n) + "1" + strings.Repeat(pair[1], n) }
		if _, err := Parse(deep(MaxDepth)); err != nil {
			t.Errorf("%q %d deep: %v", pair[0], MaxDepth, err)
		}
		if _, err := Parse(deep(MaxDepth + 1)); err == nil {
			t.Errorf("%q %d deep is accepted", pair[0], MaxDepth+1)
		}
	}
	if _, err := Parse(strings.Repeat("flag or ", 50) + "flag"); err != nil {
		t.Errorf("50 times or: %v", err)
	}
	if _, err := Parse("obj" + strings.Repeat(".k", 4000)); err != nil {
		t.Errorf("a long path: %v", err)
	}
}

func TestEvaluationIsBounded(t *testing.T) {
	many := make([]any, 2000)
	for i := range many {
		many[i] = "x"
	}
	m := map[string]any{"many": many, "big": strings.Repeat("a", 1<<20), "k": strings.Repeat("a", 2000)}
	for _, src := range []string{
		strings.Repeat("'y' in many or ", 60) + "false",
		"big.replace('a', k)",
		"k.join(many)",
		"big.split()",
		"big.split('a')",
		"(big.replace('a', 'b')).replace('b', 'bb')",
	} {
		e, err := Parse(src)
		if err != nil {
			t.Fatalf("%.40s: %v", src, err)
		}
		if v, err := e.Eval(look(m)); err == nil {
			t.Errorf("%.40s gives %.20v; want a refusal", src, v)
		}
	}
}

func TestNames(t *testing.T) {
	e, err := Parse("z.a and b['z'] or len(b) == my-var and 'q' in [c, true] and x.upper() == null")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := e.Names(), []string{"b", "c", "my-var", "x", "z"}; !slices.Equal(got, want) {
		t.Errorf("names %q, want %q", got, want)
	}
	if e, err = Parse("'é' == b and a.b or b"); err != nil {
		t.Fatal(err)
	}
	if got, want := e.Reads(), []Read{{Name: "b", Offset: 8}, {Name: "a", Offset: 14}}; !slices.Equal(got, want) {
		t.Errorf("reads %v, want %v", got, want)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"a and b", "not x.y['k'][-1] in [1, 'two', null]", "len(s.strip()) >= 3 || flag", "((((1))))", `'\n\\'`, "a == b == c", "{{x}}",
		"min(n, 3) == max('a', \"b\")", "x-3", "1.5e-3", "lst == lst and obj == obj", "s.replace('', s).split('').join(lst)",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		e, err := Parse(src)
		if err != nil {
			var pe *Error
			if !errors.As(err, &pe) || pe.Col < 1 || pe.Col > len([]rune(src))+1 {
				t.Fatalf("%q: the error %v has no column inside the source", src, err)
			}
			return
		}
		again, err := Parse(e.String())
		if err != nil || again.String() != e.String() || !slices.Equal(again.Names(), e.Names()) {
			t.Fatalf("%q: the source of the parsed expression parses as %v, %v", src, again, err)
		}
		v, verr := e.Eval(look(vars()))
		w, werr := again.Eval(look(vars()))
		if !reflect.DeepEqual(v, w) || fmt.Sprint(verr) != fmt.Sprint(werr) {
			t.Fatalf("%q: %v, %v and then %v, %v", src, v, verr, w, werr)
		}
		if verr == nil && kindOf(v) == "" {
			t.Fatalf("%q gives a %T", src, v)
		}
	})
}
