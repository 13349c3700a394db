package recipe

import (
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// place knows where the characters of a scalar's value stand in the source,
// however it is written: in a block, folded, in quotes, with escapes.
type place struct {
	whole  Pos    // of the scalar
	value  string // as it is read
	old    original
	pieces []piece // by place; none when the value is not found in the source
}

// place is looked up once for each text, so that one with many placeholders is
// not searched for every one of them.
func (s *source) place(n *yaml.Node) place {
	return place{whole: posOf(n), value: n.Value, old: s.originals[n], pieces: trace(s, n)}
}

// inside is the position of character col of a scalar's value.
func (s *source) inside(n *yaml.Node, col int) Pos {
	return s.place(n).after(0, col-1)
}

// at is the position in the source of a position in the value.
func (pl place) at(p Pos) Pos {
	from := 0
	for line := 1; line < p.Line; line++ {
		n := strings.IndexByte(pl.value[from:], '\n')
		if n < 0 {
			return pl.whole
		}
		from += n + 1
	}
	return pl.after(from, p.Col-1)
}

// after is the position of the character that comes n characters after the byte
// at offset from.
func (pl place) after(from, n int) Pos {
	for ; n > 0 && from < len(pl.value); n-- {
		_, size := utf8.DecodeRuneInString(pl.value[from:])
		from += size
	}
	if n != 0 {
		return pl.whole
	}
	return pl.offset(from)
}

// offset is the position of the byte of the value at an offset.
func (pl place) offset(i int) Pos {
	i = pl.old.offset(i)
	k, found := slices.BinarySearchFunc(pl.pieces, i, func(p piece, i int) int { return p.value - i })
	if !found {
		k--
	}
	if k < 0 {
		return pl.whole
	}
	p := pl.pieces[k]
	value := pl.value
	if pl.old.value != "" {
		value = pl.old.value
	}
	return Pos{p.at.Line, p.at.Col + utf8.RuneCountInString(value[p.value:p.value+min(i-p.value, p.length)])}
}
