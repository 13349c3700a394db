package expr

import (
	"encoding/json"
	"strings"
	"testing"
)

// Whole numbers keep all their digits, wherever they come from.
func TestExactNumbers(t *testing.T) {
	m := map[string]any{
		"id": json.Number("9007199254740993"), "near": json.Number("9007199254740992"), "same": json.Number("9007199254740993.0"),
		"rounded": 9007199254740992.0, "tenth": 0.1, "ids": []any{json.Number("9007199254740993")}, "text": "9007199254740993",
		"huge": json.Number(strings.Repeat("9", 5000)), "ver": json.Number("1.10"), "zero": json.Number("-0.0"), "tiny": json.Number("1e-999"),
	}
	for src, want := range map[string]string{
		"9007199254740993 == 9007199254740992": "false", "9007199254740993 > 9007199254740992": "true",
		"id == near": "false", "id == same": "true", "id > rounded": "true", "near == rounded": "true", "id == text": "true", "near == text": "false", "near < text": "true",
		"id in ids": "true", "near in ids": "false", "ids == [9007199254740993]": "true", "ids == [9007199254740992]": "false",
		"9007199254740992.5 < 9007199254740993": "true", "9007199254740992.5 > near": "true", "-9007199254740993 < -9007199254740992": "true",
		"tenth == 0.1": "true", "0.1 == '0.10'": "true", "1e3 == 1000": "true", "1e-3 == 0.001": "true", "100 == 1e2": "true", "-0.0 == 0": "true", "-1 < 0": "true", "0 < 1e-300": "true",
		"2 < 10": "true", "0.2 > 0.10": "true", "-2 > -10": "true", "-0.5 < 0.25": "true", "1e308 > 1e307": "true",
		"int('9007199254740993')": "9007199254740993", "int(9007199254740993.75)": "9007199254740993", "int(-0.5)": "0", "int('1e3')": "1000", "int(id)": "9007199254740993",
		"float('9007199254740993')": "9007199254740993", "float('007.50')": "7.5", "float('-00.5e-3')": "-0.5e-3", "float(true)": "1",
		"str(9007199254740993)": `"9007199254740993"`, "str(id)": `"9007199254740993"`, "str(ver)": `"1.10"`, "str(1.50)": `"1.5"`, "str(ids)": `"[9007199254740993]"`,
		"max(id, near)": "9007199254740993", "007": "7", "1e21": "1e21", "2.50e3": "2500", "id": "9007199254740993", "-12": "-12",
		"huge > 1": "true", "huge == huge": "true", "bool(zero)": "false", "bool(tiny)": "true", "[1, 2][1e0]": "2", "len('abc') == 3.0": "true",
	} {
		e, err := Parse(src)
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		if got, err := e.Eval(look(m)); err != nil || jsonOf(got) != want {
			t.Errorf("%s is %s, %v; want %s", src, jsonOf(got), err, want)
		}
	}
}

// A number of thousands of digits is refused, not worked on.
func TestNumbersAreBounded(t *testing.T) {
	long := strings.Repeat("9", MaxDigits+1)
	m := map[string]any{"long": json.Number(long), "text": long, "far": json.Number("1e999999999999999999999"), "near": json.Number("-1e-999999999999999999999")}
	for src, want := range map[string]string{
		long:            "col 1: the number has 401 characters, at most 400 are allowed",
		"1 == -" + long: "col 6: the number has 402 characters, at most 400 are allowed",
		long[:350]:      "col 1: the number " + long[:350] + " is too large",
		"int(text)":     "col 1: the number has 401 characters, at most 400 are allowed",
		"int(long)":     "col 1: the number has 401 digits, at most 400 are allowed",
		"int('1e900')":  "col 1: the number has 901 digits, at most 400 are allowed",
	} {
		e, err := Parse(src)
		if err == nil {
			_, err = e.Eval(look(m))
		}
		if err == nil || err.Error() != want {
			t.Errorf("%.40s: %v, want %s", src, err, want)
		}
	}
	e, err := Parse("far > long and near < 0 and int(near) == 0")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := e.Truth(look(m)); err != nil || !got {
		t.Errorf("%s is %v, %v", e, got, err)
	}
	if text, err := ParseText("{{x | default(9007199254740993)}}"); err != nil {
		t.Error(err)
	} else if got, err := text.Render(look(nil)); err != nil || got != "9007199254740993" {
		t.Errorf("a default of many digits is %s, %v", got, err)
	}
}
