package worktree

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
)

// privateRig is a worktree of run k3f9q that is worked on with a branch of its own.
func privateRig(t *testing.T) (r, in rig) {
	t.Helper()
	r = newRig(t)
	o := r.options()
	o.Step = ""
	m := r.create(o)
	_, err := Private(t.Context(), m.Path, o.Run)
	r.must(err)
	return r, r.in(m.Path)
}

func (r rig) judged() Judged {
	r.t.Helper()
	c, err := CheckoutOf(r.t.Context(), r.dir, "k3f9q")
	r.must(err)
	start := r.git("rev-parse", "main^{tree}")
	j, err := Judge(r.t.Context(), r.dir, "k3f9q", Begun{Checkout: Checkout{Top: c.Top, Commit: r.git("rev-parse", "main"), Tree: start}, Origin: start, Mine: true}, "the work\n")
	r.must(err)
	return j
}

// Where a branch is called as the folder of these branches would be, there is no such folder.
func TestPrivateBesideItsFolder(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.git("branch", "belay-work")
	o := r.options()
	o.Step = ""
	m := r.create(o)
	for range 2 {
		h, err := Private(t.Context(), m.Path, o.Run)
		if r.must(err); h.Work != "belay-work-k3f9q" || r.in(m.Path).git("branch", "--show-current") != h.Work {
			t.Errorf("%+v", h)
		}
	}
}

func TestPrivate(t *testing.T) {
	t.Parallel()
	r, in := privateRig(t)
	start := r.git("rev-parse", "main")
	for range 2 { // and again
		h, err := Private(t.Context(), in.dir, "k3f9q")
		if err != nil || h != (Home{Branch: "feat/x", Work: "belay-work/k3f9q", Start: start, Path: in.dir}) {
			t.Errorf("%+v, %v", h, err)
		}
	}
	in.write("new", "x")
	in.commit("mine")
	if got := in.git("branch", "--show-current"); got != "belay-work/k3f9q" || r.git("rev-parse", "feat/x") != start {
		t.Errorf("on %q", got)
	}
	// whoever takes the folder away: the work that was committed is there again
	r.must(os.RemoveAll(in.dir))
	o := r.options()
	o.Step = ""
	if m := r.create(o); m.Path != in.dir || in.read("new") != "x" || in.git("branch", "--show-current") != "belay-work/k3f9q" {
		t.Errorf("%+v", m)
	}
	if _, err := Private(t.Context(), in.dir, "other"); !errors.Is(err, errNoHome) {
		t.Errorf("of another run: %v", err)
	}
	// all of it goes, and only when nothing is lost
	m := Made{Repo: r.dir, Path: in.dir, Branch: "feat/x", Run: "k3f9q"}
	var unsafe *Unsafe
	if err := Remove(t.Context(), m, false); !errors.As(err, &unsafe) || !slices.Contains(unsafe.Why, ReasonUnpushed) {
		t.Errorf("work that nobody has: %v", err)
	}
	r.git("merge", "-q", "belay-work/k3f9q")
	r.must(Remove(t.Context(), m, false))
	if got := r.git("branch", "--format=%(refname:short)"); got != "main" {
		t.Errorf("left: %q", got)
	}
}

// A crash on the way to a branch to work on is gone on from; a branch of that name which
// is somebody else's is left alone.
func TestPrivateAfterACrash(t *testing.T) {
	t.Parallel()
	for name, did := range map[string]string{
		"the mark alone":     "git update-ref -d refs/heads/belay-work/k3f9q",
		"the branch, too":    "true",
		"somebody's of them": "git branch -f belay-work/k3f9q $(git commit-tree HEAD^{tree} -m other)",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, in := privateRig(t)
			in.git("symbolic-ref", "HEAD", "refs/heads/feat/x")
			r.sh(did)
			was, _ := r.try("rev-parse", "belay-work/k3f9q")
			h, err := Private(t.Context(), in.dir, "k3f9q")
			r.must(err)
			if got := in.git("branch", "--show-current"); got != h.Work || in.git("rev-parse", "HEAD") != r.git("rev-parse", "main") {
				t.Errorf("on %q, want %q", got, h.Work)
			}
			if strings.HasPrefix(name, "somebody") && (h.Work == "belay-work/k3f9q" || r.git("rev-parse", "belay-work/k3f9q") != was) {
				t.Errorf("it took %s", h.Work)
			}
		})
	}
}

// What is offered is the commit that was judged, on a branch that nobody else has moved or
// checked out; again it is the same.
func TestOffer(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ did, want string }{
		"as it was made":     {"true", "feat/x"},
		"somebody deleted":   {"git branch -D feat/x", "feat/x"},
		"somebody moved":     {"git branch -f feat/x $(git commit-tree HEAD^{tree} -m other)", "feat/x-2"},
		"somebody works on":  {"git checkout -q feat/x", "feat/x-2"},
		"a tag of its name":  {"git tag feat/x main", "feat/x-2"},
		"a ref before it":    {"git update-ref refs/feat/x main", "feat/x-2"},
		"a file before it":   {"mkdir .git/feat; git rev-parse main > .git/feat/x", "feat/x-2"},
		"a part of the work": {"git branch -f feat/x belay-work/k3f9q", "feat/x-2"},
		"behind the start":   {"git branch -f feat/x $(git commit-tree main^{tree} -m root)", "feat/x-2"},
		"ahead of the work":  {"git branch -f feat/x $(git commit-tree belay-work/k3f9q^{tree} -p belay-work/k3f9q -m stub)", "feat/x-2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, in := privateRig(t)
			in.write("new", "x")
			in.commit("mine")
			r.sh(tt.did)
			in.write("more", "y")
			j := in.judged()
			moved, _ := r.try("rev-parse", "refs/heads/feat/x")
			for range 2 {
				branch, err := Offer(t.Context(), in.dir, "k3f9q", nil, j.Commit, 0)
				if err != nil || branch != tt.want || r.git("rev-parse", branch) != j.Commit {
					t.Fatalf("%q, %v", branch, err)
				}
			}
			if tt.want != "feat/x" && r.git("rev-parse", "refs/heads/feat/x") != moved {
				t.Error("it moved what is somebody else's")
			}
			// who moves it after a crash has it, and the result another name
			r.sh("git branch -f " + tt.want + " $(git commit-tree HEAD^{tree} -p " + j.Commit + " -m more)")
			if branch, err := Offer(t.Context(), in.dir, "k3f9q", nil, j.Commit, 0); err != nil || branch == tt.want || r.git("rev-parse", branch) != j.Commit {
				t.Errorf("after somebody went on: %q, %v", branch, err)
			}
			if look, err := After(t.Context(), in.dir, j.Commit); err != nil || look != "" {
				t.Errorf("after: %q, %v", look, err)
			}
			in.write("late", "z")
			if look, err := After(t.Context(), in.dir, j.Commit); err != nil || look != "status" {
				t.Errorf("after a file: %q, %v", look, err)
			}
			in.commit("late")
			if look, err := After(t.Context(), in.dir, j.Commit); err != nil || look != "diff "+j.Commit[:12] {
				t.Errorf("after a commit: %q, %v", look, err)
			}
		})
	}
}

// A branch that was made before there was an issue is named for it when it is offered. The
// one that was made goes, unless somebody has it.
//
// promise: B2
func TestOfferForAnIssue(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		made, did, want string
		stays           bool
	}{
		"as it was made":  {"belay/x", "true", "belay/issue-7-x", false},
		"named already":   {"belay/issue-3-x", "true", "belay/issue-3-x", true},
		"without a title": {"belay/task-k3f9q", "true", "belay/issue-7-task", false},
		"no folder":       {"belay-x", "git branch belay", "belay-issue-7-x", false},
		"it is taken":     {"belay/x", "git branch belay/issue-7-x $(git commit-tree HEAD^{tree} -m other)", "belay/issue-7-x-2", false},
		"somebody has it": {"belay/x", "git checkout -q belay/x", "belay/issue-7-x", true},
		"somebody moved":  {"belay/x", "git branch -f belay/x $(git commit-tree HEAD^{tree} -m other)", "belay/issue-7-x", true},
		"not of Belay":    {"feat/x", "true", "feat/x", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			o := r.options()
			o.Step, o.Branch = "", tt.made
			if tt.made == "belay-x" {
				r.sh(tt.did)
				o.Branch = "belay/x"
			}
			made := r.create(o)
			in := r.in(made.Path)
			_, err := Private(t.Context(), in.dir, o.Run)
			r.must(err)
			in.write("new", "x")
			j := in.judged()
			if tt.made != "belay-x" {
				r.sh(tt.did)
			}
			for range 2 {
				branch, err := Offer(t.Context(), in.dir, o.Run, nil, j.Commit, 7)
				if err != nil || branch != tt.want || r.git("rev-parse", "refs/heads/"+branch) != j.Commit {
					t.Fatalf("%q, %v", branch, err)
				}
			}
			if _, err := r.try("rev-parse", "-q", "--verify", "refs/heads/"+tt.made); (err == nil) != tt.stays {
				t.Errorf("%s: %v", tt.made, err)
			}
			r.git("merge", "-q", "--allow-unrelated-histories", tt.want)
			if err := Remove(t.Context(), Made{Repo: r.dir, Path: in.dir, Branch: tt.made, Run: o.Run}, false); err != nil {
				t.Errorf("its worktree cannot be removed: %v", err)
			}
		})
	}
}

// The mark of a worktree is in a file that agents can write: what is on record counts.
func TestOfferAsRecorded(t *testing.T) {
	t.Parallel()
	r, in := privateRig(t)
	h, ok := HomeOf(t.Context(), in.dir, "k3f9q")
	if !ok {
		t.Fatal("no home")
	}
	r.git("branch", "users")
	was := r.git("rev-parse", "users")
	in.write("new", "x")
	key := "branch.belay-work/k3f9q." + ownerKey
	in.git("config", key, strings.ReplaceAll(in.git("config", key), "feat/x", "users"))
	from := Begun{Checkout: Checkout{Top: h.Path, Commit: was, Tree: r.git("rev-parse", "main^{tree}")}, First: was, Mine: true, Home: &h}
	from.Origin = from.Tree
	j, err := Judge(t.Context(), in.dir, "k3f9q", from, "work\n")
	r.must(err)
	branch, err := Offer(t.Context(), in.dir, "k3f9q", &h, j.Commit, 0)
	if r.must(err); branch != "feat/x" || r.git("rev-parse", "feat/x") != j.Commit || r.git("rev-parse", "users") != was {
		t.Errorf("offered on %q", branch)
	}
	var unsafe *Unsafe
	if err := Remove(t.Context(), Made{Repo: r.dir, Path: in.dir, Branch: "feat/x", Run: "k3f9q"}, false); !errors.As(err, &unsafe) || !slices.Equal(unsafe.Why, []Reason{ReasonForeign}) {
		t.Errorf("removed with a branch of the user: %v", err)
	}
	if _, err := Offer(t.Context(), r.dir, "k3f9q", &h, j.Commit, 0); !errors.Is(err, errNoHome) {
		t.Errorf("elsewhere: %v", err)
	}
}

// What is judged comes after the commit that the work began with, whatever an agent made of
// the history.
func TestJudgeAfterTheBase(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		did     string
		nothing bool
	}{
		"reset":            {"git reset -q --hard HEAD~1; echo x > new", false},
		"reset alone":      {"git reset -q --hard HEAD~1", false},
		"amended":          {"echo x > new; git add -A; git commit -q --amend -m mine", false},
		"amended in words": {"git commit -q --amend -m mine", true},
		"squashed":         {"git reset -q --soft HEAD~1; echo x > new; git add -A; git commit -qm mine", false},
		"an orphan":        {"git checkout -q --orphan alone; echo x > new; git add -A; git commit -qm mine", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.write("b.txt", "b")
			r.commit("second")
			o := r.options()
			o.Step = ""
			m := r.create(o)
			_, err := Private(t.Context(), m.Path, o.Run)
			r.must(err)
			in, main := r.in(m.Path), r.git("rev-parse", "main")
			in.sh(tt.did)
			in.git("add", "-A")
			tree := in.git("write-tree")
			for n := range 2 { // and again
				j := in.judged()
				if (j.Dropped == "") != (n > 0) {
					t.Errorf("dropped: %q", j.Dropped)
				}
				in.git("merge-base", "--is-ancestor", main, j.Commit)
				if got := in.git("rev-parse", j.Commit+"^{tree}"); got != tree || (j.Commit == main) != tt.nothing || (len(j.Changed) == 0) != tt.nothing {
					t.Errorf("%+v", j)
				}
				if got := in.git("branch", "--show-current") + in.git("status", "--porcelain"); got != "belay-work/k3f9q" || in.git("rev-parse", "HEAD") != j.Commit {
					t.Errorf("it stands at %q", got)
				}
			}
		})
	}
}

// All that an agent left is in the commit that is judged, wherever it left it, and no
// branch of somebody else is moved.
func TestJudge(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ did, left string }{
		"a file":                 {"echo x > new", ""},
		"committed":              {"echo x > new; git add new; git commit -qm mine", ""},
		"a flag of the index":    {"echo x > new; echo y >> a.txt; git add new; git update-index --assume-unchanged a.txt", ""},
		"on no branch":           {"git checkout -q --detach; echo x > new; git add new; git commit -qm mine", "a detached HEAD"},
		"on another branch":      {"git checkout -q -b other; echo x > new", "other"},
		"on what is offered":     {"git checkout -q feat/x; echo x > new", "feat/x"},
		"on a branch of its own": {"git checkout -q --orphan alone; echo x > new; git add -A; git commit -qm mine", "alone"},
		"in the middle of a merge": {`git checkout -q -b side; echo s > a.txt; git commit -qam side; git checkout -q -; echo m > a.txt
			git commit -qam mine; git merge side || true; echo x > new`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, in := privateRig(t)
			main := r.git("rev-parse", "main")
			in.sh(tt.did)
			offered := r.git("rev-parse", "feat/x")
			j := in.judged()
			if j.Left != tt.left || !slices.Contains(j.Changed, "new") || in.git("show", j.Commit+":new") != "x" {
				t.Errorf("%+v", j)
			}
			if name == "a flag of the index" && !slices.Contains(j.Old, "a.txt") {
				t.Errorf("before: %q", j.Old)
			}
			in.git("merge-base", "--is-ancestor", main, j.Commit)
			if got := in.git("branch", "--show-current") + in.git("status", "--porcelain"); got != "belay-work/k3f9q" || in.git("rev-parse", "HEAD") != j.Commit {
				t.Errorf("it stands at %q", got)
			}
			if r.git("rev-parse", "main") != main || r.git("rev-parse", "feat/x") != offered {
				t.Error("a branch was moved")
			}
			if again := in.judged(); again.Commit != j.Commit || again.Left != "" {
				t.Errorf("again: %+v", again)
			}
		})
	}
}

func TestCited(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("x.log", "one\n") // git ignores it
	r.write("sub/b.txt", "one\ntwo\n")
	commit := r.git("rev-parse", "HEAD")
	plain := realTemp(t)
	p := r.in(plain)
	p.write("a.txt", "one\ntwo\nthree\n")
	r.sh("ln -s /etc/hostname " + plain + "/link; ln -s /etc/hostname link; ln -s nowhere lost; : > empty; mkfifo pipe")
	for _, c := range []struct {
		dir, commit, path string
		line              int
		words             string
		want              bool
	}{
		{r.dir, "", "a.txt", 2, "two", true}, {r.dir, commit, "a.txt", 2, "two", true}, {plain, "", "a.txt", 2, "two", true},
		{r.path("sub"), "", "b.txt", 2, "two", true}, {r.path("sub"), commit, "../a.txt", 2, "two", true},
		{r.dir, "", "a.txt", 1, "two", false}, {r.dir, "", "a.txt", 0, "one", false}, {r.dir, "", "a.txt", 9, "one", false}, {r.dir, "", "a.txt", 2, "", false},
		{r.dir, "", "x.log", 1, "one", false}, {r.dir, commit, "x.log", 1, "one", false}, {r.dir, commit, "sub/b.txt", 1, "one", false},
		{r.dir, "", ".git/HEAD", 1, "ref", false}, {r.dir, commit, ".git/HEAD", 1, "ref", false}, {r.dir, "", "link", 1, "", false},
		{r.dir, "", "../repo/a.txt", 2, "two", false}, {plain, "", "../a.txt", 1, "one", false}, {plain, "", r.path("a.txt"), 2, "two", false},
	} {
		if got, wrong, err := Cited(t.Context(), c.dir, c.commit, Quoted{Path: c.path, Line: c.line, Words: c.words}); err != nil || got > 0 != c.want || got > 0 && wrong != "" {
			t.Errorf("%+v: %d, %v", c, got, err)
		}
	}
	for _, c := range []struct {
		dir, path string
		line      int
		words     string
		want      string
	}{
		{r.dir, "a.txt", 1, "xx", "the line does not have the quoted text"}, {r.dir, "none.txt", 1, "one", "there is no such file"},
		{r.dir, "../../../etc/passwd", 1, "nothing of this", "it is outside of the directory"}, {plain, "../a.txt", 1, "one", "it is outside of the directory"},
		{r.path("sub"), "../a.txt", 1, "two", "the line does not have the quoted text"}, {r.dir, "x.log", 1, "two", "the line does not have the quoted text"},
		{r.dir, "x.log", 1, "one", ""}, {r.dir, "a.txt", 1, "", ""},
		{r.dir, "sub", 1, "one", "it is a folder"}, {r.dir, "link", 1, "one", "it leads out of the directory"}, {plain, "link", 1, "one", "it leads out of the directory"},
		{r.dir, "lost", 1, "one", "nobody can read it"}, {r.dir, "empty", 1, "one", "the file has only 0 lines"}, {r.dir, "pipe", 1, "one", "it is no file"},
		{r.dir, "a.txt", -1, "one", "there is no such line"}, {r.dir, "", 1, "one", "no file is named"}, {r.dir, "/etc/passwd", 1, "root", "it is outside of the directory"},
	} {
		if got, wrong, err := Cited(t.Context(), c.dir, "", Quoted{Path: c.path, Line: c.line, Words: c.words}); err != nil || got > 0 || wrong != c.want {
			t.Errorf("%+v: %d, %q, %v", c, got, wrong, err)
		}
	}
	for _, c := range []struct {
		line, end int
		words     string
		at        int
		wrong     string
	}{
		{1, 2, "two", 2, ""}, {1, 2, "one", 1, ""}, {1, 2, "three", 0, "none of the lines has the quoted text"},
		{1, 9, "three", 3, ""}, {2, 9, "one", 0, "the file has only 3 lines"}, {3, 1, "three", 3, ""},
	} {
		if at, wrong, err := Cited(t.Context(), plain, "", Quoted{Path: "a.txt", Line: c.line, End: c.end, Words: c.words}); err != nil || at != c.at || wrong != c.wrong {
			t.Errorf("%+v: %d, %q, %v", c, at, wrong, err)
		}
	}
	for _, c := range [][3]string{
		{r.dir, r.path("a.txt"), "a.txt"}, {r.path("sub"), r.path("a.txt"), "../a.txt"}, {r.dir, r.path("none/a.txt"), "none/a.txt"},
		{r.dir, "a.txt", "a.txt"}, {r.dir, "/etc/passwd", "/etc/passwd"}, {plain, r.path("a.txt"), r.path("a.txt")}, {r.dir, r.dir + "x/a.txt", r.dir + "x/a.txt"},
	} {
		if got := Inside(c[0], c[1]); got != c[2] {
			t.Errorf("%s in %s: %s", c[1], c[0], got)
		}
	}
}
