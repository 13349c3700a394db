package worktree

import (
	"regexp"
	"strings"
)

// source is a program in another language, read for the names that it may write.
type source struct {
	grouper
	tongue
	looks    func(command string) bool // tells whether a command of a shell changes nothing
	uses     map[string][]int          // where variables stand
	assigned map[string][]int          // texts that variables are given
	opened   map[string]bool           // variables that are open files
	openers  map[int]bool              // where calls end that open files
	says     bool                      // it writes to where a person reads
	aims     bool                      // a text in it tells to write into a file: ">a.txt"
	vars     map[string]bool           // variables that are only read or said; one that is asked about counts as such
	verdicts map[int]dealing           // of calls
}

// dealing is what a call does with what it is given.
type dealing int

const (
	unclear   dealing = iota // it may write what it names
	harmless                 // it only reads it, or says it
	passes                   // it makes another name of it
	writesOut                // it writes
)

// writtenIn is what of a program may name files that it writes: all names in it
// but those that are only read or said, and nothing when nothing in it writes.
// Where its quotes do not fit it is all of it.
func writtenIn(src string, in tongue, looks func(string) bool) string {
	tokens, ok := cut(src, in)
	if !ok {
		if scriptWrites.MatchString(src) {
			return src
		}
		return ""
	}
	s := &source{grouper: grouper{src: src, tokens: tokens}, tongue: in, looks: looks}
	s.assigned, s.openers = map[string][]int{"": nil}, map[int]bool{}
	s.uses, s.opened, s.vars, s.verdicts = map[string][]int{}, map[string]bool{}, map[string]bool{}, map[int]dealing{}
	s.find()
	s.index()
	if !s.writes() {
		return ""
	}
	return s.left()
}

// index notes where variables stand, and which are open files.
func (s *source) index() {
	for i, t := range s.tokens {
		switch t.kind {
		case wordToken:
			s.uses[s.text(i)] = append(s.uses[s.text(i)], i)
			s.says = s.says || outlets.MatchString(s.text(i))
		case textToken:
			if t.call < 0 {
				s.assigned[t.target] = append(s.assigned[t.target], i)
			}
			s.aims = s.aims || aiming.MatchString(s.text(i))
			for _, m := range inText.FindAllStringSubmatch(s.text(i), -1) {
				s.uses[m[1]] = append(s.uses[m[1]], i)
			}
		case markToken, endToken:
		}
	}
	for _, c := range s.calls {
		if !opens(s.text(c.name)) {
			continue
		}
		s.openers[c.close] = true
		if name := s.tokens[c.head].target; name != "" && name != "?" {
			s.opened[name] = true
		}
		if s.text(c.close+1) == "as" {
			s.opened[s.text(c.close+2)] = true
		}
	}
}

var (
	outlets = regexp.MustCompile(`(?i)^std(out|err)$`)
	aiming  = regexp.MustCompile(`^["']\s*\+?>`)
	inText  = regexp.MustCompile(`[{$]\s*([A-Za-z_]\w*)`)
)

// left is the program without what names nothing that it writes.
func (s *source) left() string {
	out := []byte(strings.Repeat(" ", len(s.src)))
	for i, t := range s.tokens {
		switch t.kind {
		case textToken:
			if s.idle(i, i) {
				continue
			}
		case wordToken:
			if !s.bare {
				continue
			}
		case markToken:
			if !s.bare && !s.mark(i, "(,") {
				continue
			}
		case endToken:
		}
		copy(out[t.from:t.to], s.src[t.from:t.to])
	}
	return string(out)
}

// idle tells whether a value, which stands from one token to another, is only
// read or said.
func (s *source) idle(from, to int) bool {
	if s.backquoted(from) {
		return s.shell([]string{s.plain(from)}) == harmless
	}
	for range maxChain {
		n := s.joint(to+1, 1)
		name := to + 1 + n
		switch {
		case n > 0 && s.is(name, wordToken) && s.mark(name+1, "("):
			method := s.called(name)
			if method < 0 {
				return false
			}
			if is := s.dealing(method); is != passes {
				return is == harmless
			}
			to = s.calls[method].close
		case n > 0 && s.is(name, wordToken): // a part of it
			to = name
		case s.mark(to+1, "[") && s.mark(to+3, "]"):
			to += 3
		default:
			return s.given(from, to)
		}
	}
	return false
}

// backquoted tells whether a token is a command for a shell.
func (s *source) backquoted(i int) bool {
	return s.ticks && s.is(i, textToken) && s.src[s.tokens[i].from] == '`'
}

// called is the call whose name ends at a token.
func (s *source) called(name int) int {
	lo, hi := 0, len(s.calls)-1
	for lo <= hi { // calls stand in the order of their names
		mid := (lo + hi) / 2
		switch at := s.calls[mid].name; {
		case at == name:
			return mid
		case at < name:
			lo = mid + 1
		default:
			hi = mid - 1
		}
	}
	return -1
}

// given tells whether what a value is given to only reads or says it.
func (s *source) given(from, to int) bool {
	t := s.tokens[from]
	if t.call < 0 {
		switch t.target {
		case "":
			return s.triple && s.is(from, textToken) && (from == 0 || s.is(from-1, endToken)) && s.is(to+1, endToken) // it stands for itself
		case "?":
			return false
		}
		return s.variable(t.target)
	}
	switch s.dealing(t.call) {
	case harmless:
		return true
	case passes:
		c := s.calls[t.call]
		s.verdicts[t.call] = unclear // until it is known
		if s.idle(c.head, c.close) {
			s.verdicts[t.call] = harmless
			return true
		}
	case unclear, writesOut:
	}
	return false
}

// variable tells whether all that is done with a variable is to read or say it.
func (s *source) variable(name string) bool {
	if is, ok := s.vars[name]; ok {
		return is
	}
	s.vars[name] = name != "ARGV" // what Perl reads, and edits, unasked
	for _, i := range s.uses[name] {
		if s.is(i, wordToken) && s.mark(i+1, "=") && !s.mark(i+2, "=~>") || s.tokens[i].target == "" && s.tokens[i].call < 0 && oneOf(s.text(i+1), []string{"in", "of"}) {
			continue // it gets a value
		}
		if !s.idle(i, i) {
			s.vars[name] = false
			break
		}
	}
	return s.vars[name]
}
