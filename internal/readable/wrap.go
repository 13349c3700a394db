package readable

import (
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// Wrap breaks a text at its blanks into lines of at most width places. A word that is
// longer than a line begins one, and is broken behind a slash or a dash where it has one.
func Wrap(text string, width int) []string {
	l := lines{width: width}
	for _, word := range strings.Fields(text) {
		l.add(" ", word)
	}
	return l.end()
}

// lines are lines in the making.
type lines struct {
	width int
	under int // how far lines after the first are indented
	full  []string
	now   string
	words int // of the line in the making
}

// add puts a word behind what is there. One that has no room there begins a line; one that
// has no room under the others, but in a line of its own, is indented by less.
func (l *lines) add(between, word string) {
	wide := seen(word)
	switch {
	case l.words == 0 && seen(l.now)+wide <= l.width:
		l.now += word
	case l.words > 0 && seen(l.now)+seen(between)+wide <= l.width:
		l.now += between + word
	default:
		if l.words > 0 {
			indent := l.under
			if wide <= l.width {
				indent = min(indent, l.width-wide)
			}
			l.next(indent)
		}
		if wide > l.width {
			word = l.pieces(word)
		}
		l.now += word
	}
	l.words++
}

// next ends the line in the making and begins another one.
func (l *lines) next(indent int) {
	l.full = append(l.full, strings.TrimRight(l.now, " "))
	l.now, l.words = strings.Repeat(" ", indent), 0
}

// pieces puts a word that no line can hold on several of them, and gives the rest.
func (l *lines) pieces(word string) string {
	if l.now == "" || strings.TrimLeft(l.now, " ") == "" {
		l.now = strings.Repeat(" ", min(len(l.now), l.under))
	}
	for seen(l.now)+seen(word) > l.width {
		head := displaywidth.TruncateString(word, max(l.width-seen(l.now), 1), "")
		if i := strings.LastIndexByte(head, '/'); i > 0 {
			head = head[:i+1]
		} else if i := strings.LastIndexByte(head, '-'); i > 0 {
			head = head[:i+1]
		}
		if head == "" { // one sign that is wider than the line
			break
		}
		l.now, word = l.now+head, word[len(head):]
		l.next(l.under)
	}
	return word
}

func (l *lines) end() []string {
	if l.words > 0 || len(l.full) == 0 {
		return append(l.full, l.now)
	}
	return l.full
}

// Hang breaks a line that is wider than a terminal at its blanks; what follows the first
// line stands under that place. What comes before the break keeps its blanks. A width of 0
// breaks nothing.
func Hang(line string, width, under int) []string {
	if width <= 0 || seen(line) <= width {
		return []string{line}
	}
	l := lines{width: width, under: min(under, width/2)}
	bare := strings.TrimLeft(line, " ")
	l.now = line[:len(line)-len(bare)]
	for gap := ""; bare != ""; {
		word, rest, _ := strings.Cut(bare, " ")
		l.add(gap, word)
		bare = strings.TrimLeft(rest, " ")
		if gap = " "; len(l.full) == 0 {
			gap += strings.Repeat(" ", len(rest)-len(bare))
		}
	}
	return l.end()
}

// Paragraphs are the lines of a text that was written for a wider terminal: those of a
// paragraph are broken anew, and those that are indented stay as they are.
func Paragraphs(text string, width int) []string {
	var list, now []string
	wide := false
	end := func() {
		if wide {
			now = Wrap(strings.Join(now, " "), width)
		}
		list, now, wide = append(list, now...), nil, false
	}
	for line := range strings.SplitSeq(text, "\n") {
		if line == "" || line[0] == ' ' {
			end()
			list = append(list, line)
			continue
		}
		now, wide = append(now, line), wide || width > 0 && Width(line) > width
	}
	end()
	return list
}

// Fold breaks a line for people that is wider than their terminal. What follows the first
// line stands under the last column that begins far enough to the left, or behind what the
// line begins with: a mark or a word with a colon. A comment behind a command stays one.
func Fold(line string, width int) []string {
	if width <= 0 || seen(line) <= width {
		return []string{line}
	}
	command, comment := commented(line)
	if comment == "" {
		return Hang(line, width, column(line, width))
	}
	under := column(command, width)
	list := Hang(command, width, under)
	for _, l := range Wrap(comment, width-under-len("# ")) {
		list = append(list, strings.Repeat(" ", under)+"# "+l)
	}
	return list
}

// least is how much room a text wants behind the columns before it.
const least = 32

// column is where the lines after the first begin.
func column(line string, width int) int {
	bare := strings.TrimLeft(line, " ")
	under := len(line) - len(bare)
	switch word, text, _ := strings.Cut(bare, " "); {
	case text == "":
	case word == "-", word == "»", word == "✓", word == "✗", strings.HasSuffix(word, ":") && len(word) < 10:
		under += seen(word) + 1
	default:
		under += 2
	}
	for at := len(line) - len(bare); ; {
		gap := strings.Index(line[at:], "  ")
		if gap < 0 {
			return min(under, width/2)
		}
		at += gap
		at += len(line[at:]) - len(strings.TrimLeft(line[at:], " "))
		if took, _, ok := strings.Cut(line[at:], " · "); ok && len(took) < 8 && !strings.Contains(took, " ") {
			at += len(took) + len(" · ")
		}
		if place := seen(line[:at]); place > width-least {
			return min(under, width/2)
		} else if at > len(line)-len(bare) {
			under = place
		}
	}
}

// commented is a command and the comment behind it.
func commented(line string) (command, comment string) {
	for at := 0; at < len(line); {
		if text, ok := strings.CutPrefix(line[at:], "# "); ok && at > 2 && line[at-2:at] == "  " {
			return strings.TrimRight(line[:at], " "), text
		}
		at += max(len(firstWord(line[at:])), 1)
	}
	return line, ""
}

// Continued breaks a command that is wider than a terminal at blanks outside of quotes, so
// that it can still be copied: each line but the last ends in a backslash, and a comment
// stands above it. A width of 0 breaks nothing.
func Continued(line string, width int) []string {
	if width <= 0 || Width(line) <= width {
		return []string{line}
	}
	command, comment := commented(line)
	bare := strings.TrimLeft(command, " ")
	indent := command[:len(command)-len(bare)]
	var list []string
	if comment != "" {
		for _, l := range Wrap(comment, width-len(indent)-len("# ")) {
			list = append(list, indent+"# "+l)
		}
	}
	if Width(command) <= width {
		return append(list, command)
	}
	for now := indent; bare != ""; {
		word := firstWord(bare)
		bare = strings.TrimLeft(bare[len(word):], " ")
		switch {
		case now == indent || now == indent+"  ":
			now += word
		case Width(now)+1+Width(word) <= width-2: // there is room for a backslash
			now += " " + word
		default:
			list, now = append(list, now+" \\"), indent+"  "+word
		}
		if bare == "" {
			list = append(list, now)
		}
	}
	return list
}

// FoldTyped is Fold for a line that ends in a command to be typed, behind a label: where the
// command is broken it can still be copied, and its comment stands below it. A sentence with
// commands in it, which has a comma, is broken as any other line.
func FoldTyped(line string, width int) []string {
	command, comment := commented(line)
	if width <= 0 || Width(command) <= width || isSentence(command) {
		return Fold(line, width)
	}
	list := Continued(command, width)
	if comment != "" {
		for _, l := range Wrap(comment, width-len("  # ")) {
			list = append(list, "  # "+l)
		}
	}
	return list
}

// isSentence tells whether a word of a line, which may be in quotes, ends with a comma.
func isSentence(line string) bool {
	for line != "" {
		word := firstWord(line)
		if strings.HasSuffix(word, ",") {
			return true
		}
		line = strings.TrimLeft(line[len(word):], " ")
	}
	return false
}

// firstWord is what a shell takes for one word: blanks in quotes do not end it.
func firstWord(s string) string {
	quote := byte(0)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == ' ':
			return s[:i]
		}
	}
	return s
}

// seen is the width of a text in which words may be coloured.
func seen(s string) int {
	if strings.IndexByte(s, 0x1b) < 0 {
		return Width(s)
	}
	for _, code := range ownCodes {
		s = strings.ReplaceAll(s, code, "")
	}
	return Width(s)
}
