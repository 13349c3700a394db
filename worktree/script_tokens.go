package worktree

import (
	"regexp"
	"strings"
)

// maxPattern is how long a regular expression of a program may be.
const maxPattern = 2000

// tongue is what must be known of a language to cut its programs into tokens.
type tongue struct {
	hash, slashes, dashes bool // how comments begin
	triple                bool // three quotes hold a text of many lines
	lines                 bool // any quotes do, and here-documents
	ticks                 bool // backquotes hold a command for a shell
	regexes               bool // a pattern may stand between slashes
	bare                  bool // a name may stand without quotes: qw(a.txt b.txt)
	perl                  bool
}

// tongueOf is the tongue of a program that runs others in its language.
func tongueOf(name string) (tongue, bool) {
	switch strings.TrimRight(name, "0123456789.") {
	case "python":
		return tongue{hash: true, triple: true}, true
	case "node", "nodejs", "deno", "bun", "tsx":
		return tongue{slashes: true, regexes: true}, true
	case "ruby", "perl":
		return tongue{hash: true, lines: true, ticks: true, regexes: true, bare: true, perl: name[0] == 'p'}, true
	case "php":
		return tongue{hash: true, slashes: true, lines: true, ticks: true}, true
	case "lua":
		return tongue{dashes: true}, true
	case "Rscript", "julia":
		return tongue{hash: true, triple: true, lines: true}, true
	}
	return tongue{}, false
}

// tokenKind is what a token of a program is.
type tokenKind int

const (
	wordToken tokenKind = iota
	textToken           // between quotes
	markToken           // one sign
	endToken            // of a line or a statement
)

// token is a piece of a program, with where it stands.
type token struct {
	kind     tokenKind
	from, to int
	call     int    // whose words it is among, or -1
	arg      int    // which of them
	target   string // the variable that its statement gives a value; "?" = more than one, or none that is followed
}

// cutter cuts a program into tokens.
type cutter struct {
	tongue
	src  string
	at   int
	list []token
	odd  bool     // quotes that do not fit: it was not understood
	docs []string // here-documents that begin with the next line
}

// cut cuts a program into tokens. It tells whether all quotes found each other.
func cut(src string, in tongue) ([]token, bool) {
	c := &cutter{tongue: in, src: src}
	for c.at < len(src) && !c.odd {
		c.next()
	}
	c.add(endToken, c.at)
	return c.list, !c.odd
}

func (c *cutter) add(kind tokenKind, from int) {
	c.list = append(c.list, token{kind: kind, from: from, to: c.at, call: -1})
}

func (c *cutter) next() {
	from, b := c.at, c.src[c.at]
	switch {
	case strings.HasPrefix(c.src[from:], "\\\n"):
		c.at += 2
	case b == '\n':
		c.at++
		c.add(endToken, from)
		c.documents()
	case b == ';':
		c.at++
		c.add(endToken, from)
	case b == ' ' || b == '\t' || b == '\r' || b == '\\':
		c.at++
	case c.comment():
	case b == '"' || b == '\'' || b == '`':
		c.text(b)
	case letter(b):
		for c.at < len(c.src) && (letter(c.src[c.at]) || digit(c.src[c.at])) {
			c.at++
		}
		if c.triple && c.at < len(c.src) && strings.IndexByte(`"'`, c.src[c.at]) >= 0 && prefixes.MatchString(c.src[from:c.at]) {
			return // r'a.txt'
		}
		c.add(wordToken, from)
		c.quoted(c.src[from:c.at])
	case digit(b):
		for c.at < len(c.src) && digit(c.src[c.at]) {
			c.at++
		}
		c.add(markToken, from)
	case c.document():
	case b == '/' && c.regexes && c.begins():
		c.pattern('/', 1)
	default:
		c.at++
		c.add(markToken, from)
	}
}

var prefixes = regexp.MustCompile(`(?i)^[rbuf]{1,2}$`)

func letter(b byte) bool {
	return b == '_' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= 0x80
}

func digit(b byte) bool { return b >= '0' && b <= '9' }

// comment goes over a comment.
func (c *cutter) comment() bool {
	rest := c.src[c.at:]
	spaced := c.at == 0 || strings.IndexByte(" \t\n;", c.src[c.at-1]) >= 0
	end := "\n"
	switch {
	case c.hash && rest[0] == '#' && (spaced || c.triple), c.dashes && strings.HasPrefix(rest, "--"), c.slashes && strings.HasPrefix(rest, "//"):
	case c.slashes && strings.HasPrefix(rest, "/*"):
		end = "*/"
	default:
		return false
	}
	n := strings.Index(rest, end)
	if n < 0 {
		n = len(rest)
	}
	c.at += n
	if end != "\n" {
		c.at = min(c.at+2, len(c.src))
	}
	return true
}

// text takes what stands between quotes.
func (c *cutter) text(quote byte) {
	from, mark := c.at, string(quote)
	many := c.lines || quote == '`'
	if three := strings.Repeat(mark, 3); c.triple && strings.HasPrefix(c.src[c.at:], three) {
		mark, many = three, true
	}
	for c.at += len(mark); c.at < len(c.src); c.at++ {
		switch {
		case c.src[c.at] == '\\':
			c.at++
		case strings.HasPrefix(c.src[c.at:], mark):
			c.at += len(mark)
			c.add(textToken, from)
			return
		case c.src[c.at] == '\n' && !many:
			c.odd = true
			return
		}
	}
	c.odd = true
}

// begins tells whether a value may begin here.
func (c *cutter) begins() bool {
	if len(c.list) == 0 {
		return true
	}
	switch last := c.list[len(c.list)-1]; last.kind {
	case endToken:
		return true
	case markToken:
		return strings.IndexByte(")]}", c.src[last.from]) < 0
	case wordToken:
		return oneOf(c.src[last.from:last.to], []string{"return", "if", "unless", "and", "or", "not", "when", "split", "grep"})
	case textToken:
	}
	return false
}

// pattern goes over a regular expression, and over what takes its place.
func (c *cutter) pattern(mark byte, parts int) {
	from, class := c.at, false
	for c.at++; c.at < len(c.src) && parts > 0; c.at++ {
		switch b := c.src[c.at]; {
		case b == '\\':
			c.at++
		case b == '\n' && !c.lines || c.at-from > maxPattern:
			c.at = from + 1 // a division
			c.add(markToken, from)
			return
		case b == '[' && mark == '/':
			class = true
		case b == ']':
			class = false
		case b == mark && !class:
			parts--
		}
	}
	c.at = min(c.at, len(c.src))
	c.odd = c.odd || parts > 0
	c.add(markToken, from)
}

// quoted takes what stands behind q, s and their like.
func (c *cutter) quoted(word string) {
	if !c.perl || c.at >= len(c.src) || strings.IndexByte("/|#!,{(", c.src[c.at]) < 0 {
		return
	}
	parts := map[string]int{"s": 2, "tr": 2, "y": 2, "m": 1, "qr": 1, "q": 1, "qq": 1}[word]
	if n := len(c.list); parts == 0 || n > 1 && c.list[n-2].to == c.list[n-1].from && strings.IndexByte("$@%&>", c.src[c.list[n-2].from]) >= 0 { // a variable
		return
	}
	mark := c.src[c.at]
	if closing := strings.IndexByte("{(", mark); closing >= 0 {
		if parts > 1 || mark == '(' && word[0] != 'q' {
			return
		}
		mark = "})"[closing]
	}
	c.pattern(mark, parts)
	if word == "q" || word == "qq" {
		c.list[len(c.list)-1].kind = textToken
	}
}

var heredoc = regexp.MustCompile(`^<<[~<-]?["']?([A-Za-z_]\w*)["']?`)

// document notes a here-document: it begins with the next line.
func (c *cutter) document() bool {
	if !c.lines || !strings.HasPrefix(c.src[c.at:], "<<") {
		return false
	}
	m := heredoc.FindStringSubmatch(c.src[c.at:min(len(c.src), c.at+200)])
	if m == nil {
		return false
	}
	c.docs = append(c.docs, m[1])
	c.at += len(m[0])
	return true
}

// documents takes the here-documents that begin here.
func (c *cutter) documents() {
	for _, mark := range c.docs {
		from, found := c.at, false
		for c.at < len(c.src) {
			line, _, _ := strings.Cut(c.src[c.at:], "\n")
			c.at = min(c.at+len(line)+1, len(c.src))
			if found = strings.TrimRight(strings.TrimLeft(line, " \t"), ";\r") == mark; found {
				break
			}
		}
		c.odd = c.odd || !found
		c.add(textToken, from)
		c.add(endToken, c.at)
	}
	c.docs = nil
}
