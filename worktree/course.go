package worktree

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxCourse is how many commands of a script are followed, functions and loops
// and all.
const maxCourse = 20_000

// maxAsking is how many parts of commands are looked at for words that they
// mention.
const maxAsking = 10 * maxCourse

// course follows a shell command in the order in which it runs, for one who asks
// about each simple command in it. What a shell does with commands is known here
// alone: where it stands, what was surely run, and what becomes of a failure.
type course struct {
	ask     asker
	naive   bool     // the asker trusts that what prepares a command, such as a cd, ends well
	kept    *texts   // files with a text that is known
	src     string   // the script at hand
	shells  int      // around this one
	steps   int      // commands that were followed
	ahead   int      // that were looked at before their time
	asked   int      // parts of commands that were looked at for a word
	seen    int      // simple ones
	spent   int      // bytes of words that were put together
	parts   []fate   // what becomes of a failure in each part of the pipe before
	before  fate     // of what is before the last && of the command before
	pipe    int      // the one of them that tells; -1
	drained bool     // and the status of the pipe does not
	quiet   int      // words and bodies around this place: what fails in them is not told to anybody
	wrong   bool     // the command at hand comes first after one that failed
	come    bool     // what is looked for was surely run, in the branch at hand
	killed  bool     // the outermost shell may have been
	unread  bool     // the whole does not parse
	broken  bool     // a reader broke
	fed     []string // words on the stdin of the command at hand
	handed  []string // the text on it
	shell
}

// asker is one who has a command followed.
type asker interface {
	redirected(o order)  // a command writes files
	simple(o order) fate // a simple command that the shell leaves to others
	unknown()            // something cannot be read: it may do anything
}

// order is a command as its shell reads it.
type order struct {
	raw   []string // all words
	words []string // without the programs that only run another one
	given []string // what it is given to read
	outs  []output
	zero  bool // it exited with 0
}

// output is a file that a command writes; more = behind what is in it.
type output struct {
	to   string
	more bool
}

// shell is what a shell inside of another one is given, and does not give back.
type shell struct {
	at       string              // where it stands
	dirs     []string            // where pushd came from
	vars     map[string][]string // values of its variables, as far as they are plain
	bodies   map[string]body     // its functions
	own      bool                // bodies are of this shell alone
	strict   bool                // set -e
	adrift   bool                // CDPATH may lead a cd anywhere
	pipefail bool
	unheard  int  // set -e does not look in here
	calls    int  // functions around this place
	rounds   int  // loops
	good     bool // it is known to exit with 0
	back     bool // the function at hand is
	surety
}

// body is a function of a shell, with the script that it stands in. Without a
// command it may be one of several.
type body struct {
	stmt  *syntax.Stmt
	src   string
	doubt bool // it may not be there
}

// surety is what is known about whether the command at hand was run, when the
// whole came to its end.
type surety struct {
	branches int  // around it: it is one of several ways
	unsure   bool // it may have been passed by, in the branch at hand
	left     bool // the shell may have ended before
	skipped  bool // the loop or the function may have
}

// near is of the branch at hand, sure of the whole.
func (s *surety) near() bool { return !s.unsure && !s.left && !s.skipped }
func (s *surety) sure() bool { return s.branches == 0 && s.near() }

// begin makes a course for a command; zero tells that it exited with 0.
func begin(ask asker, zero bool) course {
	return course{ask: ask, shell: shell{vars: map[string][]string{}, bodies: map[string]body{}, own: true, good: zero}}
}

// read follows a script. What does not parse may do anything.
func (c *course) read(script string, zero bool) fate {
	if c.shells > maxShells {
		c.ask.unknown()
		return absent
	}
	src, f := c.src, lost
	c.src = script
	err := parse(script, func(file *syntax.File) { f = c.list(file.Stmts, zero) })
	c.src = src
	if err != nil {
		c.unread = c.unread || c.shells == 0
		c.broken = c.broken || errors.Is(err, errBroken)
		c.ask.unknown()
		return lost
	}
	return f
}

// list follows commands one after the other; zero tells that the last one exited
// with 0. In a shell that did, and that ends with a failure, all did that it
// looks at.
func (c *course) list(stmts []*syntax.Stmt, zero bool) fate {
	all := absent
	for i, s := range stmts {
		last, strict := i == len(stmts)-1, c.heard()
		if s.Background && c.awaited(stmts[i+1:]) {
			all = min(all, c.job(s, zero))
			continue
		}
		f := c.stmt(s, zero && last || strict && c.good && whole(s))
		if (strict || c.heard()) && !c.good && !(c.plain(s) && (c.naive || !strict)) {
			c.left = true
		}
		if f == told && c.heard() {
			f = ends
		}
		c.listen(s)
		if (f == soft || f == told || f == lost && c.drained) && !last {
			f = c.carried(stmts[i+1:])
		}
		all = min(all, f)
	}
	return all
}

// listen takes in which part of a pipe tells of a failure to those that come
// after it, and whether its last one does not.
func (c *course) listen(s *syntax.Stmt) {
	c.pipe, c.drained = 0, false
	n, ok := s.Cmd.(*syntax.BinaryCmd)
	for ok && n.Op == syntax.AndStmt && c.before != lost && !s.Negated && !s.Background { // what is before && has but one status
		s = n.Y
		n, ok = s.Cmd.(*syntax.BinaryCmd)
	}
	if !ok || !pipes(n) || s.Negated || s.Background {
		return
	}
	c.pipe = -1
	for i, f := range c.parts {
		switch {
		case f == absent:
		case f == lost || c.pipe >= 0:
			c.pipe, c.drained = -1, false
			return
		default:
			c.pipe, c.drained = i, !c.pipefail && i < len(c.parts)-1
		}
	}
}

// heard tells whether a failure here ends the shell.
func (c *course) heard() bool { return c.strict && c.unheard == 0 }

// whole tells whether set -e looks at the exit of a command, whatever is in it.
func whole(s *syntax.Stmt) bool {
	if s.Negated || s.Background || s.Coprocess {
		return false
	}
	switch n := s.Cmd.(type) {
	case *syntax.CallExpr, *syntax.Subshell:
		return true
	case *syntax.BinaryCmd:
		return pipes(n)
	case *syntax.TimeClause:
		return n.Stmt != nil && whole(n.Stmt)
	}
	return false
}

func pipes(n *syntax.BinaryCmd) bool { return n.Op == syntax.Pipe || n.Op == syntax.PipeAll }

// stmt follows one command.
func (c *course) stmt(n *syntax.Stmt, zero bool) fate {
	if c.steps++; c.steps > maxCourse {
		c.ask.unknown()
		return lost
	}
	handed := c.handed
	c.handed = nil
	o := c.redirects(n)
	if !slices.ContainsFunc(n.Redirs, reads) {
		o.given = handed
	}
	switch {
	case n.Background || n.Coprocess:
		if c.apart(false, func() fate { return c.compound(n.Cmd, o) }) == absent {
			return absent
		}
		return lost
	case n.Negated:
		if f := c.aside(func() fate { return c.compound(n.Cmd, o) }); f >= ends {
			return f
		}
		return lost
	}
	o.zero = zero
	return c.compound(n.Cmd, o)
}

// redirects reads the redirections of a command.
func (c *course) redirects(n *syntax.Stmt) (o order) {
	for _, r := range n.Redirs {
		if r.Word != nil {
			c.words(r.Word)
		}
		switch {
		case r.Hdoc != nil:
			c.words(r.Hdoc)
			o.given = append(o.given, c.document(r.Hdoc))
		case r.Op == syntax.WordHdoc:
			o.given = append(o.given, c.values(r.Word)...)
		case r.Op == syntax.DplIn || r.Word == nil:
		case r.Op == syntax.RdrIn:
			for _, from := range c.values(r.Word) {
				if known, ok := c.kept.get(c.spot(from)); ok || from == "/dev/null" {
					o.given = append(o.given, known)
				}
			}
		default:
			for _, to := range c.values(r.Word) {
				if r.Op != syntax.DplOut || strings.Trim(to, "0123456789-") != "" {
					o.outs = append(o.outs, output{to, r.Op == syntax.AppOut})
				}
			}
		}
	}
	return o
}

// aside follows a part that set -e does not look at.
func (c *course) aside(part func() fate) fate {
	c.unheard++
	f := part()
	c.unheard--
	return f
}

// apart follows what a shell of its own runs; zero tells that it exited with 0.
func (c *course) apart(zero bool, part func() fate) fate {
	was := c.shell
	switch {
	case len(c.vars) == 0:
		c.vars = map[string][]string{}
	case c.spend(varCost * len(c.vars)):
		c.vars = maps.Clone(c.vars)
	}
	c.own, c.good, c.back = false, zero, false
	f := part()
	c.shell = was
	c.left = c.left || c.killed
	if f == ends || f == soft { // its end is only a status
		return told
	}
	return f
}

// maybe follows a part that may not run. It tells also whether what is looked
// for was surely run where the part was.
func (c *course) maybe(part func() fate) (f fate, came bool) {
	was, come := c.shell, c.come
	c.branches++
	c.unsure, c.come = false, false
	f = part()
	came, c.come = c.come, come
	c.branches, c.unsure = was.branches, was.unsure
	c.doubt(was)
	return f, came
}

// doubt takes in that what changed since may not have changed.
func (c *course) doubt(was shell) {
	if c.at != was.at {
		c.at = somewhere
	}
	if c.strict && !was.strict {
		c.strict, c.left = false, c.left || !c.good
	}
	c.pipefail = c.pipefail && was.pipefail
}

// compound follows a command of any kind.
func (c *course) compound(cmd syntax.Command, o order) fate {
	call, ok := cmd.(*syntax.CallExpr)
	if ok && len(call.Args) > 0 {
		return c.call(call, o)
	}
	if len(o.outs) > 0 {
		c.ask.redirected(o)
	}
	if ok {
		return c.assigned(call, o.zero)
	}
	switch n := cmd.(type) {
	case *syntax.BinaryCmd:
		return c.binary(n, o.zero)
	case *syntax.Block:
		return c.list(n.Stmts, o.zero)
	case *syntax.Subshell:
		return c.apart(o.zero, func() fate { return c.list(n.Stmts, o.zero) })
	case *syntax.IfClause:
		return c.branch(n, o.zero)
	case *syntax.WhileClause:
		return c.round(n.Cond, n.Do, false)
	case *syntax.ForClause:
		return c.loop(n)
	case *syntax.CaseClause:
		return c.cases(n, o.zero)
	case *syntax.TimeClause:
		if n.Stmt != nil {
			return c.stmt(n.Stmt, o.zero)
		}
	case *syntax.CoprocClause:
		if c.apart(false, func() fate { return c.perhaps(n.Stmt) }) != absent {
			return lost
		}
	case *syntax.FuncDecl:
		c.declare(n)
	case *syntax.DeclClause:
		c.words(n)
		for _, a := range n.Args {
			c.assign(a)
		}
	case nil:
	default:
		c.words(n)
	}
	return absent
}

// perhaps follows a command that may not be run.
func (c *course) perhaps(s *syntax.Stmt) fate {
	f, _ := c.maybe(func() fate { return c.stmt(s, false) })
	return f
}

// binary follows two commands with a sign between them.
func (c *course) binary(n *syntax.BinaryCmd, zero bool) fate {
	switch {
	case pipes(n):
		return c.piped(n, zero)
	case n.Op == syntax.AndStmt:
		return c.chain(ands(n), zero)
	}
	c.pipe, c.drained = -1, false
	never := c.never([]*syntax.Stmt{n.Y}, true)
	past := never == ends && (c.good || c.calls > 0 && !c.mentions(n.Y, nil, []string{"exit"})) &&
		(c.back || !c.mentions(n.Y, nil, []string{"return"})) // it went on: the first one ended well
	x := c.aside(func() fate { return c.stmt(n.X, past || zero && never != lost) })
	c.wrong = true
	y, _ := c.maybe(func() fate { return c.stmt(n.Y, zero) })
	c.wrong = false
	if x == soft || x == told {
		x = never
	}
	return min(x, y)
}

// ands are the commands that && joins.
func ands(n *syntax.BinaryCmd) []*syntax.Stmt {
	list := []*syntax.Stmt{n.Y}
	for x := n.X; ; {
		in, ok := x.Cmd.(*syntax.BinaryCmd)
		if !ok || in.Op != syntax.AndStmt || x.Negated || len(x.Redirs) > 0 {
			list = append(list, x)
			slices.Reverse(list)
			return list
		}
		list, x = append(list, in.Y), in.X
	}
}

// chain follows commands of which each is run when the one before ended well.
func (c *course) chain(parts []*syntax.Stmt, zero bool) fate {
	all, before, unsure, passed, was := absent, absent, c.unsure, false, c.shell
	for i, part := range parts {
		before = all
		var f fate
		if i == len(parts)-1 {
			f = c.stmt(part, zero)
		} else if f = c.aside(func() fate { return c.stmt(part, zero) }); f == told {
			f = soft
		}
		all = min(all, f)
		strict, pipefail := was.strict, was.pipefail
		if !passed {
			was = c.shell
		}
		if i > 0 && !zero { // options are trusted less than a cd: only the first part is surely run
			was.strict, was.pipefail = strict, pipefail
		}
		plain := zero || c.plain(part)
		passed = passed || !plain
		c.unsure = c.unsure || !plain || !zero && !c.naive
	}
	c.unsure, c.before = unsure, before
	c.doubt(was)
	return all
}

// piped follows two commands in a pipe: only the last one's status stays.
func (c *course) piped(n *syntax.BinaryCmd, zero bool) fate {
	both := zero && c.pipefail
	c.parts = nil
	x := c.apart(both, func() fate { return c.stmt(n.X, both) })
	parts := c.heardOf(n.X, x)
	fed, handed := c.echoed(n.X), c.shown(n.X)
	y := c.apart(zero, func() fate {
		if _, ok := n.Y.Cmd.(*syntax.CallExpr); ok {
			c.fed, c.handed = fed, handed
		}
		f := c.stmt(n.Y, zero)
		c.fed = nil
		return f
	})
	c.parts = append(parts, c.heardOf(n.Y, y)...)
	if x != absent && !c.pipefail {
		x = lost
	}
	return min(x, y)
}

// heardOf are what becomes of a failure in each part of a side of a pipe.
func (c *course) heardOf(side *syntax.Stmt, f fate) []fate {
	if n, ok := side.Cmd.(*syntax.BinaryCmd); ok && pipes(n) && !side.Negated {
		return slices.Clone(c.parts)
	}
	return []fate{f}
}

// plain tells whether a command ends well wherever it is run: what && joins to
// it is run too, whatever came of all in the end.
func (c *course) plain(n *syntax.Stmt) bool {
	call, ok := n.Cmd.(*syntax.CallExpr)
	if !ok || n.Negated || len(call.Args) == 0 {
		return false
	}
	for _, r := range n.Redirs {
		if r.Hdoc == nil && (r.Word == nil || r.Word.Lit() == "" || strings.Contains(r.Word.Lit(), "/") || r.Op == syntax.RdrIn) {
			return false
		}
	}
	switch call.Args[0].Lit() {
	case "cd", "pushd", "echo", "printf", "export", "set", "pwd", "true", ":", "umask":
		return true // a cd to where nothing is names what is not there
	case "cat":
		return len(call.Args) == 1
	case "mkdir":
		return len(call.Args) > 1 && call.Args[1].Lit() == "-p"
	}
	return false
}
