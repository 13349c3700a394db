package worktree

import "strings"

// maxChain is how many names joined by dots are followed.
const maxChain = 8

// call is a call in a program: a name, and what is given to it.
type call struct {
	head   int // the first token of its name
	name   int // the last word of its name
	close  int // where it ends, or the last token
	on     int // the token of what it is called on, when that is no name; -1
	tokens []int
}

// grouper finds the calls in the tokens of a program, and which token is given to
// which.
type grouper struct {
	src    string
	tokens []token
	calls  []call
	frames []group
}

// group is what stands between two brackets, or behind a name that is called
// without any.
type group struct {
	bracket byte // or 0
	call    int
	arg     int
	own     bool // it is the words of the call itself, and not a list among them
	statement
}

// statement is what is known so far of the statement at hand.
type statement struct {
	target  string
	first   string // its first word
	colon   bool
	heads   bool // it begins a block
	started bool
}

func (g *grouper) text(i int) string {
	if i < 0 || i >= len(g.tokens) {
		return ""
	}
	return g.src[g.tokens[i].from:g.tokens[i].to]
}

func (g *grouper) is(i int, kind tokenKind) bool {
	return i >= 0 && i < len(g.tokens) && g.tokens[i].kind == kind
}

func (g *grouper) mark(i int, marks string) bool {
	return g.is(i, markToken) && strings.Contains(marks, g.text(i))
}

func (g *grouper) top() *group { return &g.frames[len(g.frames)-1] }

// find finds all calls.
func (g *grouper) find() {
	g.frames = []group{{call: -1}}
	for i := range g.tokens {
		if g.is(i, endToken) {
			g.finish(i)
			continue
		}
		if g.is(i, wordToken) {
			g.word(i)
		}
		g.place(i)
		if g.is(i, markToken) {
			g.sign(i)
		} else if !g.keyword(i) {
			g.top().started = true
		}
	}
	for len(g.frames) > 1 {
		g.pop(len(g.tokens) - 1)
	}
}

// place notes to whom a token is given.
func (g *grouper) place(i int) {
	top := g.top()
	if top.call >= 0 && i <= g.calls[top.call].name { // its own name is not
		top = &g.frames[len(g.frames)-2]
	}
	t := &g.tokens[i]
	t.call, t.arg, t.target = top.call, top.arg, top.target
	if top.call >= 0 && !g.mark(i, ")") {
		c := &g.calls[top.call]
		c.tokens = append(c.tokens, i)
	}
}

func (g *grouper) pop(at int) {
	top := g.top()
	if top.own && top.call >= 0 {
		g.calls[top.call].close = at
	}
	g.frames = g.frames[:len(g.frames)-1]
}

// finish ends a statement, if one can end here.
func (g *grouper) finish(i int) {
	if g.mark(i-1, "=+,.&|?") && g.text(i) == "\n" {
		return // it goes on
	}
	for len(g.frames) > 1 && g.top().bracket == 0 {
		g.pop(i)
	}
	if b := g.top().bracket; b == 0 || b == '{' || g.text(i) == ";" {
		g.top().statement = statement{}
	}
}

var keywords = strings.Fields(`if elsif elif else unless while until for foreach in of with as return const let var my our local import from export default def class
	function async await new not and or is lambda yield raise throw del assert try except catch finally do end begin then case when use global nonlocal static public end async`)

func (g *grouper) keyword(i int) bool { return g.is(i, wordToken) && oneOf(g.text(i), keywords) }

// word takes in a word: the variable of a loop, or a call without brackets.
func (g *grouper) word(i int) {
	top, w := g.top(), g.text(i)
	if oneOf(w, keywords) {
		switch {
		case oneOf(w, []string{"in", "of"}) && top.target == "":
			top.target = "?"
			if g.is(i-1, wordToken) && !g.mark(i-2, ",") {
				top.target = g.text(i - 1)
			}
		case !top.started:
			top.heads = top.heads || oneOf(w, []string{"for", "if", "while", "with", "else", "elif", "try", "except", "def", "class", "finally"})
		}
		return
	}
	if top.first == "" {
		top.first = w
	}
	if top.started {
		return
	}
	top.started = true
	end := g.chain(i)
	if g.is(end+1, textToken) || g.is(end+1, wordToken) && !g.keyword(end+1) || g.mark(end+1, "$@%") {
		g.calls = append(g.calls, call{head: i, name: end, close: len(g.tokens) - 1, on: -1})
		g.frames = append(g.frames, group{call: len(g.calls) - 1, own: true, statement: statement{started: true, target: top.target}})
	}
}

// chain is the last word of names joined by dots that begin here.
func (g *grouper) chain(i int) int {
	for range maxChain {
		n := g.joint(i+1, 1)
		if n == 0 || !g.is(i+1+n, wordToken) {
			return i
		}
		i += 1 + n
	}
	return i
}

// joint is how many tokens there join two names, going forth or back: . :: -> ?.
func (g *grouper) joint(i, step int) int {
	two := g.text(i) + g.text(i+step)
	if step < 0 {
		two = g.text(i+step) + g.text(i)
	}
	switch {
	case two == "::" || two == "->" || two == "?.":
		return 2
	case g.mark(i, "."):
		return 1
	}
	return 0
}

// sign takes in a sign.
func (g *grouper) sign(i int) {
	switch top := g.top(); g.text(i) {
	case "(":
		g.open(i)
	case "[":
		g.frames = append(g.frames, group{bracket: '[', call: top.call, arg: top.arg, statement: statement{target: top.target, started: true}})
	case "{":
		if g.mark(i-1, ")>") || g.is(i-1, wordToken) || g.is(i-1, endToken) { // a block
			g.frames = append(g.frames, group{bracket: '{', call: -1})
			return
		}
		g.frames = append(g.frames, group{bracket: '{', call: top.call, arg: top.arg, statement: statement{target: top.target, started: top.target != "" || top.call >= 0}})
	case ")", "]", "}":
		for len(g.frames) > 1 && g.top().bracket == 0 {
			g.pop(i)
		}
		if len(g.frames) > 1 {
			g.pop(i)
		}
		if g.text(i) == "}" && g.top().call < 0 {
			g.top().started = false
		}
	case ",":
		if top.own {
			top.arg++
		}
	case ":":
		top.colon = true
		if top.heads && top.bracket == 0 {
			top.statement = statement{}
		}
	case "=":
		g.assigned(i)
	case "|", "&":
		top.started = top.started && top.bracket != '{'
	default:
		top.started = top.started || g.is(i, markToken) && !g.mark(i, "$@%")
	}
}

// open takes in a bracket: of a call, or around a value.
func (g *grouper) open(i int) {
	top := g.top()
	name := i - 1
	if g.mark(name, "?!") { // exist?(
		name--
	}
	if !g.is(name, wordToken) || g.keyword(name) && g.joint(name-1, -1) == 0 {
		g.frames = append(g.frames, group{bracket: '(', call: top.call, arg: top.arg, statement: statement{target: top.target}})
		return
	}
	c := call{head: name, name: name, close: len(g.tokens) - 1, on: -1}
	for range maxChain {
		n := g.joint(c.head-1, -1)
		if n == 0 {
			break
		}
		if before := c.head - 1 - n; g.is(before, wordToken) {
			c.head = before
			continue
		} else if before >= 0 {
			c.on = before
		}
		break
	}
	g.calls = append(g.calls, c)
	g.frames = append(g.frames, group{bracket: '(', call: len(g.calls) - 1, own: true, statement: statement{started: true}})
}

// assigned takes in an = that may give a variable its value.
func (g *grouper) assigned(i int) {
	top := g.top()
	from, to := g.tokens[i].from, g.tokens[i].to
	if to < len(g.src) && strings.IndexByte("=>~", g.src[to]) >= 0 || from > 0 && strings.IndexByte("=<>!", g.src[from-1]) >= 0 {
		return
	}
	if top.call >= 0 {
		return
	}
	top.started = false
	switch {
	case top.target != "" || !g.is(i-1, wordToken) || from > 0 && strings.IndexByte("+-*/|&%:.", g.src[from-1]) >= 0:
		top.target = "?"
	case top.colon && !g.mark(i-2, ","):
		top.target = top.first
	case g.mark(i-2, ".,>"):
		top.target = "?"
	default:
		top.target = g.text(i - 1)
	}
}
