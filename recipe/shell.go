package recipe

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"github.com/belay-run/belay/expr"
	"github.com/belay-run/belay/internal/pattern"
)

// The bounds of a script with placeholders. The shell's parser calls itself for
// every bracket inside a bracket, so that without them a script could use up
// the stack, which ends the program.
const (
	MaxScript  = 128 << 10 // bytes
	MaxNesting = 500       // brackets inside brackets
	MaxUses    = 1000      // different placeholders
)

// argName begins the name of every variable that stands for a placeholder.
const argName = "BELAY_ARG_"

// braces is how a script writes two braces that are its own.
const braces = `two braces that the script itself needs are written '{''{' in the shell, or {{ '{{' }} anywhere`

// bracesHint is that for braces that may be the script's own.
func bracesHint(err *expr.Error) string {
	if err.Named {
		return ""
	}
	return braces
}

// ParseScript reads the text of a bash script. Every {{placeholder}} becomes a
// reference to a variable, written so that the value is one safe word in the
// quotes it stands in. A placeholder in a comment stays as it is; one for which
// no safe form exists is a problem.
//
// The first character of src stands at the place at; the lines after it begin
// in the same column, as in a block of YAML. The script is nil when there is an
// error among the problems. The problems name no file.
func ParseScript(src string, at Pos) (*Script, []Problem) {
	return parseScript(newBash(), src, blockAt(src, at))
}

// blockAt is where the bytes of a block stand that begins at a place.
func blockAt(src string, at Pos) func(offset int) Pos {
	return func(offset int) Pos {
		before := src[:offset]
		last := strings.LastIndexByte(before, '\n') + 1
		return Pos{at.Line + strings.Count(before, "\n"), at.Col + utf8.RuneCountInString(before[last:])}
	}
}

// parseScript is ParseScript for a text whose bytes stand where pos says.
func parseScript(bash *bash, src string, pos func(offset int) Pos) (*Script, []Problem) {
	var r report
	s := &scriptReader{bash: bash, src: src, pos: pos, report: &r}
	script := s.read()
	if len(r.errors) > 0 {
		script = nil
	}
	return script, r.list()
}

type scriptReader struct {
	bash   *bash
	src    string
	pos    func(offset int) Pos
	report *report
}

func (s *scriptReader) say(offset int, warning bool, hint, format string, args ...any) {
	if s.report.full() && !warning {
		return // finding the place takes time
	}
	p := s.pos(min(max(offset, 0), len(s.src)))
	s.report.add(Problem{Line: p.Line, Col: p.Col, Msg: fmt.Sprintf(format, args...), Hint: hint, Warning: warning})
}

func (s *scriptReader) read() *Script {
	script := &Script{Source: s.src, Text: s.src}
	holes := expr.Holes(s.src)
	switch {
	case len(holes) == 0:
		script.env = s.plain()
		return script
	case len(s.src) > MaxScript:
		s.say(holes[0].Start, false, `read the value from the environment instead: "$NAME"`,
			"a script of %d bytes is too big for placeholders, at most %d are allowed", len(s.src), MaxScript)
		return nil
	}
	if i := tooDeep(s.src); i >= 0 {
		s.say(i, false, "", "the brackets of this script are nested more than %d deep", MaxNesting)
		return nil
	}
	if i := strings.Index(s.src, argName); i >= 0 {
		s.say(i, false, "", "%s… are the variables that stand for placeholders: name it otherwise", argName)
		return nil
	}
	m := mark(s.src, holes)
	nodes, err := s.bash.read(m.text)
	if err != nil {
		s.unreadable(m, err)
		return nil
	}
	w := s.bash.newWalker(m)
	w.walk(nodes)
	s.judge(m)
	script.env = append(s.flows(m, w.flow), s.keptReads(m, nodes)...)
	if w.doubt > 0 {
		s.say(m.origin(w.doubt-1), false, "leave the single quotes out",
			"a script with placeholders cannot have these: single quotes inside \"${…}\" are plain characters to bash")
	}
	if len(s.report.errors) > 0 {
		return nil
	}
	script.Uses = s.uses(m)
	script.Text = m.rewritten(w.edits)
	if len(w.edits) > 0 || !m.sure(nodes) {
		s.verify(m, script)
	}
	return script
}

// plain looks at a script without placeholders. It is passed on as it is,
// whatever bash makes of it.
func (s *scriptReader) plain() []envRead {
	if len(s.src) > MaxScript || tooDeep(s.src) >= 0 {
		return nil
	}
	nodes, err := s.bash.read(s.src)
	if err != nil {
		at, msg := parseFault(err)
		s.say(at, true, "", "bash will probably refuse this: %s", msg)
		return nil
	}
	m := &marked{src: s.src, text: s.src}
	reads := s.keptReads(m, nodes)
	if !mayReckon(s.src) {
		return reads
	}
	w := s.bash.newWalker(m)
	w.walk(nodes)
	return append(reads, s.flows(m, w.flow)...)
}

// tooDeep is where brackets are open inside each other beyond the limit, -1 when
// they never are. Brackets in quotes count too: this is about what is safe to
// read, and comes before reading.
func tooDeep(src string) int {
	depth := 0
	for i := range len(src) {
		switch src[i] {
		case '(', '[', '{':
			if depth++; depth > MaxNesting {
				return i
			}
		case ')', ']', '}':
			depth = max(depth-1, 0)
		}
	}
	return -1
}

// parseFault is the place and the words of an error of the shell's parser.
func parseFault(err error) (offset int, msg string) {
	var fault syntax.ParseError
	var other syntax.LangError
	switch {
	case errors.As(err, &fault):
		return int(fault.Pos.Offset()), fault.Text
	case errors.As(err, &other):
		return int(other.Pos.Offset()), other.Feature + " is not part of bash"
	}
	return 0, err.Error()
}

// unreadable reports a script that is no bash. Wrong placeholders are the
// better explanation where there are any.
func (s *scriptReader) unreadable(m *marked, err error) {
	for _, sp := range m.spots {
		if sp.hole.Err != nil {
			s.say(sp.hole.Start, false, bracesHint(sp.hole.Err), "%s", sp.hole.Err.Msg)
		}
	}
	if len(s.report.errors) > 0 {
		return
	}
	at, msg := parseFault(err)
	s.say(m.origin(at), false, "a placeholder is put in by bash's own grammar, so the script must be correct bash",
		"the script is not correct bash: %s", m.unmarked(msg))
}

// judge reports every placeholder that cannot be put in where it stands.
func (s *scriptReader) judge(m *marked) {
	for _, sp := range m.spots {
		switch {
		case sp.form == formComment:
		case sp.hole.Err != nil:
			s.say(sp.hole.Start, false, bracesHint(sp.hole.Err), "%s", sp.hole.Err.Msg)
		case sp.refused.msg != "":
			s.say(sp.hole.Start, false, sp.refused.hint, "%s cannot stand here: %s", sp.hole.Value, sp.refused.msg)
		case sp.form == formNone:
			s.say(sp.hole.Start, false, viaVariable, "%s cannot stand here", sp.hole.Value)
		}
		if sp.warned.msg != "" && sp.refused.msg == "" {
			s.say(sp.hole.Start, true, sp.warned.hint, "%s", sp.warned.msg)
		}
	}
}

// uses numbers the placeholders: the same text, the same variable.
func (s *scriptReader) uses(m *marked) []Use {
	var uses []Use
	index := make(map[string]int, min(len(m.spots), 8))
	for i := range m.spots {
		sp := &m.spots[i]
		if sp.form == formComment {
			continue
		}
		text := strings.Trim(strings.TrimSuffix(strings.TrimPrefix(sp.hole.Value.String(), "{{"), "}}"), " \t")
		n, known := index[text]
		if !known {
			if n = len(uses); n == MaxUses {
				s.say(sp.hole.Start, false, "", "a script has at most %d different placeholders", MaxUses)
				return nil
			}
			index[text] = n
			uses = append(uses, Use{Env: argName + strconv.Itoa(n+1), Value: sp.hole.Value, Pos: s.pos(sp.hole.Start)})
		}
		sp.env = uses[n].Env
		uses[n].Integer = uses[n].Integer || sp.integer || sp.reached
	}
	return uses
}

// verify reads the result once more: a reference that is not found again, or
// found outside of quotes, would mean that the reading was wrong.
func (s *scriptReader) verify(m *marked, script *Script) {
	want, first := 0, 0
	for i, sp := range m.spots {
		if sp.form != formComment {
			if want == 0 {
				first = i
			}
			want++
		}
	}
	nodes, err := s.bash.read(script.Text)
	if err == nil {
		w := s.bash.newWalker(&marked{text: script.Text})
		w.again = true
		w.walk(nodes)
		if w.safe == want && w.unsafe == 0 {
			return
		}
	}
	s.say(m.spots[first].hole.Start, false, viaVariable, "the placeholders of this script cannot be put in safely")
}

var plainWord = pattern.Lazy(`^[A-Za-z0-9_.,:+@%/-]+$`)
