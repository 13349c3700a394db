package recipe

import (
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// place knows where the lines of a scalar's value stand in the source, as
// exactly as the way it is written allows.
type place struct {
	whole Pos // of the scalar
	first Pos // of the value's first character; zero when its lines are not those of the source
	rows  int // how many lines may be asked for
}

// place is looked up once for each script, so that a script with many
// placeholders is not searched for every one of them.
func (s *source) place(n *yaml.Node) place {
	pl := place{whole: posOf(n)}
	switch {
	case n.Style&yaml.LiteralStyle != 0:
		pl.block(s, n)
	case n.Style&yaml.FoldedStyle != 0: // its line breaks are not those of the value
	case n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0:
		pl.line(s, n, n.Column+1)
	default:
		pl.line(s, n, n.Column)
	}
	return pl
}

// block finds the indentation of a block whose lines are kept: that of its
// first line that has something in it.
func (pl *place) block(s *source, n *yaml.Node) {
	row, rest := 0, n.Value
	for rest != "" {
		line, after, _ := strings.Cut(rest, "\n")
		if strings.TrimSpace(line) != "" {
			if text := s.line(n.Line + 1 + row); strings.HasSuffix(text, line) {
				pl.first, pl.rows = Pos{n.Line + 1, 1 + utf8.RuneCountInString(text[:len(text)-len(line)])}, 1<<30
			}
			return
		}
		row, rest = row+1, after
	}
}

func (pl *place) line(s *source, n *yaml.Node, col int) {
	rest := s.line(n.Line)
	for ; col > 1 && rest != ""; col-- {
		_, size := utf8.DecodeRuneInString(rest)
		rest = rest[size:]
		pl.first.Col++
	}
	if strings.HasPrefix(rest, n.Value) {
		pl.first, pl.rows = Pos{n.Line, pl.first.Col + 1}, 1
		return
	}
	pl.first = Pos{} // written with escapes or over several lines
}

// at is the position in the source of a position in the value.
func (pl place) at(p Pos) Pos {
	if pl.first.Line == 0 || p.Line < 1 || p.Line > pl.rows {
		return pl.whole
	}
	return Pos{pl.first.Line + p.Line - 1, pl.first.Col + p.Col - 1}
}
