package verdict

import (
	"slices"
	"strings"
)

// What follows does by hand what regular expressions would do a hundred times
// slower; the test has those, and holds one against the other.

// hasDir tells whether there may be a place in a text: a slash that does not
// stand inside of a word.
func hasDir(text string) bool {
	for i := range len(text) {
		if c := text[i]; (c == '/' || c == '\\') && (i == 0 || strings.IndexByte(" \t\n\f\r\"'(=:~", text[i-1]) >= 0) {
			return true
		}
	}
	return false
}

// plainWords is a text of which every id, number and time is gone, with single
// spaces between the rest.
func plainWords(text string) string {
	b := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		n, ok := 1, isGap(text[i])
		switch {
		case isWord(text[i]):
			n = wordLen(text[i:])
			if ok = varies(text[i : i+n]); !ok {
				b, n = appendWord(b, text, i, n)
			}
		case !ok:
			b = append(b, text[i])
		}
		if ok {
			b = appendGap(b)
		}
		i += n
	}
	return strings.TrimSpace(string(b))
}

// appendWord adds a word without the numbers in it, and says how far it went: a
// number may go on in the next one.
func appendWord(b []byte, text string, from, n int) ([]byte, int) {
	i := from
	for end := from + n; i < end; {
		if !isDigit(text[i]) {
			b = append(b, text[i])
			i++
			continue
		}
		b = appendGap(b)
		i += numberLen(text[i:])
		end = i + wordLen(text[i:])
	}
	return b, i - from
}

// numberLen is the length of the number at the beginning of a text, with its unit.
func numberLen(text string) int {
	n := 0
	for {
		for n < len(text) && isDigit(text[n]) {
			n++
		}
		if n+1 >= len(text) || strings.IndexByte(".:,", text[n]) < 0 || !isDigit(text[n+1]) ||
			varies(text[n+1:n+1+wordLen(text[n+1:])]) {
			break
		}
		n++
	}
	unit := wordLen(text[n:])
	if strings.HasPrefix(text[n:], "µs") {
		unit = len("µs")
		if n+unit < len(text) && isWord(text[n+unit]) {
			return n
		}
		return n + unit
	}
	if slices.Contains(units, text[n:n+unit]) {
		return n + unit
	}
	return n
}

var units = strings.Fields("st nd rd th ns us ms s m h d kb mb gb tb kib mib gib tib")

// varies tells whether a whole word is another one in the next run: an id, a
// hexadecimal number, a day or a month.
func varies(word string) bool {
	digit, hexLetter, other, bar := false, false, false, -1
	for i := range len(word) {
		switch c := word[i]; {
		case isDigit(c):
			digit = true
		case 'a' <= c && c <= 'f':
			hexLetter = true
		case c == '_' && bar >= 0:
			return false
		case c == '_':
			bar = i
		default:
			other = true
		}
	}
	switch {
	case bar >= 0:
		return bar > 0 && onlyLetters(word[:bar]) && strings.ContainsAny(word[bar:], "0123456789")
	case !other && digit:
		return hexLetter
	case digit:
		return isHexNumber(word)
	}
	return isTime(word)
}

func isHexNumber(word string) bool {
	rest, ok := strings.CutPrefix(word, "0x")
	if !ok || rest == "" {
		return false
	}
	for i := range len(rest) {
		if !isDigit(rest[i]) && (rest[i] < 'a' || rest[i] > 'f') {
			return false
		}
	}
	return true
}

// isTime knows the words of dates by their first letters.
func isTime(word string) bool {
	if !onlyLetters(word) {
		return false
	}
	switch word {
	case "am", "pm", "utc", "gmt", "z":
		return true
	}
	return len(word) >= 3 && slices.Contains(times, word[:3])
}

var times = strings.Fields("mon tue wed thu fri sat sun jan feb mar apr may jun jul aug sep oct nov dec")

func onlyLetters(s string) bool {
	for i := range len(s) {
		if s[i] < 'a' || s[i] > 'z' {
			return false
		}
	}
	return true
}

// appendGap adds a space, unless there is one.
func appendGap(b []byte) []byte {
	if len(b) > 0 && b[len(b)-1] == ' ' {
		return b
	}
	return append(b, ' ')
}

func isGap(c byte) bool { return strings.IndexByte(" \t\n\f\r#", c) >= 0 }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isWord(c byte) bool {
	return isDigit(c) || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_'
}

// wordLen is the length of the word at the beginning of a text.
func wordLen(text string) int {
	n := 0
	for n < len(text) && isWord(text[n]) {
		n++
	}
	return n
}
