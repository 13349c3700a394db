package expr

import (
	"strings"
	"testing"
)

// differences are the reasons why a condition means something else here than
// in the older runner. Each is given at least once below.
var differences = map[string]string{
	"missing":   "an unknown variable is an error: a typo must not skip a step",
	"left over": "words after a complete expression are an error: they were ignored",
	"unknown":   "an unknown function is an error: it was false",
	"types":     "values of kinds that cannot be compared are an error: the comparison was false, or of their texts",
	"texts":     "only a text has methods: other kinds were turned into texts, use str()",
	"keys":      "in looks for a key of an object: it was always false",
	"brackets":  "a value in brackets is that value: it was made true or false",
	"digits":    "numbers keep all their digits: long ones were rounded",
	"numbers":   "int() and str() keep whole numbers whole: 42 was written 42.0 and read as 0",
	"lists":     "the items of a list are any values, and count from the end when negative",
	"chars":     "lengths and places count characters: they counted bytes",
	"escapes":   "a backslash has the usual escapes, and others are errors: it was dropped",
	"arguments": "arguments of methods count: those of strip were ignored and those of the wrong kind read as empty",
	"names":     "a hyphen before a digit belongs to the name too",
	"data":      "names with __ are plain keys: there is nothing but data to reach",
	"lazy":      "what cannot matter any more is not looked at",
	"booleans":  "bool() reads a text that is a boolean: 'false' was true",
	"null":      "null and None are words of the language: they were unknown variables",
}

// older is what the older runner answers; ours is "" where it is the same.
var conformance = []struct{ src, older, ours, why string }{
	// Operators.
	{"s == 'hello'", "true", "", ""}, {"s != 'hello'", "false", "", ""}, {"n < 43", "true", "", ""}, {"n <= 42", "true", "", ""}, {"n > 42", "false", "", ""}, {"n >= 42", "true", "", ""},
	{"'ell' in s", "true", "", ""}, {"'x' not in s", "true", "", ""}, {"s in ['hello', 'x']", "true", "", ""}, {"s not in ['x',]", "true", "", ""}, {"s in []", "false", "", ""},
	{"[,]", "error", "", ""}, {"flag && s", "true", "", ""}, {"off || flag", "true", "", ""}, {"flag and off or flag", "true", "", ""}, {"flag & off", "error", "", ""},
	{"flag not  in lst", "true", "", ""}, {"!flag", "error", "", ""}, {"s = 'x'", "error", "", ""}, {"n + 1", "error", "", ""}, {"{s}", "error", "", ""}, {"s # x", "error", "", ""},
	{"", "error", "", ""}, {"   ", "error", "", ""}, {"(flag", "error", "", ""}, {"flag and", "error", "", ""},
	// Truth.
	{"nothing", "false", "", ""}, {"flag", "true", "", ""}, {"off", "false", "", ""}, {"n", "true", "", ""}, {"z", "false", "", ""}, {"s", "true", "", ""}, {"empty", "false", "", ""},
	{"'false'", "true", "", ""}, {"'0'", "true", "", ""}, {"lst", "true", "", ""}, {"none", "false", "", ""}, {"obj", "true", "", ""}, {"not not s", "true", "", ""},
	{"bool('false')", "true", "false", "booleans"}, {"bool('no')", "true", "", ""}, {"bool('0')", "true", "", ""}, {"bool(s)", "true", "", ""}, {"bool('')", "false", "", ""}, {"missing", "false", "error", "missing"}, {"missing == 'x'", "false", "error", "missing"}, {"nothing == 'x'", "false", "", ""},
	{"my-var == 'h'", "true", "", ""}, {"obj.missing", "false", "", ""}, {"True", "true", "", ""}, {"False", "false", "", ""}, {"obj.missing == null", "true", "", ""},
	{"null == None", "true", "", ""}, {"nothing.x", "false", "error", "types"}, {"step-2 == 'ok'", "false", "true", "names"},
	// Equality and order.
	{"n == '42'", "true", "", ""}, {"1 == '1'", "true", "", ""}, {"'10' == 10.0", "true", "", ""}, {"flag == 'true'", "true", "", ""}, {"flag == 'True'", "true", "", ""}, {"off == 'false'", "true", "", ""},
	{"nothing == ''", "false", "", ""}, {"flag == 1", "false", "error", "types"}, {"n == 'abc'", "false", "error", "types"}, {"lst == 'a'", "false", "error", "types"}, {"flag == 'maybe'", "false", "error", "types"},
	{"lst == ['a', 'b', 3]", "true", "", ""}, {"'a' < 'b'", "true", "", ""}, {"off < flag", "true", "", ""}, {"n > '7'", "true", "", ""}, {"'7' < n", "true", "", ""}, {"flag > 'false'", "true", "", ""},
	{"flag > 0", "true", "error", "types"}, {"flag < 'zebra'", "true", "error", "types"}, {"s < 1", "false", "error", "types"}, {"nothing < 1", "false", "error", "types"}, {"lst < lst", "false", "error", "types"},
	{"min(3, 1, 2) == 1", "true", "", ""}, {"max(1, 2) == 2", "true", "", ""}, {"min(1)", "error", "", ""},
	// Membership.
	{"'a' in lst", "true", "", ""}, {"'k' in obj", "false", "true", "keys"}, {"'v' in obj", "false", "", ""}, {"'a' in nothing", "false", "error", "types"}, {"42 in 'abc 42'", "false", "error", "types"},
	{"s in [obj.k]", "error", "false", "lists"}, {"lst[-1] == 3", "error", "true", "lists"}, {"1 in [[1]]", "error", "false", "lists"},
	// Functions, methods, fields.
	{"len('') == 0", "true", "", ""}, {"len([]) == 0", "true", "", ""}, {"len(s) == 5", "true", "", ""}, {"len('é') == 2", "true", "false", "chars"}, {"'éa'.find('a') == 2", "true", "false", "chars"},
	{"str(42) == '42'", "false", "true", "numbers"}, {"int(1.9) == 1", "false", "true", "numbers"}, {"int(3) == 3", "false", "true", "numbers"}, {"int('3') == 3", "true", "", ""}, {"9007199254740993 == 9007199254740992", "true", "false", "digits"}, {"float('1.5') == 1.5", "true", "", ""},
	{"s.upper() == 'HELLO'", "true", "", ""}, {"s.startswith('he') and s.endswith('lo')", "true", "", ""}, {"' a '.strip() == 'a'", "true", "", ""}, {"s.replace('l', 'L') == 'heLLo'", "true", "", ""},
	{"s.count('l') == 2", "true", "", ""}, {"'a b'.title() == 'A B'", "true", "", ""}, {"'-'.join(['a', 'b']) == 'a-b'", "true", "", ""}, {"len('a,b'.split(',')) == 2", "true", "", ""},
	{"'xax'.strip('x') == 'xax'", "true", "false", "arguments"}, {"s.startswith(1)", "true", "error", "arguments"}, {"'-'.join(['a', 1]) == 'a'", "true", "error", "arguments"},
	{"n.upper() == '42.0'", "true", "error", "texts"}, {"flag.upper() == 'TRUE'", "true", "error", "texts"}, {"nothing.strip() == ''", "true", "error", "texts"}, {"lst.upper()", "error", "", ""},
	{"s.system()", "error", "", ""}, {"s.encode()", "error", "", ""}, {"s.__class__", "error", "", ""}, {"__import__('os')", "error", "", ""}, {"obj.__x", "error", "false", "data"}, {"obj['__x']", "error", "false", "data"},
	{"obj['k'] == 'v'", "true", "", ""}, {"lst[1] == 'b'", "true", "", ""}, {"obj.deep.x == 1", "true", "", ""}, {"len(obj.list) == 2", "true", "", ""}, {"len(obj['k'].upper()) == 1", "true", "", ""},
	// What went wrong unseen.
	{"flag extra words", "true", "error", "left over"}, {"s == 'hello' == 'nope'", "true", "error", "left over"}, {"1 < 2 < 0", "true", "error", "left over"}, {"flag if s else z", "true", "error", "left over"},
	{"unknown_fn('x')", "false", "error", "unknown"}, {"(s) == 'hello'", "false", "true", "brackets"}, {"('a').upper() == 'A'", "false", "true", "brackets"}, {"1e3 == 1000", "true", "", ""},
	{"'{{s}}' == 'hello'", "false", "", ""}, {`'a\n' == 'an'`, "true", "false", "escapes"}, {`'\d' == 'd'`, "true", "error", "escapes"}, {"off and lst.upper()", "error", "false", "lazy"}, {"null", "false", "", "null"},
	// Bounds.
	{strings.Repeat("(", 30) + "flag" + strings.Repeat(")", 30), "true", "", ""}, {strings.Repeat("(", 33) + "flag" + strings.Repeat(")", 33), "error", "", ""},
	{strings.Repeat("off or ", 50) + "flag", "true", "", ""}, {"'" + strings.Repeat("x", 8200) + "'", "error", "", ""},
}

func TestConformance(t *testing.T) {
	used := map[string]bool{}
	for _, c := range conformance {
		want := c.older
		if c.ours != "" {
			want = c.ours
		}
		if (c.ours != "" || c.why != "") && differences[c.why] == "" {
			t.Errorf("%.60s: differs for no known reason %q", c.src, c.why)
		}
		used[c.why] = true
		if got := answer(c.src); got != want {
			t.Errorf("%.60s is %s, want %s", c.src, got, want)
		}
	}
	for why := range differences {
		if !used[why] {
			t.Errorf("the difference %q has no example", why)
		}
	}
}

func answer(src string) string {
	e, err := Parse(src)
	if err != nil {
		return "error"
	}
	switch v, err := e.Truth(look(vars())); {
	case err != nil:
		return "error"
	case v:
		return "true"
	}
	return "false"
}
