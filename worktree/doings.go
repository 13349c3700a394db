package worktree

import (
	"cmp"
	"context"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/belay-run/belay"
)

// Limits of what is remembered of an agent's doings.
const (
	maxCredited = 20     // changed files that are told as named
	maxHeld     = 5_000  // paths that were named
	maxPath     = 4_096  // bytes of one: no file has a longer one
	maxWords    = 20_000 // words of programs in other languages
	maxGlobs    = 100
	maxAsked    = 500 // names that git is asked about
)

// Doings are what an agent's tools may have done: everything that it did in one
// attempt, however much that was. The zero value is an agent that did nothing.
type Doings struct {
	writes, afar bool
	commits      map[making]bool // that it made, by commands that ended well
	tried        map[string]bool // places where a command stood that makes commits, however it ended
	names        map[naming]bool
	words        map[string]bool
	kept         texts // what it wrote, as far as its records tell the text
}

// Take takes in a tool call with its whole command: one that ended, or that was
// under way when the agent did.
func (d *Doings) Take(call belay.ToolCall) {
	seen := deedOf(call, &d.kept)
	d.writes, d.afar = d.writes || seen.writes, d.afar || seen.afar
	if seen.undone || seen.reverts && len(d.commits) > 0 { // nobody knows whether one of its own still stands
		d.commits = nil
		if seen.reverts {
			seen.commits = nil
		}
	}
	if call.Command != "" && !call.Failed && !call.Denied && !call.Open && !call.Masked && (call.Exit == nil || *call.Exit == 0) {
		d.commit(call.Command, seen.commits)
	}
	for _, at := range seen.tried {
		if d.tried == nil {
			d.tried = map[string]bool{}
		}
		if len(d.tried) < maxHeld {
			d.tried[at] = true
		}
	}
	for _, n := range seen.names {
		if d.names == nil {
			d.names = map[naming]bool{}
		}
		if len(d.names) < maxHeld && len(n.path)+len(n.from) <= maxPath {
			d.names[naming{strings.Clone(n.path), n.how, strings.Clone(n.from)}] = true // not a part of a long command
		}
	}
	for _, t := range seen.texts {
		d.mark(t.text, t.from)
	}
}

// commit takes in where a command that ended well made commits, unless its end
// does not tell, or it may have made them in another repository.
func (d *Doings) commit(command string, list []making) {
	if len(list) == 0 || strings.Contains(command, "GIT_DIR") || strings.Contains(command, "GIT_WORK_TREE") {
		return
	}
	if s := look(command, makesCommit, 0); !s.found || s.masked {
		return
	}
	if d.commits == nil {
		d.commits = map[making]bool{}
	}
	for _, m := range list {
		if len(d.commits) < maxHeld && len(m.at) <= maxPath {
			d.commits[making{strings.Clone(m.at), m.subject}] = true
		}
	}
}

// committed are the commits that were made in a tree with this top, for an agent
// that worked in dir.
func (d *Doings) committed(dir, top string) []making {
	var list []making
	for m := range d.commits {
		at := placed(dir, m.at)
		if _, ok := inside(top, filepath.Join(at, ".git")); ok && at != "" { // settles links on the way to it
			list = append(list, m)
		}
	}
	return list
}

// mark keeps the words of a text that could be names of files.
func (d *Doings) mark(text, from string) {
	for _, q := range quotedLetter.FindAllStringSubmatch(text, maxWords) {
		d.word(q[1], from)
	}
	for w := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_./-+@~", r)
	}) {
		w = strings.TrimRight(w, ".")
		if len(w) > 1 && len(w) <= 500 {
			d.word(w, from)
		}
	}
}

// quotedLetter is a name of one letter: such ones stand for other things too.
var quotedLetter = regexp.MustCompile(`\(["'](\w)["'],`)

// word keeps a name out of a text for a program that stood at a place.
func (d *Doings) word(w, from string) {
	if len(d.words) >= maxWords || len(w)+len(from) > maxPath || from == somewhere && !path.IsAbs(w) {
		return
	}
	if d.words == nil {
		d.words = map[string]bool{}
	}
	if !path.IsAbs(w) {
		w = path.Join(from, w)
	}
	d.words[strings.Clone(path.Clean(w))] = true
}

// compare puts names in an order.
func (n naming) compare(other naming) int {
	return cmp.Or(cmp.Compare(n.path, other.path), cmp.Compare(n.from, other.from), cmp.Compare(n.how, other.how))
}

// names are the paths that an agent named, as they lie in one working tree.
type names struct {
	whole   map[string]manner // from the top
	parts   map[string]manner // the ends of paths: nobody knows where its shell stood
	folders map[string]manner // that were named with all in them
	globs   []glob
	outside bool     // one of them lies outside of the tree, or may
	commits []making // that were made in the tree
}

// glob is a pattern of paths.
type glob struct {
	pattern string
	how     manner
}

// place finds the names in a tree with this top, for an agent that worked in dir.
func (d *Doings) place(dir, top string) names {
	n := names{whole: map[string]manner{}, parts: map[string]manner{}, folders: map[string]manner{}}
	n.commits = d.committed(dir, top)
	for _, name := range slices.SortedFunc(maps.Keys(d.names), naming.compare) { // a cap takes the same ones each time
		n.add(name, dir, top)
	}
	for w := range d.words {
		if filepath.IsAbs(w) {
			if rel, ok := inside(top, w); ok {
				n.whole[rel] = written
			}
			continue
		}
		n.parts[w] = written
	}
	return n
}

// add finds one name.
func (n *names) add(name naming, dir, top string) {
	p, from := name.path, name.from
	switch {
	case strings.ContainsAny(p, "$`"), strings.HasPrefix(p, "~"): // only the shell knows
		n.outside = true
		return
	case filepath.IsAbs(p):
	case filepath.IsAbs(from):
		p = path.Join(from, p)
	case from == somewhere:
		n.outside = true
		return
	default:
		p = path.Join(from, p)
		if !strings.HasPrefix(p, "../") {
			n.part(p, name.how)
		}
		p = filepath.Join(dir, p)
	}
	rel, ok := inside(top, p)
	if !ok {
		n.outside = true
		return
	}
	n.put(n.whole, rel, name.how)
}

// part adds a path of which only the end is known.
func (n *names) part(p string, how manner) {
	if strings.ContainsAny(p, "*?[") {
		n.pattern(p, how)
		return
	}
	n.put(n.parts, p, how)
}

func (n *names) pattern(p string, how manner) {
	if len(n.globs) < maxGlobs {
		n.globs = append(n.globs, glob{p, how})
	}
}

func (n *names) put(m map[string]manner, p string, how manner) {
	if strings.ContainsAny(p, "*?[") {
		n.pattern(p, how)
	}
	if p == "." || p == "" {
		return // the whole tree names nothing
	}
	if old, ok := m[p]; !ok || old > how {
		m[p] = how
	}
	if how == within || how == gone || how == moded {
		if old, ok := n.folders[p]; !ok || old > how {
			n.folders[p] = how
		}
	}
}

// inside is a path as seen from the top of a tree, when it is in it.
func inside(top, p string) (string, bool) {
	full := settled(p)
	if !below(top, full) {
		return "", false
	}
	rel, err := filepath.Rel(top, full)
	return rel, err == nil
}

// settled is a path with the links in the part of it that is there followed.
func settled(p string) string {
	p = filepath.Clean(p)
	rest := filepath.Base(p)
	for at := filepath.Dir(p); ; at = filepath.Dir(at) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		if at == filepath.Dir(at) {
			return p
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}

// changed tells whether a change of a file is one that was named.
func (n *names) changed(c change) bool {
	if n.is(c.Path, c.Change, c.mode) || c.commit[1] != "" && n.below(c.Path) {
		return true
	}
	return c.old != "" && n.is(c.old, belay.FileDeleted, false)
}

// below tells whether something in a folder was named: a repository inside of
// this one is told as one change.
func (n *names) below(dir string) bool {
	for _, m := range []map[string]manner{n.whole, n.parts} {
		for p := range m {
			if strings.HasPrefix(p, dir+"/") {
				return true
			}
		}
	}
	return false
}

func (n *names) is(file string, kind belay.ChangeKind, mode bool) bool {
	if how, ok := n.whole[file]; ok && how.fits(kind, mode) {
		return true
	}
	for end := file; end != ""; {
		if how, ok := n.parts[end]; ok && how.fits(kind, mode) {
			return true
		}
		_, end, _ = strings.Cut(end, "/")
	}
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		if how, ok := n.folders[dir]; ok && how.fits(kind, mode) {
			return true
		}
	}
	return slices.ContainsFunc(n.globs, func(g glob) bool { return g.how.fits(kind, mode) && g.matches(file) })
}

// matches tells whether a path, or the end of it, is one of the pattern.
func (g glob) matches(file string) bool {
	whole, err := path.Match(g.pattern, file)
	deep := strings.Count(g.pattern, "/")
	if err != nil || whole || deep > strings.Count(file, "/") {
		return whole
	}
	parts := strings.Split(file, "/")
	end, _ := path.Match(g.pattern, strings.Join(parts[len(parts)-1-deep:], "/")) // the pattern is sound
	return end
}

// fits tells whether a change is of the kind that was named.
func (m manner) fits(kind belay.ChangeKind, mode bool) bool {
	switch m {
	case made:
		return kind == belay.FileAdded
	case gone:
		return kind == belay.FileDeleted
	case moded:
		return mode && kind == belay.FileModified
	case written, within:
	}
	return true
}

// in is what of it counts for a working tree with these changes, or for a
// folder that changed and in which nobody keeps a list of changes.
func (d *Doings) in(n *names, top string, list []change, folder bool) belay.Doing {
	own := belay.Doing{Told: true, Writes: d.writes, Afar: d.afar || n.outside}
	if folder {
		own.Named = n.exists(top)
		return own
	}
	for _, c := range list {
		if len(own.Named) == maxCredited {
			break
		}
		if n.changed(c) {
			own.Named = append(own.Named, shown(c.Path))
		}
	}
	return own
}

// there tells whether a file is there.
func there(top, p string) bool {
	fi, err := os.Lstat(filepath.Join(top, p))
	return err == nil && !fi.IsDir()
}

// ignored tells whether a file that was named is there, and is one that git does
// not look at: what is done to it the tree does not show.
func (n *names) ignored(ctx context.Context, at place) bool {
	args := []string{"check-ignore", "--"}
	for _, p := range slices.Sorted(maps.Keys(n.whole)) { // a cap takes the same ones each time
		if n.whole[p] != gone && len(args) < maxAsked && there(at.top, p) {
			args = append(args, p)
		}
	}
	if len(args) == 2 {
		return false
	}
	out, err := at.run(ctx, args...)
	return err == nil && out != "" // 1 = none of them
}

// exists lists the files that were named and are there, for a folder in which
// nobody keeps a list of changes.
func (n *names) exists(top string) []string {
	var list []string
	for p, how := range n.whole {
		if how == gone || how == moded {
			continue
		}
		if there(top, p) {
			list = append(list, shown(p))
		}
	}
	slices.Sort(list)
	return list[:min(len(list), maxCredited)]
}
