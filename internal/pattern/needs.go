package pattern

import (
	"regexp/syntax"
	"unicode"
)

// maxWords bounds what is known about one expression.
const maxWords = 24

// needs are words of which one is in every text that an expression matches,
// folded; none when that cannot be told.
func needs(expr string) []string {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil // who tries it will say so
	}
	return needsOf(re)
}

func needsOf(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpCapture, syntax.OpPlus:
		return needsOf(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return needsOf(re.Sub[0])
		}
		return nil
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			words := needsOf(sub)
			if words == nil || len(all)+len(words) > maxWords {
				return nil
			}
			all = append(all, words...)
		}
		return all
	case syntax.OpConcat:
		return needsOfRow(re.Sub)
	case syntax.OpNoMatch, syntax.OpAnyCharNotNL, syntax.OpAnyChar, syntax.OpStar, syntax.OpQuest:
		return nil
	case syntax.OpEmptyMatch, syntax.OpLiteral, syntax.OpCharClass, syntax.OpBeginLine, syntax.OpEndLine,
		syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
	}
	return useful(exactly(re))
}

// needsOfRow chooses the best of the parts that follow each other. Neighbours of
// which all texts are known are taken together.
func needsOfRow(row []*syntax.Regexp) []string {
	var best []string
	run := []string{""}
	for _, sub := range row {
		if texts := exactly(sub); texts != nil && len(run)*len(texts) <= maxWords {
			run = product(run, texts)
			continue
		}
		best = better(better(best, useful(run)), needsOf(sub))
		run = []string{""}
	}
	return better(best, useful(run))
}

// exactly is all texts that an expression can match, folded; nil when they are
// too many or not of ASCII.
func exactly(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return []string{""}
	case syntax.OpCapture:
		return exactly(re.Sub[0])
	case syntax.OpQuest:
		if texts := exactly(re.Sub[0]); texts != nil {
			return append([]string{""}, texts...)
		}
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			if r > unicode.MaxASCII {
				return nil
			}
		}
		return []string{fold(string(re.Rune))}
	case syntax.OpCharClass:
		return members(re.Rune)
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			texts := exactly(sub)
			if texts == nil || len(all)+len(texts) > maxWords {
				return nil
			}
			all = append(all, texts...)
		}
		return all
	case syntax.OpConcat:
		all := []string{""}
		for _, sub := range re.Sub {
			texts := exactly(sub)
			if texts == nil || len(all)*len(texts) > maxWords {
				return nil
			}
			all = product(all, texts)
		}
		return all
	case syntax.OpNoMatch, syntax.OpAnyCharNotNL, syntax.OpAnyChar, syntax.OpStar, syntax.OpPlus, syntax.OpRepeat:
	}
	return nil
}

// members are the letters of a small class.
func members(ranges []rune) []string {
	var all []string
	for i := 0; i+1 < len(ranges); i += 2 {
		lo, hi := ranges[i], ranges[i+1]
		if hi > unicode.MaxASCII && lo != hi || hi-lo > 3 || len(all) > 6 {
			return nil
		}
		for r := lo; r <= hi; r++ {
			text := fold(string(r))
			if text[0] > unicode.MaxASCII {
				return nil
			}
			all = append(all, text)
		}
	}
	return all
}

func product(a, b []string) []string {
	var all []string
	for _, x := range a {
		for _, y := range b {
			all = append(all, x+y)
		}
	}
	return all
}

// useful is nothing when one of the words is empty: every text has that one.
func useful(words []string) []string {
	if shortest(words) == 0 {
		return nil
	}
	return words
}

// better is the list whose shortest word is the longer one.
func better(a, b []string) []string {
	if shortest(b) > shortest(a) {
		return b
	}
	return a
}

// shortest is the length of the shortest word; 0 when there is none.
func shortest(words []string) int {
	least := 0
	for i, w := range words {
		if i == 0 || len(w) < least {
			least = len(w)
		}
	}
	return least
}
