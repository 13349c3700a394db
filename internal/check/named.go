package check

import (
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/worktree"
)

// Reader knows the files of shell texts.
type Reader interface {
	// Names are those of some files that a text names for more than a look.
	Names(text string, files []string) []string
	// Rivals are the files that a command takes in the place of one.
	Rivals(name string) []string
}

// Begun is what is known of a directory without a repository since the work began: there is no
// copy of it as it was.
type Begun struct {
	Changed, Added []string        // files that are not as they were, and those that were not there
	Tests          effect.TestPlan // how its tests were run
}

// Plan is how the tests of a directory are run; where the settings name a command, by that.
func Plan(dir, script, programs string) effect.TestPlan {
	if script == "" {
		return Find(dir, Top(dir, dir), programs)
	}
	l, c := level{dir}, effect.TestCommand{Kind: inShell[0]}
	for _, name := range l.named(script) {
		c.Files = append(c.Files, l.sum(name))
	}
	return effect.TestPlan{Dir: dir, Top: dir, Commands: []effect.TestCommand{c}}
}

// named runs a shell text that passed with the files that it names as they were before the work,
// where the work changed them. Those that the work is to change are left as they are, and
// so are tests as they were written for it: these have a look of their own.
func named(ctx context.Context, t Trial, tree worktree.Throwaway, run trying, r *Tried) error {
	if t.Judged == "" && t.Begun == nil {
		return nil
	}
	changed, added, err := t.differences(ctx, tree)
	if err != nil {
		return err
	}
	text := t.Args[len(t.Args)-1]
	added = t.Reads.Names(text, added)
	var list []string
	links := map[string]string(nil)
	if t.Judged != "" {
		if links, err = tree.Links(ctx); err != nil {
			return err
		}
	}
	for _, name := range t.namedIn(text, changed, links) {
		switch {
		case slices.Contains(t.Program, path.Clean(name)):
			r.Changed = append(r.Changed, name)
		case !t.written(tree, name) && !t.meansOther(text, name):
			list = append(list, name)
		}
	}
	list = append(list, t.leads(tree.Dir, added)...)
	r.Added = slices.DeleteFunc(added, func(name string) bool { return slices.Contains(t.Program, path.Clean(name)) })
	switch {
	case len(list) == 0:
		return nil
	case t.Judged == "":
		r.Rewritten = slices.DeleteFunc(list, func(name string) bool { return t.Begun.had(level{tree.Dir}.sum(name)) })
		r.Lost = len(r.Rewritten) > 0
		return nil
	}
	was, err := worktree.ThrowawayOf(ctx, t.Dir, t.Commit, t.Base, t.Copy+"-was")
	if err != nil {
		return err
	}
	defer was.Remove()
	if err := was.PutBack(ctx, t.Judged, list); err != nil {
		return err
	}
	if list = slices.DeleteFunc(list, func(name string) bool { return sameOrders(tree.Dir, was.Dir, name) }); len(list) == 0 {
		return nil
	}
	if then, err := run(was); err != nil {
		return err
	} else if !then.Passed {
		r.Rewritten = list
	}
	return nil
}

// sameOrders tells whether the part of a file is the same in two folders that says what a command
// does: a new dependency in a package.json is none.
func sameOrders(now, was, name string) bool {
	dir, base := path.Split(name)
	return parts[base] != nil && (level{filepath.Join(now, dir)}).sum(base) == (level{filepath.Join(was, dir)}).sum(base)
}

// namedIn are those of some files that a text names, by their paths or by those of links that
// lead to them.
func (t Trial) namedIn(text string, files []string, links map[string]string) []string {
	list := t.Reads.Names(text, files)
	for from, to := range links {
		var behind, as []string
		for _, name := range files {
			if rest, ok := strings.CutPrefix(name, to); ok && (rest == "" || rest[0] == '/') {
				behind, as = append(behind, name), append(as, from+rest)
			}
		}
		for _, name := range t.Reads.Names(text, as) {
			if file := behind[slices.Index(as, name)]; !slices.Contains(list, file) {
				list = append(list, file)
			}
		}
	}
	slices.Sort(list)
	return list
}

// meansOther tells whether a text that has only the name of a file, and not its path, means one
// of the same name that the work is to change.
func (t Trial) meansOther(text, name string) bool {
	return !strings.Contains(text, name) && slices.ContainsFunc(t.Program, func(other string) bool { return path.Base(other) == path.Base(name) })
}

// differences are the files that the work changed or removed, and those that came with it, from
// the folder of the copy.
func (t Trial) differences(ctx context.Context, tree worktree.Throwaway) (changed, added []string, err error) {
	if t.Judged == "" {
		return t.Begun.Changed, t.Begun.Added, nil
	}
	if changed, err = tree.Changed(ctx, t.Judged, "MTD"); err != nil {
		return nil, nil, err
	}
	added, err = tree.Changed(ctx, t.Judged, "A")
	return changed, added, err
}

// written tells whether a file is a test that was written for the work.
func (t Trial) written(tree worktree.Throwaway, name string) bool {
	whole, err := filepath.Rel(filepath.Join(tree.Root, "tree"), filepath.Join(tree.Dir, name))
	return err == nil && slices.ContainsFunc(t.Forms, func(form map[string]worktree.TestFile) bool {
		_, is := form[filepath.ToSlash(whole)]
		return is
	})
}

// leads are those of some new files that come before one that was there.
func (t Trial) leads(dir string, added []string) []string {
	return slices.DeleteFunc(slices.Clone(added), func(name string) bool {
		return !slices.ContainsFunc(t.Reads.Rivals(name), func(other string) bool {
			other = path.Join(path.Dir(name), other)
			return (level{dir}).has(other) && !slices.Contains(added, other)
		})
	})
}

// had tells whether a file is, in what says how tests are run, as it was.
func (b Begun) had(f effect.FileSum) bool {
	return parts[path.Base(f.Path)] != nil && slices.ContainsFunc(b.Tests.Commands, func(c effect.TestCommand) bool {
		return c.Dir == "" && slices.Contains(c.Files, f)
	})
}

// lost says which files that say what the test command does, or which tests run, are not as
// they were in a directory of which there is no copy.
func (b Begun) lost(dir string) []string {
	var list []string
	for _, c := range b.Tests.Commands {
		l := level{filepath.Join(dir, c.Dir)}
		for _, f := range c.Files {
			name := path.Join(filepath.ToSlash(c.Dir), f.Path)
			if source := slices.Contains(compiled, path.Ext(name)); !source && l.sum(f.Path) != f && !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	if len(b.Tests.Commands) == 0 { // all of it came with the work
		return nil
	}
	for _, name := range slices.Concat(b.Changed, b.Added) {
		if worktree.IsTestSettings(name) && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}
