package worktree

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
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
		"gone again":             {"", "git worktree add -q ../w && (cd ../w && echo w > w && git add w && git commit -qm w) && git worktree remove ../w", 1},
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
			if e := r.by(base, "("+c.script+")"); len(e.Commits) != c.want || differs(e) != (c.want > 0) || e.Error != "" || e.Apart {
				t.Errorf("%d commits, want %d: %+v", len(e.Commits), c.want, e)
			}
			here := strings.HasPrefix(name, "and ") // something is left in its own tree too
			if e := r.by(base, "make nothing || true"); len(e.Commits) > 0 != here || e.Apart {
				t.Errorf("of one that made none: %+v", e)
			}
			for what, e := range map[string]belay.Evidence{"does not tell": r.since(base), "nobody knows where": r.by(base, "cd $X && git commit -qm x")} {
				if differs(e) != (c.want > 0) || e.Apart != (c.want > 0 && !here) || e.Error != "" {
					t.Errorf("of one that %s: %+v", what, e)
				}
			}
		})
	}
}

// by is what happened since, with an agent that ran a command.
func (r rig) by(base belay.Print, command string) belay.Evidence {
	r.t.Helper()
	var d Doings
	d.Take(belay.ToolCall{Name: "Bash", Command: command})
	return Tree{Dir: r.dir}.SinceBy(r.t.Context(), base, r.look(), nil, &d)
}

// Who made commits in one work tree has not made those of another one. A commit
// that may have failed tells nothing of a work tree that is gone.
//
// promise: H3
func TestSinceInWorkTreesOfTwo(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	base := r.settled()
	const one = "echo w > w; git add w; git commit -qm w"
	r.sh("git worktree add -q ../w; (cd ../w; " + one + "1); git worktree add -q ../v; (cd ../v; " + one + "2); git worktree add -q ../g; (cd ../g; " + one + "3); git worktree remove ../g")
	id := func(branch string) string { return r.git("rev-parse", branch) }
	for command, want := range map[string]string{
		"cd ../w && git commit -qm w": id("w"), "git -C ../v commit -qm w | tail -1": id("v"), "git -C " + filepath.Dir(r.dir) + "/v commit -qm w": id("v"),
		"git -C ../g commit -qm w": id("g"), "cd ../w && git commit -qm w; git -C ../v commit -qm w": id("w") + " " + id("v"),
	} {
		got := strings.Fields(strings.Join(r.by(base, command).Commits, " "))
		if e := r.by(base, command); len(got) != len(strings.Fields(want)) || slices.ContainsFunc(got, func(id string) bool { return !strings.Contains(want, id) }) || e.Apart {
			t.Errorf("%q: %v, want %s", command, e, want)
		}
	}
	for _, command := range []string{"git commit -qm w", "git -C ../never commit -qm w || true"} {
		if e := r.by(base, command); len(e.Commits) != 3 || !e.Apart {
			t.Errorf("%q: %+v", command, e)
		}
	}
	first := r.since(base).Commits
	for range 5 {
		if again := r.since(base).Commits; !slices.Equal(first, again) {
			t.Fatalf("another order: %v, %v", first, again)
		}
	}
}

// Where there are more work trees than anybody looks at, nobody knows whose a
// commit is.
//
// promise: H3
func TestSinceInTooManyWorkTrees(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	base := r.settled()
	r.sh("git worktree add -q ../w; cd ../w; echo w > w; git add w; git commit -qm w")
	if e := r.since(base); len(e.Commits) != 1 {
		t.Errorf("%+v", e)
	}
	for i := range maxTrees {
		r.mkdir(fmt.Sprintf(".git/worktrees/z%d", i))
	}
	if e := r.since(base); len(e.Commits) != 0 || e.Error != "" {
		t.Errorf("%+v", e)
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
	const own = "git worktree add -q ../own; cd ../own; echo o > o; git add o; git commit -qm o"
	mine.sh(own)
	head := r.in(filepath.Join(filepath.Dir(mine.dir), "own")).git("rev-parse", "HEAD")
	if e := mine.by(base, own); len(e.Commits) != 1 || e.Commits[0] != head {
		t.Errorf("%+v, want %s", e, head)
	}
	if e := mine.since(base); len(e.Commits) != 0 {
		t.Errorf("of one that does not tell, where a step beside it can have made it: %+v", e)
	}
}
