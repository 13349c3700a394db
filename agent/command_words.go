package agent

import (
	"path"
	"strings"
)

// parted cuts a line that a CLI made of the words of a command back into these
// words: each is one or more pieces without space between them, and a piece is
// 'in single quotes', "in double quotes" with \ before what would be special
// there, \x, or plain. It is not a shell: a line with a sign that only a shell
// would heed, or with a quote that does not end, is no such line.
func parted(line string) (words []string, ok bool) {
	j := joint{rest: line}
	for {
		j.rest = strings.TrimLeft(j.rest, " \t\r\n")
		if j.rest == "" {
			return words, true
		}
		j.word.Reset()
		for j.rest != "" && !strings.ContainsRune(" \t\r\n", rune(j.rest[0])) {
			if !j.piece() {
				return nil, false
			}
		}
		words = append(words, j.word.String())
	}
}

// joint is where parted stands.
type joint struct {
	rest string
	word strings.Builder
}

// piece takes one piece of a word.
func (j *joint) piece() bool {
	switch c := j.rest[0]; c {
	case '\'':
		inside, after, closed := strings.Cut(j.rest[1:], "'")
		j.word.WriteString(inside)
		j.rest = after
		return closed
	case '"':
		return j.double()
	case '\\':
		if len(j.rest) < 2 {
			return false
		}
		if j.rest[1] != '\n' { // else the line goes on
			j.word.WriteByte(j.rest[1])
		}
		j.rest = j.rest[2:]
		return true
	default:
		if strings.IndexByte("|&;<>()$`*?", c) >= 0 {
			return false
		}
		j.word.WriteByte(c)
		j.rest = j.rest[1:]
		return true
	}
}

// double takes what is in double quotes.
func (j *joint) double() bool {
	in := j.rest[1:]
	for i := 0; i < len(in); i++ {
		switch {
		case in[i] == '"':
			j.rest = in[i+1:]
			return true
		case in[i] == '\\' && i+1 < len(in) && in[i+1] == '\n':
			i++
		case in[i] == '\\' && i+1 < len(in) && strings.IndexByte("$`\"\\", in[i+1]) >= 0:
			i++
			j.word.WriteByte(in[i])
		default:
			j.word.WriteByte(in[i])
		}
	}
	return false
}

// shellCall is the command in the words of a call of a shell that is given
// nothing else.
func shellCall(words []string) (command string, ok bool) {
	if len(words) != 3 || words[1] != "-lc" && words[1] != "-c" {
		return "", false
	}
	switch path.Base(words[0]) {
	case "sh", "bash", "zsh", "dash":
		return words[2], true
	}
	return "", false
}

// CommandLine is the line of shell for the words of a command: what a shell is
// called with, or else the words, in quotes.
func CommandLine(words []string) string {
	if command, ok := shellCall(words); ok {
		return command
	}
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		if w != "" && !strings.ContainsFunc(w, special) {
			b.WriteString(w)
			continue
		}
		b.WriteString("'" + strings.ReplaceAll(w, "'", `'\''`) + "'")
	}
	return b.String()
}

// special tells what may mean something to a shell.
func special(r rune) bool {
	switch {
	case r >= '0' && r <= '9', r >= 'A' && r <= 'Z', r >= 'a' && r <= 'z':
		return false
	}
	return !strings.ContainsRune("+-./:@_,", r)
}
