package worktree

import (
	"strings"
	"testing"

	"github.com/belay-run/belay"
)

// promise: H3
func TestSubjects(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"commit -m fix":                                       "fix",
		"commit -qam 'fix it'":                                "fix it",
		"commit -mfix":                                        "fix",
		"commit --message=fix -m body":                        "fix",
		"commit --message 'fix'":                              "fix",
		"commit -m 'one\ntwo\n\nbody'":                        "one two",
		"commit -m \"$(cat <<'EOF'\nFix $x\n\nbody\nEOF\n)\"": "Fix $x",
		"commit -m \"$(cat <<EOF\nFix $x\nEOF\n)\"":           "",
		"commit -m \"$MESSAGE\"":                              "",
		"commit -F message.txt":                               "",
		"commit -m fix --fixup=abc":                           "fix",
		"commit --fixup=abc":                                  "",
		"commit":                                              "",
		"revert --no-edit HEAD":                               reverted,
		"cherry-pick abc":                                     "",
	} {
		var kept texts
		d := deedOfCommand(belay.ToolCall{Name: "Bash", Command: "git " + command}, &kept)
		if len(d.commits) != 1 || d.commits[0].subject != want {
			t.Errorf("%q: %+v, want %q", command, d.commits, want)
		}
	}
}

// Beside somebody who commits too, the agent's own commit must still be there,
// and be a part of what changed.
//
// promise: H3
func TestStandingCommits(t *testing.T) {
	t.Parallel()
	const mine = "echo z >> a.txt && git commit -qm z a.txt"
	const side = "echo side >> b.txt && git commit -qm side b.txt"
	for name, c := range map[string]struct {
		does string // what really happens
		told string // what the agent tells of it, "|" between its calls
		want bool
	}{
		"stands":                  {side + "; " + mine, mine, true},
		"stands below another":    {mine + "; " + side, mine, true},
		"on a branch":             {"git checkout -qb f; " + mine + "; git checkout -q main; " + side, "git checkout -qb f|" + mine + "|git checkout -q main", true},
		"with a hook's word":      {side + "; echo z >> a.txt; git commit -qm '[AB-1] a longer message' a.txt", "echo z >> a.txt; git commit -qm 'a longer message' a.txt", true},
		"never made":              {side, mine, false},
		"dropped by a rebase":     {side + "; " + mine + "; git rebase -q --onto HEAD~1 HEAD", mine + "|git rebase -q --onto HEAD~1 HEAD", false},
		"taken back by a program": {side + "; " + mine + "; git reset -q --hard HEAD~1", mine + "|python3 undo.py", false},
		"left behind, detached":   {side + "; git checkout -q --detach; " + mine + "; git checkout -q main", "git checkout -q --detach; " + mine + "|git checkout -q main", false},
		"undone by hand":          {side + "; " + mine + "; git checkout -q HEAD~1 -- a.txt; git commit -qm undo a.txt", mine + "|git checkout -q HEAD~1 -- a.txt; git commit -qm undo a.txt", false},
		"am of nothing":           {side, "git am < /dev/null", false},
		"an old one reverted":     {side + "; git revert --no-edit HEAD~1", "git revert --no-edit HEAD~1", true},
		"picked":                  {side + "; git cherry-pick topic", "git cherry-pick topic", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.sh("git checkout -q -B main; echo b > b.txt; echo a > a.txt; git add -A; git commit -qm files")
			r.sh("git checkout -qb topic; echo t > t.txt; git add t.txt; git commit -qm topic; git checkout -q main")
			r.sh("echo more >> a.txt; git commit -qam older; echo more >> c.txt; git add -A; git commit -qm c")
			if strings.Contains(name, "reverted") {
				r.sh("git revert --no-edit HEAD >/dev/null")
			}
			base := r.look()
			r.sh("set -e; " + c.does)
			var d Doings
			for command := range strings.SplitSeq(c.told, "|") {
				d.Take(belay.ToolCall{Name: "Bash", Command: command})
			}
			e := (Tree{Dir: r.dir}).SinceBy(t.Context(), base, r.look(), nil, &d)
			if e.Own.Commits != c.want {
				t.Errorf("commits %v, changed %v: %v, want %v", e.Commits, e.Changed, e.Own.Commits, c.want)
			}
		})
	}
}
