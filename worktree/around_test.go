package worktree

import (
	"os"
	"path/filepath"
	"testing"
)

// One working tree has one name, from wherever it is looked at; a worktree of
// git is another one.
//
// promise: H3
func TestAround(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	other := filepath.Join(filepath.Dir(r.dir), "other")
	r.git("worktree", "add", "-q", other)
	link := filepath.Join(filepath.Dir(r.dir), "link")
	r.must(os.Symlink(r.dir, link))
	plain, err := filepath.EvalSymlinks(t.TempDir())
	r.must(err)
	for dir, want := range map[string]string{
		r.dir: r.dir, r.path("src"): r.dir, r.path("not/there"): r.dir, link: r.dir, filepath.Join(link, "src"): r.dir,
		other: other, filepath.Join(other, "src"): other, plain: plain,
	} {
		if got := Around(dir); got != want {
			t.Errorf("%s lies in %s, want %s", dir, got, want)
		}
	}
}
