package worktree

import "strings"

// simple is one simple command of a shell line.
type simple struct {
	words []string
	after string // what joins it to the next: && || | & ; ) or "" at the end
}

// split cuts a shell command into simple ones. It is made for commands that
// others wrote and that may be cut short: it knows quotes, comments,
// redirections and here-documents, and it never fails. What is inside $( ) or
// backquotes stays part of its word.
func split(command string) []simple {
	l := &lexer{rest: command}
	for l.rest != "" {
		l.step()
	}
	l.end("")
	return l.list
}

type lexer struct {
	rest string
	list []simple
	now  []string // words of the command at hand
	word strings.Builder
	open bool     // a word has begun, perhaps with nothing in it yet
	skip bool     // the next word is where a redirection goes
	doc  bool     // the next word ends a here-document
	docs []string // here-documents that begin with the next line
}

// take cuts n bytes off the front.
func (l *lexer) take(n int) string {
	s := l.rest[:n]
	l.rest = l.rest[n:]
	return s
}

// add puts text into the word at hand.
func (l *lexer) add(s string) {
	l.open = true
	l.word.WriteString(s)
}

// flush ends the word at hand.
func (l *lexer) flush() {
	if !l.open {
		return
	}
	w := l.word.String()
	l.word.Reset()
	l.open = false
	switch {
	case l.doc:
		l.docs = append(l.docs, w)
		l.doc = false
	case l.skip:
		l.skip = false
	default:
		l.now = append(l.now, w)
	}
}

// end ends the command at hand.
func (l *lexer) end(after string) {
	l.flush()
	l.skip = false
	if len(l.now) > 0 {
		l.list = append(l.list, simple{l.now, after})
		l.now = nil
		return
	}
	if n := len(l.list); n > 0 && (after == "&&" || after == "||" || after == "|" || after == "&") {
		l.list[n-1].after = after // behind a closing bracket
	}
}

func (l *lexer) step() {
	switch c := l.rest[0]; c {
	case ' ', '\t', '\r':
		l.take(1)
		l.flush()
	case '\n':
		l.take(1)
		l.end(";")
		l.documents()
	case '\\':
		if n := min(2, len(l.rest)); l.rest[:n] == "\\\n" {
			l.take(n)
		} else {
			l.add(l.take(n)[1:])
		}
	case '\'', '"':
		l.quote(c)
	case '`':
		l.add(l.take(1 + closing(l.rest[1:], '`')))
	case '#':
		if l.open {
			l.add(l.take(1))
			return
		}
		l.take(len(l.rest) - len(strings.TrimLeftFunc(l.rest, func(r rune) bool { return r != '\n' })))
	case '$':
		l.dollar()
	case '<', '>':
		l.redirect()
	case '&', '|', ';', '(', ')':
		l.operator()
	default:
		l.add(l.take(1))
	}
}

// quote takes a quoted text.
func (l *lexer) quote(c byte) {
	l.take(1)
	n := closing(l.rest, c)
	text := strings.TrimSuffix(l.take(n), string(c))
	if c == '"' {
		text = strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\$`, `$`, "\\`", "`", "\\\n", "").Replace(text)
	}
	l.add(text)
}

// closing is the length of text up to and with the closing mark, or all of it.
func closing(text string, mark byte) int {
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && mark != '\'':
			i++
		case text[i] == mark:
			return i + 1
		}
	}
	return len(text)
}

// dollar takes a substitution as a part of its word.
func (l *lexer) dollar() {
	if !strings.HasPrefix(l.rest, "$(") {
		l.add(l.take(1))
		return
	}
	depth := 0
	for i := range len(l.rest) {
		switch l.rest[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				l.add(l.take(i + 1))
				return
			}
		}
	}
	l.add(l.take(len(l.rest)))
}

// redirect takes a redirection; what it goes to is no word of the command.
func (l *lexer) redirect() {
	if w := l.word.String(); l.open && strings.Trim(w, "0123456789") == "" { // 2>
		l.word.Reset()
		l.open = false
	}
	l.flush()
	n := 0
	for n < len(l.rest) && strings.IndexByte("<>&|-", l.rest[n]) >= 0 {
		n++
	}
	switch op := l.take(n); {
	case op == "<<" || op == "<<-":
		l.doc = true
	case strings.HasSuffix(op, "-") && strings.Contains(op, "&"): // closes
	default:
		l.skip = true
	}
}

// documents leaves out the here-documents that begin here.
func (l *lexer) documents() {
	for _, mark := range l.docs {
		for l.rest != "" {
			line, _, found := strings.Cut(l.rest, "\n")
			n := len(line)
			if found {
				n++
			}
			l.take(n)
			if strings.TrimLeft(line, "\t") == mark {
				break
			}
		}
	}
	l.docs = nil
}

// operator takes what stands between two commands.
func (l *lexer) operator() {
	for _, op := range []string{"&>>", "&>"} {
		if strings.HasPrefix(l.rest, op) {
			l.take(len(op))
			l.flush()
			l.skip = true
			return
		}
	}
	for _, op := range []string{"&&", "||", "|&", ";;", "&", "|", ";", "(", ")"} {
		if !strings.HasPrefix(l.rest, op) {
			continue
		}
		l.take(len(op))
		switch op {
		case "|&":
			op = "|"
		case ";;":
			op = ";"
		}
		if op == "(" {
			l.flush() // a subshell, or the pattern of a case: its commands count all the same
			return
		}
		l.end(op)
		return
	}
}
