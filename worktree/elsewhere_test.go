package worktree

import (
	"path/filepath"
	"testing"

	"github.com/belay-run/belay"
)

// An agent that makes itself a work tree works there; what others do in theirs is
// not its work.
//
// promise: H3
func TestSinceInWorkTreesOfItsOwn(t *testing.T) {
	t.Parallel()
	const one = "echo w > w; git add w; git commit -qm w; "
	for name, c := range map[string]struct {
		first, script string
		want          int
	}{
		"its own":                {"", "git worktree add -q ../w; cd ../w; " + one, 1},
		"two commits":            {"", "git worktree add -q ../w; cd ../w; " + one + "echo x > w; git commit -qam x", 2},
		"from outside":           {"", "git worktree add -q ../w; echo w > ../w/w; git -C ../w add w; git -C ../w commit -qm w", 1},
		"gone again":             {"", "git worktree add -q ../w; (cd ../w; " + one + "); git worktree remove ../w", 1},
		"its folder is gone":     {"", "git worktree add -q ../w; (cd ../w; " + one + "); rm -rf ../w", 1},
		"inside":                 {"", "git worktree add -q out/w; cd out/w; " + one, 1},
		"a branch that was":      {"git branch old", "git worktree add -q ../w old; cd ../w; " + one, 1},
		"and merged here":        {"", "git worktree add -q ../w; (cd ../w; " + one + "); git merge -q w", 1},
		"and here too":           {"", "git worktree add -q ../w; (cd ../w; " + one + "); echo h > h; git add h; git commit -qm h", 2},
		"empty":                  {"", "git worktree add -q ../w; git -C ../w commit -q --allow-empty -m e", 0},
		"reverted":               {"", "git worktree add -q ../w; cd ../w; " + one + "git revert --no-edit HEAD", 0},
		"reset":                  {"", "git worktree add -q ../w; cd ../w; " + one + "git reset -q --hard HEAD~1", 0},
		"on no branch":           {"", "git worktree add -q --detach ../w; cd ../w; " + one, 0},
		"only there":             {"", "git worktree add -q ../w", 0},
		"branch deleted":         {"", "git worktree add -q ../w; (cd ../w; " + one + "); git worktree remove ../w; git branch -q -D w", 0},
		"somebody's":             {"git worktree add -q ../w", "cd ../w; " + one, 0},
		"somebody's new branch":  {"git worktree add -q ../w", "cd ../w; git checkout -q -b new; " + one, 0},
		"somebody's, modes":      {"git worktree add -q ../w", "(cd ../w; " + one + "); chmod -R go-w .git", 0},
		"somebody's, moved":      {"git worktree add -q ../w", "(cd ../w; " + one + "); git worktree move ../w ../v", 0},
		"somebody's old commits": {"git worktree add -q ../w; (cd ../w; " + one + ")", "git worktree add -q -b v ../v w", 0},
		"fetched to a branch":    {"git init -q ../up; (cd ../up; git commit -q --allow-empty -m f; " + one + ")", "git fetch -q ../up HEAD:new", 0},
		"branch of old commits":  {"git checkout -q -b x; " + one + "git checkout -q main", "git branch y x", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			if c.first != "" {
				r.sh(c.first)
			}
			base := r.settled()
			r.sh(c.script)
			if e := r.since(base); len(e.Commits) != c.want || differs(e) != (c.want > 0) || e.Error != "" {
				t.Errorf("%d commits, want %d: %+v", len(e.Commits), c.want, e)
			}
		})
	}
}

// What Belay made for another run is that run's, and what a person does in the
// checkout is not the work of a run that has a work tree of its own.
//
// promise: H3
func TestSinceBesideOthers(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	o := r.options()
	o.Step, o.Branch = "mine", "b/mine"
	mine := r.in(r.create(o).Path)
	base := mine.timed()
	o.Step, o.Branch = belay.Path("theirs"), "b/theirs"
	theirs := r.in(r.create(o).Path)
	theirs.write("theirs", "x")
	theirs.commit("theirs")
	r.sh("git checkout -q -b feature; echo f > f; git add f; git commit -qm f")
	if e := mine.since(base); len(e.Commits) != 0 || e.Error != "" {
		t.Errorf("%+v", e)
	}
	mine.sh("git worktree add -q ../own; cd ../own; echo o > o; git add o; git commit -qm o")
	head := r.in(filepath.Join(filepath.Dir(mine.dir), "own")).git("rev-parse", "HEAD")
	if e := mine.since(base); len(e.Commits) != 1 || e.Commits[0] != head {
		t.Errorf("%+v, want %s", e, head)
	}
}
