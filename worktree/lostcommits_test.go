package worktree

import (
	"slices"
	"testing"
)

// The log of a worktree's HEAD goes with the worktree: a commit that only this
// log leads to keeps it.
func TestRemoveKeepsCommitsThatOnlyTheLogHas(t *testing.T) {
	t.Parallel()
	const one = `echo x >x; git add x; git commit -q -m x; `
	for name, script := range map[string]string{
		"detached":            `git checkout -q --detach; ` + one + `git checkout -q -`,
		"reset":               one + `git reset -q --hard HEAD~1`,
		"branch deleted":      `git checkout -q -b tmp; ` + one + `git checkout -q -; git branch -q -D tmp`,
		"and the folder gone": one + `git reset -q --hard HEAD~1; rm -rf "$PWD"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			m := r.create(r.options())
			r.in(m.Path).sh(script)
			if why := refused(t, Remove(t.Context(), m, false)); !slices.Equal(why, []Reason{ReasonUnpushed}) {
				t.Errorf("refused for %v", why)
			}
			list, err := List(t.Context(), r.dir)
			if err != nil || len(list) != 1 || list[0].Safe || list[0].Unpushed != 1 {
				t.Errorf("%+v %v", list, err)
			}
			r.must(Remove(t.Context(), m, true))
		})
	}
}

// What a branch, a tag or a remote has too is not lost.
func TestRemoveLetsCommitsGoThatOthersHave(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	m := r.create(r.options())
	r.in(m.Path).sh(`git checkout -q --detach; echo x >x; git add x; git commit -q -m x; git tag kept; git checkout -q -`)
	r.must(Remove(t.Context(), m, false))
	if exists(m.Path) {
		t.Error("it is still there")
	}
}
