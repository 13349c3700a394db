package worktree

import (
	"errors"
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

const (
	maxScript   = 256 << 10 // bytes of a script that is parsed
	maxBrackets = 200       // open inside each other in it
)

// errBroken says that a reader broke on a script: nobody knows what it does.
var errBroken = errors.New("the reader broke")

// parse is the only door to the parser of shell scripts, and to those who walk
// over what it found. The scripts come from agents, and whoever breaks on one
// must not take the supervisor of the agent along: what nobody can read is
// told as an error.
func parse(script string, use func(*syntax.File)) (err error) {
	if len(script) > maxScript || tooDeep(script) {
		return errors.New("too much to read")
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errBroken, p)
		}
	}()
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(script), "")
	if err != nil {
		return fmt.Errorf("parse a script: %w", err)
	}
	use(file)
	return nil
}

// tooDeep tells whether a text has more brackets open than a parser that calls
// itself should follow.
func tooDeep(text string) bool {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '(', '{', '[':
			depth++
		case ')', '}', ']':
			depth = max(0, depth-1)
		}
		if depth > maxBrackets {
			return true
		}
	}
	return false
}
