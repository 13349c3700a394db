package worktree

import (
	"os"
	"path/filepath"
	"testing"
)

// What Belay itself writes into a tree is no change of it: in a repository, in
// a plain folder, and through a link. A tree inside of what is skipped is seen.
//
// promise: H3
func TestSkip(t *testing.T) {
	t.Parallel()
	repo := newRig(t)
	plain := repo.in(t.TempDir())
	for name, r := range map[string]rig{"repository": repo, "plain folder": plain} {
		r.write("state/old", "1")
		link := filepath.Join(t.TempDir(), "link")
		if err := os.Symlink(r.path("state"), link); err != nil {
			t.Fatal(err)
		}
		for _, skip := range []string{r.path("state"), link} {
			tree := Tree{Dir: r.dir, Skip: []string{skip, r.path("state/none"), "/elsewhere"}}
			before := tree.State(t.Context())
			r.write("state/runs/x/journal", skip)
			after := tree.State(t.Context())
			if after.At = before.At; after != before || before.Error != "" {
				t.Errorf("%s: what lies in %s counts: %+v, then %+v", name, skip, before, after)
			}
			r.write("state-of-the-art", skip) // only the name begins so
			if after := tree.State(t.Context()); after.Tree == before.Tree {
				t.Errorf("%s: a file beside the folder does not count", name)
			}
		}
		inside := Tree{Dir: r.path("state"), Skip: []string{r.path(".")}}
		if name == "plain folder" {
			before := inside.State(t.Context())
			r.write("state/more", "x")
			if inside.State(t.Context()) == before {
				t.Errorf("%s: a tree inside of a skipped folder is not seen", name)
			}
		}
	}
}
