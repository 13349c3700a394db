package recipe

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// sure tells of a script that is nothing but commands, words and double quotes
// that every reference in it is in such quotes: where nothing else quotes or
// ends a word, each " begins or ends a quote, so counting them is proof. Any
// other script has to be read once more to know.
func (m *marked) sure(nodes tour) bool {
	for _, n := range nodes {
		switch n.(type) {
		case nil, *syntax.File, *syntax.Stmt, *syntax.BinaryCmd, *syntax.CallExpr, *syntax.Word, *syntax.Lit, *syntax.DblQuoted:
		default:
			return false
		}
	}
	from, quoted := 0, false
	for i := range m.spots {
		sp := &m.spots[i]
		var plain bool
		if quoted, plain = quotesIn(m.text[from:sp.start], quoted); !plain {
			return false
		}
		if quoted && sp.form != formOpen || !quoted && sp.form != formQuoted {
			return false
		}
		from = sp.end
	}
	quoted, plain := quotesIn(m.text[from:], quoted)
	return plain && !quoted
}

// quotesIn follows the double quotes through a part of a script. It is not plain
// when it has a character that may mean something else there to some shell.
func quotesIn(text string, quoted bool) (open, plain bool) {
	for i := range len(text) {
		c := text[i]
		switch {
		case c == '"':
			quoted = !quoted
		case isAlnum(c), c == ' ', c == '\n', strings.IndexByte("_.,:=@%+-/", c) >= 0:
		case quoted && ' ' < c && c <= '~' && strings.IndexByte("$`\\", c) < 0:
		case !quoted && strings.IndexByte("|&;", c) >= 0:
		default:
			return quoted, false
		}
	}
	return quoted, true
}
