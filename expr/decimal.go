package expr

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
)

// MaxDigits is how many characters a number has that is written in an
// expression or made by int(): more than any float has digits before its point.
const MaxDigits = 400

// decimal is a number with all its digits: 0.digits times ten to the power of
// point. The digits neither begin nor end with 0, so that equal numbers are
// equal decimals; zero has none. Numbers are compared as they are written, in
// time that grows with their length, and never rounded.
type decimal struct {
	neg    bool
	digits string
	point  int
}

// farPoint is beyond every exponent that anybody writes.
const farPoint = 1 << 30

// decimalOf reads a text of which numberLen says that it is a number.
func decimalOf(text string) decimal {
	text, neg := strings.CutPrefix(text, "-")
	exponent := 0
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		exponent = exponentOf(text[i+1:])
		text = text[:i]
	}
	whole, part, _ := strings.Cut(text, ".")
	digits := strings.TrimLeft(whole+part, "0")
	if digits == "" {
		return decimal{}
	}
	point := len(digits) - len(part) + exponent
	return decimal{neg: neg, digits: strings.TrimRight(digits, "0"), point: point}
}

func exponentOf(text string) int {
	n, err := strconv.Atoi(text)
	switch {
	case err != nil && text[0] == '-', n < -farPoint:
		return -farPoint
	case err != nil, n > farPoint:
		return farPoint
	}
	return n
}

func (d decimal) sign() int {
	switch {
	case d.digits == "":
		return 0
	case d.neg:
		return -1
	}
	return 1
}

func (d decimal) compare(e decimal) int {
	if c := cmp.Compare(d.sign(), e.sign()); c != 0 || d.digits == "" {
		return c
	}
	c := cmp.Or(cmp.Compare(d.point, e.point), strings.Compare(d.digits, e.digits))
	return c * d.sign()
}

// isWhole tells whether there is nothing behind the point.
func (d decimal) isWhole() bool { return d.digits == "" || len(d.digits) <= d.point }

// whole is the number without what is behind its point, as it is written; false
// when it has too many digits.
func (d decimal) whole() (json.Number, bool) {
	if d.digits == "" || d.point <= 0 {
		return "0", true
	}
	if d.point > MaxDigits {
		return "", false
	}
	text := d.digits[:min(len(d.digits), d.point)] + strings.Repeat("0", max(d.point-len(d.digits), 0))
	if d.neg {
		text = "-" + text
	}
	return json.Number(text), true
}

// literal is the value of a number in an expression: 1e3 and 1000.0 are 1000.
func literal(text string) json.Number {
	d := decimalOf(text)
	exponent := ""
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		text, exponent = text[:i], text[i:]
	}
	if n, ok := d.whole(); ok && d.isWhole() && (exponent == "" || d.point <= 21) {
		return n
	}
	text, neg := strings.CutPrefix(text, "-")
	whole, part, point := strings.Cut(text, ".")
	text = strings.TrimLeft(whole, "0")
	if text == "" {
		text = "0" // JSON wants it
	}
	if part = strings.TrimRight(part, "0"); point && part != "" {
		text += "." + part
	}
	if neg {
		text = "-" + text
	}
	return json.Number(text + exponent)
}

// count is a number that the language itself has counted.
func count(n int) json.Number { return json.Number(strconv.Itoa(n)) }

// number gives the digits of a value that is a number. One that was rounded
// before it came here counts as what is shown of it.
func number(v any) (decimal, bool) {
	switch v := v.(type) {
	case json.Number:
		return numeric(string(v))
	case float64:
		return numeric(strconv.FormatFloat(v, 'g', -1, 64))
	}
	return decimal{}, false
}

// numeric reads a text that is a number and nothing else.
func numeric(s string) (decimal, bool) {
	if s == "" || numberLen(s) != len(s) {
		return decimal{}, false
	}
	return decimalOf(s), true
}
