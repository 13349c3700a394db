package worktree

import (
	"os"
	"testing"
)

// promise: H3
func TestWalkCountsContentAlone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script  string
		changed bool
	}{
		"touch":           {`touch -d '1 hour ago' a`, false},
		"chmod":           {`chmod 755 a`, false},
		"mkdir":           {`mkdir -p new/er`, false},
		"taken back":      {`echo x >a; echo one >a`, false},
		"git init":        {`git init -q`, false},
		"commit":          {`git init -q; git add -A; git commit -q -m x`, false},
		"broken git":      {`mkdir .git`, false},
		"git init inside": {`git init -q d`, false},
		"edit":            {`echo two >a`, true},
		"same size, time": {`touch -r a ../t; echo ONE >a; touch -r ../t a`, true},
		"new":             {`touch new`, true},
		"new, with git":   {`git init -q; touch new`, true},
		"link":            {`ln -sfn d l`, true},
		"pipe":            {`mkfifo p`, true},
		"removed":         {`rm a`, true},
		"renamed":         {`mv a b`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rig{t, t.TempDir() + "/dir"}
			r.write("a", "one\n")
			r.write("d/f", "f\n")
			r.must(os.Symlink("a", r.path("l")))
			tree := Tree{Dir: r.dir}
			base := tree.State(t.Context())
			r.sh(c.script)
			e := tree.Since(t.Context(), base, tree.State(t.Context()), nil)
			if base.Error != "" || base.Repo || e.After.Error != "" || e.After.Repo || e.Error != "" {
				t.Fatalf("%+v", e)
			}
			if got := e.Before.Tree != e.After.Tree; got != c.changed {
				t.Errorf("changed: %t", got)
			}
		})
	}
}

func TestWalkReadsSoMuch(t *testing.T) {
	t.Parallel()
	r := rig{t, t.TempDir()}
	r.grow("huge", maxWalked+1, "x")
	r.write("small", "x")
	look := func() string {
		p, err := walk(t.Context(), r.dir, maxEntries, nil)
		r.must(err)
		return p.Tree
	}
	one := look()
	r.touch("small")
	if look() != one {
		t.Error("the time of a file that is read counts")
	}
	r.touch("huge")
	if look() == one {
		t.Error("the time of a file that is not read does not count")
	}
}

func TestPrintOfABareRepository(t *testing.T) {
	t.Parallel()
	r := rig{t, t.TempDir()}
	r.git("init", "-q", "--bare")
	if p := (Tree{Dir: r.dir}).State(t.Context()); p.Error != errBare.Error() || p.Tree != "" {
		t.Errorf("%+v", p)
	}
}
