package worktree

import (
	"fmt"
	"strings"
	"testing"
)

// Work that was committed on another branch is found where somebody went back from it,
// and not where it was taken over, taken back, or somebody else's.
func TestAsides(t *testing.T) {
	t.Parallel()
	const commit = "echo x > x; git add -A; git commit -qm x"
	for _, tt := range []struct{ does, want string }{
		{commit, ""},
		{"git checkout -q -b side; " + commit + "; git checkout -q main", "side 1"},
		{"git checkout -q -b side; " + commit + "; echo y > x; git commit -qam y; git branch more; git checkout -q main", "more 2"},
		{"git checkout -q -b side; " + commit + "; git checkout -q main; git merge -q side", ""},
		{"git checkout -q -b side; " + commit + "; git checkout -q main; GIT_COMMITTER_DATE=2001-01-01T00:00:00Z git cherry-pick side", ""},
		{"git checkout -q --detach; " + commit + "; git checkout -q main", " 1"},
		{commit + "; git reset -q --hard HEAD~", ""},
		{commit + "; git commit -q --amend -m z", ""},
		{"git branch theirs $(git commit-tree -p HEAD -m theirs HEAD^{tree}); git checkout -q theirs; git checkout -q main", ""},
	} {
		r := newRig(t)
		r.sh(tt.does)
		list, err := Asides(t.Context(), r.dir)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, a := range list {
			got = append(got, fmt.Sprint(a.Branch, " ", a.Commits))
		}
		if strings.Join(got, "|") != tt.want {
			t.Errorf("%s: %q, want %q", tt.does, got, tt.want)
		}
	}
}
