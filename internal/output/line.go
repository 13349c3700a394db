package output

import "strings"

// LastLine is the last line of what was printed, with at most that many characters.
func LastLine(text string, most int) string {
	text = strings.TrimSpace(text)
	last := []rune(strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:]))
	if len(last) > most {
		return string(last[:most]) + "…"
	}
	return string(last)
}
