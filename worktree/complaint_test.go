package worktree

import "testing"

// What is told of a call of git that did not work is what was wrong, not what it
// was about to do.
func TestComplaint(t *testing.T) {
	t.Parallel()
	for talk, want := range map[string]string{
		"": "",
		"fatal: not a git repository\nhint: more\n": "fatal: not a git repository",
		"Preparing worktree (checking out 'b')\nerror: unable to write file big\nUpdating files: 100%\nfatal: cannot create a: No space left on device\n": "error: unable to write file big; fatal: cannot create a: No space left on device",
		"Preparing worktree (checking out 'b')\nfatal: 'b' is already checked out at '/x'\n":                                                              "fatal: 'b' is already checked out at '/x'",
		"Preparing worktree\nerror: one\nerror: two\nfatal: three\n":                                                                                      "error: one; fatal: three",
		"warning: odd\n": "warning: odd",
	} {
		if got := complaint(talk); got != want {
			t.Errorf("%q is told as %q, want %q", talk, got, want)
		}
	}
}
