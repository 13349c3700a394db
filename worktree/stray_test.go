package worktree

import (
	"path/filepath"
	"slices"
	"testing"
)

// A worktree whose mark went with its branch is still told, with what would be
// lost with it.
//
// promise: K5
func TestStrays(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.git("worktree", "add", "-q", "--detach", filepath.Join(t.TempDir(), "by-hand"))
	o := r.options()
	m := r.create(o)
	strays := func(known map[string]bool) []Owned {
		t.Helper()
		list, err := Strays(t.Context(), o.Root, known)
		r.must(err)
		return list
	}
	if list := strays(map[string]bool{m.Path: true}); len(list) != 0 {
		t.Errorf("known already: %+v", list)
	}
	if list := strays(nil); len(list) != 1 || list[0].Run != o.Run || !list[0].Safe || list[0].Branch != m.Branch {
		t.Errorf("with its mark: %+v", list)
	}
	in := r.in(m.Path)
	in.write("work", "x")
	in.commit("work")
	in.sh("git checkout -q --detach && git branch -q -D feat/x && git checkout -q HEAD~1")
	if list, err := List(t.Context(), r.dir); err != nil || len(list) != 0 {
		t.Fatalf("the mark is still there: %+v %v", list, err)
	}
	list := strays(nil)
	if len(list) != 1 || list[0].Path != m.Path || list[0].Safe || list[0].Unpushed != 1 || !slices.Equal(list[0].Why, []Reason{ReasonForeign, ReasonUnpushed}) {
		t.Errorf("without its mark: %+v", list)
	}
	r.remove(".git/worktrees")
	if list := strays(nil); len(list) != 1 || list[0].Safe || !slices.Equal(list[0].Why, []Reason{ReasonForeign}) {
		t.Errorf("git forgot it: %+v", list)
	}
	if list, err := Strays(t.Context(), r.path("nowhere"), nil); err != nil || len(list) != 0 {
		t.Errorf("no folder: %+v %v", list, err)
	}
}

// One of another repository is removed from the folder that its worktrees share.
func TestRemoveStrayWithMark(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	o := r.options()
	m := r.create(o)
	list, err := Strays(t.Context(), o.Root, nil)
	r.must(err)
	if len(list) != 1 {
		t.Fatalf("%+v", list)
	}
	r.must(Remove(t.Context(), list[0].Made(list[0].Repo), false))
	if exists(m.Path) || r.git("branch", "--list", "feat/*") != "" {
		t.Error("something is left")
	}
}
