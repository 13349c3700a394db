package recipe

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/belay-run/belay/internal/pattern"
)

// YAML takes things away from a value without a word: what follows a # behind a
// blank, the line breaks of a text that is not below a |, and backslashes in
// double quotes. What remains of a script may be another one that passes.

// cut reports a # that ends a text without quotes and is hardly the beginning of
// a comment: no blank follows it.
func (p *parser) cut(k, v *yaml.Node) {
	if !isPlain(v) || v.Line < 1 || v.Line > len(p.src.starts) {
		return
	}
	i, ok := p.commentAfter(v)
	if !ok || i+1 >= len(p.src.text) || strings.IndexByte("# \t\r\n!", p.src.text[i+1]) >= 0 {
		return
	}
	p.warn(p.src.at(i), quoteHint(k, p.src, v), "the value ends before this #, which begins a comment of YAML")
}

// cutScript reports a # that ends a script of which the rest is missing.
func (p *parser) cutScript(k, v *yaml.Node, broken bool) {
	if !isPlain(v) || !broken && !strings.HasSuffix(v.Value, `\`) {
		return
	}
	if i, ok := p.commentAfter(v); ok {
		p.loose(p.src.at(i), quoteHint(k, p.src, v), "%s: the value ends before this #, which begins a comment of YAML", k.Value)
	}
}

// commentAfter is the byte of the # that begins a comment behind a value without
// quotes.
func (p *parser) commentAfter(v *yaml.Node) (int, bool) {
	i := p.src.offset(posOf(v))
	if v.Value != "" {
		pieces := trace(p.src, v)
		if len(pieces) == 0 {
			return 0, false
		}
		last := pieces[len(pieces)-1]
		i = p.src.offset(last.at) + last.length
	}
	n := i
	for n < len(p.src.text) && (p.src.text[n] == ' ' || p.src.text[n] == '\t') {
		n++
	}
	return n, n > i && n < len(p.src.text) && p.src.text[n] == '#'
}

// quoteHint is the cure: the value in quotes, with what was taken for a comment.
func quoteHint(k *yaml.Node, s *source, v *yaml.Node) string {
	const cure = "put the whole value in quotes, or write it below a |"
	line := s.line(v.Line)
	before, text := line[:s.offset(posOf(v))-s.starts[v.Line-1]], line[s.offset(posOf(v))-s.starts[v.Line-1]:]
	if k == nil || len(text) > 60 || strings.ContainsAny(before, "{[") || !strings.HasPrefix(text, v.Value) {
		return cure
	}
	return "put it in quotes: " + k.Value + ": '" + strings.ReplaceAll(strings.TrimSpace(text), "'", "''") + "'"
}

// joined reports lines of a script that YAML makes one of.
func (p *parser) joined(k, v *yaml.Node) {
	if v.Style&yaml.LiteralStyle != 0 || !p.severalLines(v) {
		return
	}
	pieces := trace(p.src, v)
	how := "without a | before them YAML joins these lines into one"
	for i := 1; i < len(pieces); i++ {
		last, next := pieces[i-1], pieces[i]
		if next.at.Line == last.at.Line || v.Value[last.value+last.length:next.value] != " " {
			continue
		}
		from := strings.LastIndexByte(v.Value[:last.value+last.length], '\n') + 1
		before, after := v.Value[from:last.value+last.length], v.Value[next.value:next.value+next.length]
		switch {
		case inShellComment(before):
			p.loose(next.at, "write | instead of >, or | before the first line", "%s: %s, and all of it belongs to the comment in line %d", k.Value, how, last.at.Line)
			return
		case strings.HasSuffix(before, `\`):
			p.warn(last.at, "write | instead of >, or | before the first line; without a | no \\ is needed",
				"%s: %s, and the \\ at the end of this one is before a blank", k.Value, how)
			return
		case newCommand(before, after):
			p.warn(next.at, "write | instead of >, or | before the first line",
				"%s: %s, and bash reads one command", k.Value, how)
			return
		}
	}
}

// severalLines tells whether a value stands in more than one line.
func (p *parser) severalLines(v *yaml.Node) bool {
	if v.Style&yaml.FoldedStyle != 0 {
		return true
	}
	i := p.src.offset(posOf(v))
	return v.Style&quoted != 0 && !strings.Contains(p.src.line(v.Line)[i-p.src.starts[v.Line-1]+1:], closing(v)) ||
		isPlain(v) && !strings.HasPrefix(p.src.same[i:], v.Value)
}

func closing(v *yaml.Node) string {
	if v.Style&yaml.SingleQuotedStyle != 0 {
		return "'"
	}
	return `"`
}

// inShellComment tells whether a line of bash ends in a comment.
func inShellComment(line string) bool {
	quote := byte(0)
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\\' && quote != '\'':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '#' && (i == 0 || strings.IndexByte(" \t;&|(", line[i-1]) >= 0):
			return true
		}
	}
	return false
}

var (
	goesOn  = pattern.Lazy(`(?:[|;({,=]|&&|\b(?:do|then|else|elif|if|while|until|in|and|or)|\s-\S*)\s*$`)
	aWord   = pattern.Lazy(`^(?:[A-Za-z_][A-Za-z0-9_]*=|!\s|\[|\(\s*\w)|^([A-Za-z_][\w.-]*)(?:\s|$)`)
	command = []string{
		"awk", "bash", "cargo", "cat", "cd", "cmp", "cp", "curl", "diff", "echo", "exit", "export", "false", "for", "git", "go", "grep", "if", "jq", "ls", "make",
		"mkdir", "mv", "node", "npm", "npx", "pip", "printf", "pytest", "python", "python3", "rg", "rm", "sed", "set", "sh", "sleep", "source", "test", "touch",
		"true", "uv", "while", "yarn",
	}
)

// newCommand tells whether a line looks like a command of its own: it begins with
// the name of one, and the line before it is not open at its end.
func newCommand(before, line string) bool {
	m := aWord().FindStringSubmatch(line)
	if m == nil || goesOn().MatchString(before) {
		return false
	}
	first, _, _ := strings.Cut(strings.TrimSpace(before), " ")
	return m[1] == "" || slices.Contains(command, m[1]) || m[1] == first
}

// altered reports escapes in double quotes that YAML makes a character of which
// nobody types: \b in a pattern is meant for grep.
func (p *parser) altered(k, v *yaml.Node) {
	if v.Style&yaml.DoubleQuotedStyle == 0 || !strings.ContainsAny(v.Value, "\b\v\u0085\u00a0\u2028\u2029") {
		return
	}
	for _, piece := range trace(p.src, v) {
		i := p.src.offset(piece.at)
		if piece.length > 0 || i+1 >= len(p.src.text) || strings.IndexByte("bvN_LP", p.src.text[i+1]) < 0 {
			continue
		}
		letter := string(p.src.text[i+1])
		p.loose(piece.at, `write \\`+letter+", or put the value in single quotes", `%s: in double quotes YAML makes one character of \%s, and the backslash is lost`, k.Value, letter)
		return
	}
}
