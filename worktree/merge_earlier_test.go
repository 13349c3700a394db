package worktree

import (
	"strings"
	"testing"
)

// A worktree shows what the run's tree shows, and git says the same about it: the
// branch point, what is staged, what is changed, what is not tracked.
func TestWorktreeBeginsAsTheTreeIs(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	p.commit("second")
	p.sh(`echo s > staged; git add staged; echo more >> staged; echo c >> a.txt; rm -r src; echo u > 'un tracked'; git rm -q --cached .gitignore
		mkdir d; ln -s ../a.txt d/l; echo x > d/x; chmod +x d/x`)
	s := p.step("s")
	for _, args := range [][]string{{"status", "--porcelain"}, {"diff"}, {"diff", "--cached"}, {"rev-parse", "HEAD"}, {"log", "--format=%s"}} {
		if got, want := s.git(args...), p.git(args...); got != want {
			t.Errorf("git %v:\n%s\nin the run's tree:\n%s", args, got, want)
		}
	}
	if s.files() != p.files() {
		t.Errorf("files:\n%s\nin the run's tree:\n%s", s.files(), p.files())
	}
	if got := p.merge("s"); got.Outcome != OutcomeNothing {
		t.Errorf("merge: %+v", got)
	}
	p.git("gc", "-q", "--prune=now")
	s.write("n", "n\n")
	if got := p.merge("s"); got.Outcome != OutcomeMerged || got.Count != 1 {
		t.Errorf("merge after git gc: %+v", got)
	}
	p.must(RemoveMerged(t.Context(), Made{Repo: p.dir, Run: "r1", Step: "s"}, Tree{}))
	if refs := p.git("for-each-ref", "refs/belay"); refs != "" {
		t.Errorf("left: %s", refs)
	}
}

// Whatever a step does with uncommitted work and with branches, a merge takes
// nothing away that the step did not change itself.
func TestMergeRemovesOnlyWhatTheStepChanged(t *testing.T) {
	t.Parallel()
	const work = "echo w > w.txt; git add w.txt; git commit -qm w"
	const loss = "git stash -q -u"
	for _, c := range []struct{ name, step, gone, here string }{
		{"branch from main", "git checkout -q -b fix main", "", "w.txt"},
		{"branch from a branch that went on", "git checkout -q -b fix ahead", "", "w.txt"},
		{"reset to main", "git reset -q --hard main", "", "w.txt"},
		{"rebase onto main", "git stash -qu; git rebase -q --onto main HEAD; git stash pop -q", "", "w.txt"},
		{"a history of its own", "git checkout -q --orphan new; git rm -rfq .", "", "w.txt"},
		{"stash", loss, "", "w.txt"},
		{"stash and back", loss + "; git stash pop -q", "", "w.txt"},
		{"clean", "git clean -qfd", "", "w.txt"},
		{"checkout", "git checkout -q .", "", "w.txt"},
		{"one file back", "git checkout -q a.txt", "", "w.txt"},
		{"an untracked file gone", "rm loose.txt", "", "w.txt"},
		{"an untracked file moved", "mkdir d; mv loose.txt d/loose.txt", "loose.txt", "d/loose.txt"},
		{"an untracked file that is a folder now", "rm loose.txt; mkdir loose.txt; echo in > loose.txt/in", "", "loose.txt/in"},
		{"a committed file deleted", "git rm -q src/main.go", "src/main.go", "w.txt"},
		{"a changed file deleted", "rm a.txt", "a.txt", "w.txt"},
		{"a changed file changed", "echo more >> a.txt", "", "w.txt"},
		{"all committed", "git add -A; git commit -qm all", "", "w.txt"},
		{"the user's commit amended", "echo x >> other.txt; git commit -q --amend --no-edit other.txt", "", "w.txt"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newPair(t)
			p.sh("echo o > other.txt; git add -A; git commit -qm o; git checkout -q -b ahead; echo h > ahead.txt; git add -A; git commit -qm ahead")
			p.sh("git checkout -q -b dev main; echo d > dev.txt; git add -A; git commit -qm dev")
			p.sh("echo mine >> a.txt; echo loose > loose.txt; echo staged > staged.txt; git add staged.txt")
			s := p.step("s")
			s.sh(c.step + "\n" + work)
			before, users := p.files(), p.git("diff", "--cached")
			got := p.merge("s")
			if got.Outcome != OutcomeMerged {
				t.Fatalf("merge: %+v", got)
			}
			if !exists(p.path(c.here)) || exists(p.path("ahead.txt")) {
				t.Errorf("%s is not there, or ahead.txt is:\n%s", c.here, p.files())
			}
			for line := range strings.Lines(before) {
				name, _, _ := strings.Cut(line, " ")
				if strings.Contains(line, "-rw") && name != c.gone && c.gone == "" && !exists(p.path(name)) {
					t.Errorf("%s is gone", name)
				}
			}
			if c.gone != "" && exists(p.path(c.gone)) {
				t.Errorf("%s is still there", c.gone)
			}
			if c.gone != "a.txt" && !strings.Contains(p.read("a.txt"), "mine") || p.git("diff", "--cached") != users {
				t.Errorf("the user's work: %s", p.git("diff", "HEAD"))
			}
		})
	}
}

// What a step took back and stays is named.
func TestWhatStaysIsNamed(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	p.sh("echo mine >> a.txt; echo loose > loose.txt")
	s := p.step("s")
	s.sh("git stash -qu; echo w > w.txt")
	if got := p.merge("s"); strings.Join(got.Left, " ") != "a.txt loose.txt" || got.Count != 1 {
		t.Errorf("merge: %+v", got)
	}
}

// A conflict that is resolved by throwing the step's work away is one still.
func TestResolvedByThrowingAway(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, user, step, resolve string }{
		{"as committed", "echo u >> a.txt", "echo s >> a.txt", "git checkout -q HEAD -- a.txt"},
		{"as in the run's tree", "echo u >> a.txt", "echo s >> a.txt", "printf 'one\\ntwo\\nthree\\nu\\n' > a.txt"},
		{"deleted there", "rm a.txt", "echo s >> a.txt", "rm a.txt.belay-conflict"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPair(t)
			s := p.step("s")
			s.sh(c.step)
			p.sh(c.user)
			before := p.files()
			if _, err := Conflict(t.Context(), p.order("s")); err != nil {
				t.Fatal(err)
			}
			s.sh(c.resolve)
			if got := p.merge("s"); got.Outcome != OutcomeConflict || !strings.Contains(got.Conflicts[0].Why, "nothing of this step") || p.files() != before {
				t.Errorf("merge: %+v\n%s", got, p.files())
			}
		})
	}
}

// What a step committed beside a conflict is its work after the conflict is resolved.
func TestCommittedWorkBesideAConflict(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	s := p.step("s")
	s.sh("echo s >> a.txt; echo more > more; git add -A; git commit -qm s")
	p.sh("echo u >> a.txt; echo other > other; git add other; git commit -qm u other")
	if _, err := Conflict(t.Context(), p.order("s")); err != nil {
		t.Fatal(err)
	}
	s.sh("printf 'one\\ntwo\\nthree\\nu\\ns\\n' > a.txt")
	if got := p.merge("s"); got.Outcome != OutcomeMerged || got.Count != 2 || p.read("more") != "more\n" || p.read("other") != "other\n" || p.read("a.txt") != "one\ntwo\nthree\nu\ns\n" {
		t.Errorf("merge: %+v\n%s", got, p.files())
	}
}

// git checkout takes a file back to what is staged: that is no work either.
func TestTakenBackToWhatIsStaged(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	p.sh("echo staged >> a.txt; git add a.txt; echo more >> a.txt")
	s := p.step("s")
	s.sh("git checkout -q .; echo w > w.txt")
	if got := p.merge("s"); got.Count != 1 || p.read("a.txt") != "one\ntwo\nthree\nstaged\nmore\n" {
		t.Errorf("merge: %+v, %q", got, p.read("a.txt"))
	}
}
