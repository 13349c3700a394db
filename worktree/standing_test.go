package worktree

import (
	"regexp"
	"strings"
	"testing"
)

// What somebody does to a checkout, and to what git goes by there, is seen; what Belay
// itself writes is not.
func TestStanding(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	look := func() Standing {
		t.Helper()
		s, err := Stands(t.Context(), r.dir)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	before := look()
	id := regexp.MustCompile(`\(was [0-9a-f]{12}\)`)
	for _, tt := range []struct{ does, want string }{
		{"git config core.hooksPath /x; git config alias.a b", ".git/config: alias.a|.git/config: core.hookspath"},
		{"git config --add core.hooksPath /y; git config --unset alias.a", ".git/config: alias.a|.git/config: core.hookspath"},
		{"git config branch.belay/x.remote origin; git config branch.y.belay-owner '{}'; git branch belay/new", ""},
		{"mkdir .git/hooks; echo true > .git/hooks/pre-commit; echo '* filter=x' > .git/info/attributes", ".git/hooks/pre-commit|.git/info/attributes"},
		{"git worktree add -q ../mine -b work", "refs/heads/work"},
		{"cd ../mine; git commit -q --allow-empty -m theirs", ""},
		{"chmod +x .git/hooks/pre-commit; git branch mine", ".git/hooks/pre-commit|refs/heads/mine"},
		{"git branch -q -D mine; git tag t; echo x > new", "new|refs/heads/mine (was ID)|refs/tags/t"},
		{"git add new; git -c core.hooksPath=/x commit -qm new", "HEAD (was ID)|new|refs/heads/main (was ID)"},
		{"git update-index --skip-worktree new; echo other > new; git checkout -q --detach", "HEAD (was ID)|new"},
	} {
		r.sh(tt.does)
		now := look()
		if got := id.ReplaceAllString(strings.Join(now.Since(before), "|"), "(was ID)"); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.does, got, tt.want)
		}
		before = now
	}
	if kept := before.Kept("refs/heads/main"); kept["HEAD"]+kept["new"]+kept["refs/heads/main"] != "" || kept["refs/tags/t"] == "" {
		t.Errorf("kept of it: %v", kept)
	}
}

func TestBranchesOfBelay(t *testing.T) {
	t.Parallel()
	now := Standing{"refs/heads/belay/a": "1", "refs/heads/belay-a": "1", "refs/heads/belayed": "1"}
	if got := now.Since(Standing{}); len(got) != 1 || got[0] != "refs/heads/belayed" {
		t.Errorf("%q", got)
	}
}
