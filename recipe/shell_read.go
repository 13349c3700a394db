package recipe

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// bash reads scripts, one after the other. Its parser and its buffers are dear:
// one serves all scripts of a recipe, and what it gives holds until it reads the
// next.
type bash struct {
	parser *syntax.Parser
	text   strings.Reader
	tour   tour
	stack  []setting
	roles  map[syntax.Node]func(*setting)
}

func newBash() *bash {
	return &bash{
		parser: syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)),
		stack:  make([]setting, 0, 64),
		roles:  map[syntax.Node]func(*setting){},
	}
}

// read parses a text.
func (b *bash) read(text string) (tour, error) {
	b.text.Reset(text)
	file, err := b.parser.Parse(&b.text, "")
	if err != nil {
		return nil, fmt.Errorf("parse script: %w", err)
	}
	b.tour = b.tour[:0]
	syntax.Walk(file, func(n syntax.Node) bool {
		b.tour = append(b.tour, n)
		return true
	})
	return b.tour, nil
}

// tour has the nodes of a script in the order of a walk through it, the file
// first; a nil ends the last node that has not ended. Several look through a
// script, and the walk itself takes most of the time.
type tour []syntax.Node

// visit goes through a script as syntax.Walk does: what see refuses is passed
// over. (A comment behind a statement comes after the end of that, and stays.)
func (t tour) visit(see func(syntax.Node) bool) {
	for i := 0; i < len(t); i++ {
		if see(t[i]) {
			continue
		}
		for open := 1; open > 0; {
			if i++; t[i] == nil {
				open--
			} else {
				open++
			}
		}
	}
}
