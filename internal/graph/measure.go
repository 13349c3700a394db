package graph

import (
	"strings"
	"unicode"
)

// textWide is about how many pixels a text takes in a wide common font of a
// size, rounded up to an even number so that boxes have a middle.
func textWide(s string, size int) int {
	sum := 0
	for _, r := range s {
		sum += charWide(r)
	}
	return (sum*size/1000 + 2) / 2 * 2
}

// charWide is the width of a letter in thousandths of the size of its font.
func charWide(r rune) int {
	switch {
	case unicode.Is(unicode.Mn, r):
		return 0 // it stands above or below another one
	case r >= 0x1100 && unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana), r >= 0x1f000, r >= 0xff00 && r <= 0xff60:
		return 1050
	case strings.ContainsRune("ijl|!'.,:;I[]()/ft ·", r):
		return 400
	case strings.ContainsRune("mwMW@%", r):
		return 1000
	case unicode.IsUpper(r):
		return 730
	}
	return 640
}
