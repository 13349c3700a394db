package worktree

import (
	"os"
	"path/filepath"
	"testing"
)

// A copy that a commit is judged in has the ignored files of the user, not those that an
// agent left in its worktree: these are in no commit. What a package manager installs is
// the worktree's where the work changed what is to be installed, or nobody had it.
func TestCopyHasTheIgnoredFilesOfTheUser(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ before, work, file, want string }{
		"a dependency that the agent changed": {
			"mkdir node_modules; echo old > node_modules/x", "echo new > node_modules/x", "node_modules/x", "old\n",
		},
		"one that nobody declared": {
			"true", "mkdir node_modules; echo new > node_modules/x", "node_modules/x", "",
		},
		"one that is declared, and was not installed": {
			"echo {} > package.json", "mkdir node_modules; echo new > node_modules/x", "node_modules/x", "new\n",
		},
		"one that the work declares": {
			"mkdir node_modules; echo old > node_modules/x", "echo {} > package.json; echo new > node_modules/x", "node_modules/x", "new\n",
		},
		"settings": {"echo old > .env", "echo new > .env; echo {} > package.json", ".env", "old\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPair(t)
			p.sh("printf 'node_modules/\n.env\n' >> .gitignore; " + tt.before)
			p.commit("before")
			base := p.git("rev-parse", "HEAD")
			m, err := Create(t.Context(), p.dir, Options{
				Run: "r1", Step: "s", Branch: "belay/s", Root: p.root, From: FromState, Include: Include{Patterns: DefaultInclude()},
			})
			p.must(err)
			work := p.in(m.Path)
			work.sh(tt.work + "; echo work > work")
			work.commit("work")
			c, err := ThrowawayOf(t.Context(), m.Path, work.git("rev-parse", "HEAD"), base, filepath.Join(t.TempDir(), "copy"))
			p.must(err)
			got, err := os.ReadFile(filepath.Join(c.Dir, tt.file))
			if string(got) != tt.want || (err != nil) != (tt.want == "") {
				t.Errorf("%s is %q (%v), want %q", tt.file, got, err, tt.want)
			}
		})
	}
}
