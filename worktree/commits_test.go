package worktree

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// newHistory is a repository with two commits on main, a branch that has one of
// its own, and a remote that is ahead.
func newHistory(t *testing.T) rig {
	t.Helper()
	r := newRig(t)
	r.git("checkout", "-q", "-b", "other")
	r.write("o.txt", "o\n")
	r.commit("other's own")
	r.git("checkout", "-q", "main")
	r.write("a.txt", "1\n")
	r.commit("second")
	r.write("a.txt", "1\n2\n")
	r.commit("third")
	up := r.in(filepath.Join(t.TempDir(), "up"))
	r.git("clone", "-q", r.dir, up.dir)
	up.write("u.txt", "u\n")
	up.commit("upstream")
	r.git("remote", "add", "origin", up.dir)
	return r
}

// None of these leaves work behind, whatever the log of HEAD says.
// promise: H3
func TestSinceCountsNoVisits(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"visit":              `git checkout -q HEAD~1; git checkout -q main`,
		"bisect":             `git bisect start; git bisect bad main; git bisect good main~2; git bisect run true; git bisect reset`,
		"forced rebase":      `git rebase -q --force-rebase HEAD~1`,
		"other rebased":      `git checkout -q other; GIT_COMMITTER_DATE=@2000000000 git rebase -q --force-rebase HEAD~1; git checkout -q main`,
		"fetched":            `git fetch -q origin; git checkout -q origin/main; git checkout -q main`,
		"fast-forward":       `git fetch -q origin; git checkout -q -b x; git merge -q origin/main; git checkout -q main`,
		"pulled":             `git checkout -q -b x; git pull -q --ff-only origin main; git checkout -q main`,
		"empty on other":     `git checkout -q other; git commit -q --allow-empty -m x; git checkout -q main`,
		"reverted on other":  `git checkout -q other; echo x >x; git add x; git commit -q -m x; git revert --no-edit HEAD; git checkout -q main`,
		"reverted later":     `git checkout -q other; echo x >x; git add x; git commit -q -m x; git checkout -q main; git checkout -q other; git revert --no-edit HEAD; git checkout -q main`,
		"reset":              `echo x >x; git add x; git commit -q -m x; git reset -q --hard HEAD~1`,
		"branch deleted":     `git checkout -q -b x; echo x >x; git add x; git commit -q -m x; git checkout -q main; git branch -q -D x`,
		"detached, lost":     `git checkout -q --detach; echo x >x; git add x; git commit -q -m x; git checkout -q main`,
		"other amended":      `git checkout -q other; git commit -q --amend -m better; git checkout -q main`,
		"orphan, same files": `git checkout -q --orphan x; git commit -q -m x; git checkout -q main`,
		"copied":             `git checkout -q -b x HEAD~1; git cherry-pick main; git checkout -q main`,
		"empty":              `git commit -q --allow-empty -m x`,
		"amended":            `git commit -q --amend -m better`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newHistory(t)
			base := r.timed()
			r.sh(script)
			e := r.since(base)
			if len(e.Commits) != 0 || e.Files != 0 || e.Before.Tree != e.After.Tree {
				t.Errorf("%d files, commits %v\n%s", e.Files, e.Commits, r.read(".git/logs/HEAD"))
			}
		})
	}
}

// promise: H3
func TestSinceCountsWorkOnOtherBranches(t *testing.T) {
	t.Parallel()
	const one = `echo x >x; git add x; git commit -q -m x; `
	for name, c := range map[string]struct {
		script string
		want   int
	}{
		"new branch":       {`git checkout -q -b x; ` + one + `git checkout -q main`, 1},
		"other":            {`git checkout -q other; ` + one + `git checkout -q main`, 1},
		"tagged":           {`git checkout -q --detach; ` + one + `git tag -a -m t t; git checkout -q main`, 1},
		"pushed":           {`git checkout -q -b x; ` + one + `git push -q origin x; git checkout -q main; git branch -q -D x`, 1},
		"two":              {`git checkout -q -b x; ` + one + `echo y >x; git commit -q -a -m y; git checkout -q main`, 2},
		"merged":           {`git checkout -q other; git merge -q --no-edit main; git checkout -q main`, 1},
		"rebased":          {`git checkout -q other; git rebase -q main; git checkout -q main`, 1},
		"reverted old":     {`git checkout -q HEAD~1; git checkout -q other; git revert --no-edit HEAD; git checkout -q main`, 1},
		"amended":          {`git checkout -q other; echo y >o.txt; git commit -q -a --amend -m y; git checkout -q main`, 1},
		"old date":         {`git checkout -q -b x; echo x >x; git add x; git commit -q -m x --date=@1000000000; git rebase -q -f --committer-date-is-author-date main; git checkout -q main`, 1},
		"stacked, undone":  {`git checkout -q -b x; ` + one + `git checkout -q -b y; git revert --no-edit HEAD; git checkout -q main`, 1},
		"subject":          {`git checkout -q -b x; echo x >x; git add x; git commit -q -m fast-forward; git checkout -q main`, 1},
		"and back to main": {`git checkout -q -b x; ` + one + `git checkout -q main; echo y >y; git add y; git commit -q -m y`, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newHistory(t)
			base := r.timed()
			r.sh(c.script)
			if e := r.since(base); len(e.Commits) != c.want {
				t.Errorf("commits %v, want %d\n%s", e.Commits, c.want, r.read(".git/logs/HEAD"))
			}
		})
	}
}

func TestSinceInANewRepository(t *testing.T) {
	t.Parallel()
	r := emptyRig(t)
	base := r.timed()
	r.commit("nothing")
	if e := r.since(base); len(e.Commits) != 0 {
		t.Errorf("an empty first commit: %v", e.Commits)
	}
	r.write("f", "f")
	head := r.commit("something")
	if e := r.since(base); !slices.Contains(e.Commits, head) || e.Files != 1 {
		t.Errorf("%+v", e)
	}
}

// Breaking the repository is no work: then nobody can tell what was done.
// promise: H3
func TestSinceWhenTheRepositoryBreaks(t *testing.T) {
	t.Parallel()
	const outer = `mkdir -p in/src; cd in; git init -q; git add -A; git commit -q --allow-empty -m x`
	for name, c := range map[string]struct{ first, script string }{
		"removed":         {"", `rm -rf .git`},
		"moved":           {"", `mv .git .git2`},
		"bare":            {"", `git config core.bare true`},
		"bad HEAD":        {"", `echo garbage >.git/HEAD`},
		"bad config":      {"", `echo '[[[' >.git/config`},
		"no objects":      {"", `rm -rf .git/objects`},
		"somebody else's": {"", `chown -R 12345 .`},
		"begun anew":      {"", `rm -rf .git; git init -q; echo x >x`},
		"in another":      {outer, `rm -rf .git; echo x >x`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "somebody else's" && os.Getuid() != 0 {
				t.Skip("only root can give files away")
			}
			r := newRig(t)
			if c.first != "" {
				r.sh(c.first)
				r = r.in(r.path("in"))
			}
			base := r.timed()
			r.sh(c.script)
			tree := Tree{Dir: r.dir}
			e := tree.Since(t.Context(), base, tree.State(t.Context()), nil)
			if e.After.Error == "" || e.Error == "" {
				t.Errorf("%+v", e)
			}
			t.Log(e.After.Error)
		})
	}
}
