package worktree

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// snapped keeps what is in the tree under a ref of its own.
func (r rig) snapped(step string) string {
	r.t.Helper()
	ref := SnapshotRef("k3f9q", "fix", len(step)) + "-" + step
	_, err := Tree{Dir: r.dir}.Snapshot(r.t.Context(), r.look(), ref, "m")
	r.must(err)
	return ref
}

// fate is what is said of a snapshot.
func (r rig) fate(ref string) Owned {
	r.t.Helper()
	list, err := List(r.t.Context(), r.dir)
	r.must(err)
	i := slices.IndexFunc(list, func(o Owned) bool { return o.Ref == ref })
	if i < 0 {
		r.t.Fatalf("%s is not in %+v", ref, list)
	}
	return list[i]
}

// Work that was committed in the meantime is in no need of its snapshot, whatever
// way it took; all that was never committed is.
//
// promise: K5
func TestSnapshotOfCommittedWork(t *testing.T) {
	t.Parallel()
	const work = `echo new > new; echo more >> a.txt; rm src/main.go; chmod +x .gitignore; `
	for name, c := range map[string]struct {
		first, after string
		safe         bool
	}{
		"committed":            {work, `git add -A; git commit -q -m all`, true},
		"in two commits":       {work, `git add new; git commit -q -m one; git commit -q -a -m two`, true},
		"and more beside":      {work, `echo o > other; git add -A; git commit -q -m all`, true},
		"changed again later":  {work, `git add -A; git commit -q -m all; echo x > new; git commit -q -a -m x`, true},
		"on another branch":    {work, `git checkout -q -b x; git add -A; git commit -q -m all; git checkout -q main`, true},
		"pushed, branch gone":  {work, `git checkout -q -b x; git add -A; git commit -q -m all; git push -q up x; git checkout -q main; git branch -q -D x`, true},
		"squashed":             {work, `git checkout -q -b x; git add -A; git commit -q -m all; echo y > y; git add y; git commit -q -m y; git checkout -q main; git merge -q --squash x; git commit -q -m squash; git branch -q -D x`, true},
		"in a merge":           {work, `git stash -q -u; git checkout -q -b x; echo y > y; git add y; git commit -q -m y; git checkout -q main; git commit -q --allow-empty -m z; git merge -q --no-commit x; git stash pop -q; git add -A; git commit -q -m merge`, true},
		"an odd name":          {"printf 'x' > $'a\\tb\\n\"ä'", `git add -A; git commit -q -m all`, true},
		"nothing committed":    {work, `git checkout -q .`, false},
		"part of it":           {work, `git add new; git commit -q -m one`, false},
		"without the deletion": {work, `git checkout -q src; git add -A; git commit -q -m all`, false},
		"without the mode":     {work, `chmod -x .gitignore; git add -A; git commit -q -m all`, false},
		"another mode":         {`echo new > new; chmod +x new`, `chmod -x new; git add -A; git commit -q -m all`, false},
		"another content":      {work, `echo newer > new; git add -A; git commit -q -m all`, false},
		"under another name":   {work, `mv new old; git add -A; git commit -q -m all`, false},
		"commit was reset":     {work, `git add -A; git commit -q -m all; git reset -q --hard HEAD~1`, false},
		"only stashed":         {work, `git stash -q -u`, false},
		"deletion only":        {`rm a.txt`, `git checkout -q a.txt`, false},
		"deleted and back":     {`rm a.txt`, `git commit -q -a -m d; git revert -n HEAD; git commit -q -m r`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			up := filepath.Join(t.TempDir(), "up")
			r.git("init", "-q", "--bare", up)
			r.git("remote", "add", "up", up)
			r.sh(c.first)
			ref := r.snapped("w")
			r.sh(c.after)
			if o := r.fate(ref); o.Safe != c.safe || o.Dirty == c.safe || o.Unpushed != 0 {
				t.Errorf("%+v", o)
			}
		})
	}
}

// What a snapshot stands on counts too.
//
// promise: K5
func TestSnapshotOnCommitsOfItsOwn(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.sh(`git checkout -q -b x; echo 1 > one; git add one; git commit -q -m 1; echo 2 > two; git add two; git commit -q -m 2; echo 3 > three`)
	ref := r.snapped("x")
	r.sh(`git add three; git checkout -q -f main; git branch -q -D x; git clean -qfd; echo 3 > three; git add three; git commit -q -m 3`)
	if o := r.fate(ref); o.Safe || o.Dirty || o.Unpushed != 2 {
		t.Errorf("%+v", o)
	}
	r.sh(`git tag back $(git rev-parse ` + ref + `^)`)
	o := r.fate(ref)
	if !o.Safe || o.Unpushed != 0 {
		t.Errorf("%+v", o)
	}
	// another one stands there by now: it is not the one that was looked at
	r.git("update-ref", ref, "HEAD")
	if err := o.Remove(t.Context()); err == nil {
		t.Error("it was dropped though it is another one")
	}
	r.must(r.fate(ref).Remove(t.Context()))
	if out := r.git("for-each-ref", "refs/belay"); out != "" {
		t.Errorf("left: %s", out)
	}
	r.must(o.Remove(t.Context()))
}

// A snapshot of a repository without commits is held against all of them.
//
// promise: K5
func TestSnapshotWithoutAParent(t *testing.T) {
	t.Parallel()
	r := emptyRig(t)
	r.write("f", "f")
	ref := r.snapped("r")
	if o := r.fate(ref); o.Safe || !o.Dirty {
		t.Errorf("%+v", o)
	}
	r.write("g", "g")
	r.commit("first")
	if o := r.fate(ref); !o.Safe {
		t.Errorf("%+v", o)
	}
}

// However many there are, git is asked a handful of times.
//
// promise: K5
func TestManySnapshots(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	refs := &strings.Builder{}
	head, tree := r.git("rev-parse", "HEAD"), ""
	for i := range 20 {
		r.write("f", fmt.Sprint(i))
		tree = r.look().Tree
		id := r.git("commit-tree", "-p", head, "-m", "s", tree)
		for j := range 50 {
			fmt.Fprintf(refs, "create refs/belay/run%d/step.%d %s\n", i, j, id)
		}
		if i%2 == 0 {
			r.commit("one more")
		}
	}
	r.write("refs", refs.String())
	r.sh("git update-ref --stdin < refs && rm refs")
	calls := filepath.Join(t.TempDir(), "calls")
	program := filepath.Join(t.TempDir(), "git")
	r.must(os.WriteFile(program, []byte("#!/bin/sh\necho x >> "+calls+"\nexec git \"$@\"\n"), 0o755))
	kept, err := Tree{Dir: r.dir}.Snapshots(t.Context())
	r.must(err)
	safe := 0
	for _, o := range (git{program: program, dir: r.dir}).assessSnapshots(t.Context(), kept) {
		if o.Safe {
			safe++
		}
	}
	if b, err := os.ReadFile(calls); len(kept) != 1000 || safe != 500 || err != nil || len(b) > 2*8 {
		t.Errorf("%d snapshots, %d safe, %d calls %v", len(kept), safe, len(b)/2, err)
	}
}
