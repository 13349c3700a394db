package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// maxName leaves room for an extension below the 255 bytes of most file systems.
const maxName = 200

// fileName is a name that no other text maps to and that people can read. A
// text of plain lower-case parts keeps its letters, with '+' for '/' and '='
// for ':'; any other one (long, upper case on a disk that folds case, odd
// bytes, a leading dot or dash) gets a digest behind what can be kept of it.
func fileName(text, ext string) string {
	plain := len(text) > 0 && len(text) <= maxName && text[0] != '.' && text[0] != '-'
	var b strings.Builder
	for i := range len(text) {
		c := text[i]
		switch {
		case c == '/':
			b.WriteByte('+')
		case c == ':':
			b.WriteByte('=')
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '.', c == '_', c == '-', c == '@':
			b.WriteByte(c)
		case 'A' <= c && c <= 'Z':
			plain = false
			b.WriteByte(c)
		default:
			plain = false
			b.WriteByte('_')
		}
	}
	if plain {
		return b.String() + ext
	}
	sum := sha256.Sum256([]byte(text))
	kept := strings.TrimLeft(b.String(), ".-")
	if len(kept) > maxName-40 {
		kept = kept[:maxName-40]
	}
	return kept + "~" + hex.EncodeToString(sum[:16]) + ext
}
