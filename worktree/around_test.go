package worktree

import (
	"os"
	"path/filepath"
	"strings"
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
		if got := Around(t.Context(), dir, nil); got.Top != want || got.Above != nil || got.Apart != (want == other) {
			t.Errorf("%s lies in %+v, want %s", dir, got, want)
		}
	}
}

// A tree inside of another is seen there, unless it is ignored or Belay's own;
// all trees of a repository share one folder of git.
//
// promise: H3
func TestAroundInner(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.sh("git init -q sub; git init -q sub/deep; git init -q out/gen; git worktree add -q state/w; git worktree add -q ../other; git init -q state/s")
	git := r.path(".git")
	for dir, c := range map[string]struct {
		above, repo string
		apart       bool
	}{
		".": {"", git, false}, "sub": {r.dir, r.path("sub/.git"), false}, "sub/deep": {r.path("sub") + " " + r.dir, r.path("sub/deep/.git"), false},
		"out/gen": {"", r.path("out/gen/.git"), false}, "state/w": {"", git, true}, "../other": {"", git, true}, "state/s": {"", r.path("state/s/.git"), false},
	} {
		got := Around(t.Context(), r.path(dir), []string{r.path("state")})
		if strings.Join(got.Above, " ") != c.above || got.Repo != c.repo || got.Apart != c.apart {
			t.Errorf("%s: %+v", dir, got)
		}
	}
	if got := Around(t.Context(), r.path("state/w"), nil); len(got.Above) != 1 || !got.Apart {
		t.Errorf("a worktree that nobody leaves out: %+v", got)
	}
}
