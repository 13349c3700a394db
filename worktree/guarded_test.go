package worktree

import (
	"strings"
	"testing"

	"github.com/belay-run/belay"
)

func TestMatches(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		glob, folder, file string
		want               bool
	}{
		{"*.golden", "", "a.golden", true},
		{"*.golden", "", "x/y/a.golden", true},
		{"*.golden", "sub", "x/a.golden", true},
		{"*.golden", "", "a.golden.go", false},
		{"golden", "", "x/golden/a", true},
		{"golden/", "", "golden/a/b", true},
		{"golden/", "", "x/golden/a", true},
		{"x/golden", "", "x/golden/a", true},
		{"x/golden", "", "y/x/golden/a", false},
		{"x/**", "", "x/a/b", true},
		{"x/**", "", "x", false},
		{"x/**/b.go", "", "x/b.go", true},
		{"x/**/b.go", "", "x/1/2/b.go", true},
		{"**/b.go", "", "b.go", true},
		{"x/*.go", "", "x/y/a.go", false},
		{"x/*.go", "sub", "sub/x/a.go", true},
		{"x/*.go", "sub", "x/a.go", false},
		{"/x/*.go", "sub", "x/a.go", true},
		{"[ab].go", "", "b.go", true},
	} {
		if got := Matches(c.glob, c.folder, c.file); got != c.want {
			t.Errorf("%s in %q, %s: %v", c.glob, c.folder, c.file, got)
		}
	}
}

func TestGuardedFiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, work string
		guard      belay.Guarding
		want       string
	}{
		{"nothing of it", "echo x > src/x.go", belay.Guarding{Globs: []string{"*.golden"}, Tests: true}, ""},
		{"added", "echo x > x.golden", belay.Guarding{Globs: []string{"*.golden"}}, "x.golden added"},
		{"renamed away", "git mv a_test.go b.go", belay.Guarding{Tests: true}, "a_test.go deleted"},
		{"committed", "echo x >> a_test.go; git commit -qam x", belay.Guarding{Tests: true}, "a_test.go modified"},
		{"a new test", "echo x > new_test.go", belay.Guarding{Tests: true}, ""},
		{"new settings of tests", "echo x > conftest.py", belay.Guarding{Tests: true}, "conftest.py added"},
		{"a test that was not committed", "echo x >> loose_test.go", belay.Guarding{Tests: true}, ""},
		{"a script", "echo x >> src/check.sh; echo x >> check.sh", belay.Guarding{Files: []string{"check.sh"}}, "src/check.sh modified"},
		{"a script that was not committed", "echo x >> src/loose.sh", belay.Guarding{Files: []string{"loose.sh"}}, ""},
		{"from the folder of the step", "echo x > src/g; echo x > g", belay.Guarding{Globs: []string{"./g", "*/g2"}}, ""},
		{"from the top", "echo x > src/g; echo x > g", belay.Guarding{Globs: []string{"/g"}}, "g added"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			r.sh("echo t > a_test.go; echo c > check.sh; cp check.sh src; git add .; git commit -qm t; echo l > loose_test.go; echo l > src/loose.sh")
			tree := Tree{Dir: r.path("src"), Guard: &c.guard}
			base := r.look()
			r.sh(c.work)
			e := tree.Since(t.Context(), base, r.look(), nil)
			var got []string
			for _, f := range e.Tampered {
				got = append(got, f.Path+" "+string(f.Change))
			}
			if strings.Join(got, ", ") != c.want || e.Unseen != "" {
				t.Errorf("%q, want %q (%s)", got, c.want, e.Unseen)
			}
		})
	}
}

// Where nobody can look, nobody says that nothing was changed.
func TestGuardWithoutALook(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tree := Tree{Dir: dir, Guard: &belay.Guarding{Globs: []string{"x"}}}
	base := tree.State(t.Context())
	if e := tree.Since(t.Context(), base, base, nil); e.Unseen == "" {
		t.Error("a folder that is no repository")
	}
	r := newRig(t)
	tree.Dir = r.dir
	base = r.look()
	r.remove(".git")
	if e := tree.Since(t.Context(), base, tree.State(t.Context()), nil); e.Unseen == "" {
		t.Error("a repository that is gone")
	}
}
