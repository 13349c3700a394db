package worktree

import (
	"testing"

	"github.com/belay-run/belay"
)

// A flag in the index hides no work, and stays where it is.
//
// promise: H3
func TestPrintSeesFlaggedFiles(t *testing.T) {
	t.Parallel()
	for _, flags := range [][]string{{"--skip-worktree"}, {"--assume-unchanged"}, {"--skip-worktree", "--assume-unchanged"}} {
		r := newRig(t)
		base := r.look()
		for _, flag := range flags {
			r.git("update-index", flag, "a.txt")
		}
		if p := r.look(); p.Tree != base.Tree || p.Dirty {
			t.Errorf("%v: the flag alone is a change: %+v", flags, p)
		}
		r.write("a.txt", "work\n")
		state, listed := r.state(), r.git("ls-files", "-v")
		e := r.since(base)
		if !e.After.Dirty || len(e.Changed) != 1 || e.Changed[0].Path != "a.txt" || e.Changed[0].Change != belay.FileModified {
			t.Errorf("%v: %+v", flags, e)
		}
		if r.state() != state || r.git("ls-files", "-v") != listed {
			t.Errorf("%v: the index was touched", flags)
		}
	}
}

// What a sparse checkout leaves out is not deleted; what is there all the same
// is looked at.
func TestPrintOfSparseCheckout(t *testing.T) {
	t.Parallel()
	for _, sparse := range []string{"--no-sparse-index", "--sparse-index"} {
		r := newRig(t)
		r.write("far/x.txt", "x\n")
		r.commit("far")
		r.git("sparse-checkout", "set", "--cone", sparse, "src")
		base := r.look()
		if want := r.git("rev-parse", "HEAD^{tree}"); exists(r.path("far")) || base.Tree != want || base.Dirty {
			t.Errorf("%s: %+v, want the tree %s", sparse, base, want)
		}
		r.write("src/main.go", "package other\n")
		if e := r.since(base); e.Files != 1 {
			t.Errorf("%s: %+v", sparse, e)
		}
		r.git("config", "sparse.expectFilesOutsideOfPatterns", "true") // git itself would not look then
		r.write("far/x.txt", "work\n")
		if e := r.since(base); e.Files != 2 || e.Changed[0].Path != "far/x.txt" {
			t.Errorf("%s: %+v", sparse, e)
		}
	}
}
