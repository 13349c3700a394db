package worktree

import (
	"os"
	"slices"
	"testing"
)

// Uncommitted files keep a worktree, unless all of them were committed elsewhere
// in the meantime.
//
// promise: K5
func TestWorktreeOfCommittedFiles(t *testing.T) {
	t.Parallel()
	const work = "echo new > new; echo more >> a.txt; rm src/main.go; "
	for name, c := range map[string]struct {
		there, here string
		safe        bool
	}{
		"committed here":      {work, work + "git add -A; git commit -q -m all", true},
		"staged there":        {work + "git add -A", work + "git add -A; git commit -q -m all", true},
		"and more":            {work, work + "echo o > o; git add -A; git commit -q -m all", true},
		"not all of it":       {work + "echo o > o", work + "git add -A; git commit -q -m all", false},
		"without a deletion":  {work, work + "git checkout -q src; git add -A; git commit -q -m all", false},
		"only staged":         {"echo s > new; git add new; echo new > new", "echo new > new; git add -A; git commit -q -m all", false},
		"another content":     {work, work + "echo x > new; git add -A; git commit -q -m all", false},
		"on an unpushed base": {"echo b > b; git add b; git commit -q -m b; " + work, work + "git add -A; git commit -q -m all", false},
		"nested":              {work + "git init -q n; echo n > n/n", work + "git add -A; git commit -q -m all", false},
		"nested, linked here": {"git clone -q . n", "git clone -q . n; git add -A; git commit -q -m all", false},
		"nested too deep":     {work + "mkdir -p 1/2/3/4/5; for d in 1 1/2 1/2/3 1/2/3/4 1/2/3/4/5; do git init -q $d; done; echo n > 1/2/3/4/5/n", work + "git add -A; git commit -q -m all", false},
		"nested, nothing in":  {work + "mkdir -p 1/2/3; for d in 1 1/2 1/2/3; do git init -q $d; done", work + "git add -A; git commit -q -m all", true},
		"in a conflict":       {"echo x > a.txt; git stash -q; echo y > a.txt; git commit -q -a -m y; git stash pop || true", "git merge -q b/w; echo y > a.txt; git commit -q --allow-empty -m z", false},
		"locked":              {work + "git worktree lock .", work + "git add -A; git commit -q -m all", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			o := r.options()
			o.Branch = "b/w"
			m := r.create(o)
			r.in(m.Path).sh(c.there)
			r.sh(c.here)
			list, err := List(t.Context(), r.dir)
			r.must(err)
			i := slices.IndexFunc(list, func(o Owned) bool { return o.Path == m.Path })
			got := list[i]
			if got.Safe != c.safe {
				t.Errorf("%+v", got)
			}
			if err := Remove(t.Context(), m, false); err == nil {
				t.Error("at the end of a run it goes without being asked for")
			}
			if err := got.Remove(t.Context()); (err == nil) != c.safe || exists(m.Path) == c.safe {
				t.Errorf("safe %v: %v", c.safe, err)
			}
		})
	}
}

// forgiven is a worktree with a new file that was committed elsewhere.
func forgiven(t *testing.T) (rig, Made) {
	t.Helper()
	r := newRig(t)
	o := r.options()
	o.Branch = "b/w"
	m := r.create(o)
	r.in(m.Path).write("new", "new")
	r.write("new", "new")
	r.commit("new")
	return r, m
}

// What is written after the look is looked at again.
//
// promise: K5
func TestWorktreeThatChangesAfterTheLook(t *testing.T) {
	t.Parallel()
	r, m := forgiven(t)
	list, err := List(t.Context(), r.dir)
	r.must(err)
	r.in(m.Path).write("newer", "newer")
	if err := list[0].Remove(t.Context()); !list[0].Safe || err == nil || !exists(m.Path) {
		t.Errorf("%+v %v", list[0], err)
	}
}

// A look at the place where a worktree is moved for the last time has the last
// word, and one that was left there is found again.
//
// promise: K5
func TestWorktreeMovedAside(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		write string // into the folder aside, or "" for nothing
		why   []Reason
	}{
		"left there":          {"", nil},
		"left there, changed": {"newer", []Reason{ReasonDirty}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, m := forgiven(t)
			away := m.Path + goingSuffix
			r.git("worktree", "move", m.Path, away)
			if c.write != "" {
				r.in(away).write(c.write, c.write)
			}
			list, err := List(t.Context(), r.dir)
			r.must(err)
			if got := list[0]; got.Path != away || !slices.Equal(got.Why, c.why) || got.Safe != (c.why == nil) {
				t.Fatalf("%+v", got)
			}
			err = list[0].Remove(t.Context())
			if c.why == nil {
				r.must(err)
			} else if why := refused(t, err); !slices.Equal(why, c.why) {
				t.Errorf("%v", why)
			}
			if exists(away) == (c.why == nil) || exists(m.Path) {
				t.Errorf("aside %v, in place %v", exists(away), exists(m.Path))
			}
		})
	}
}

// What is in the way aside is not touched.
//
// promise: K5
func TestWorktreeWithoutRoomAside(t *testing.T) {
	t.Parallel()
	r, m := forgiven(t)
	r.must(os.Mkdir(m.Path+goingSuffix, 0o755))
	list, err := List(t.Context(), r.dir)
	r.must(err)
	if why := refused(t, list[0].Remove(t.Context())); !slices.Equal(why, []Reason{ReasonForeign}) || !exists(m.Path) {
		t.Errorf("%v", why)
	}
}
