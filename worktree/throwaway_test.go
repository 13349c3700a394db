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
	const needs = `echo '{"dependencies": {"x": "1"}}' > package.json`
	for name, tt := range map[string]struct{ before, work, file, want string }{
		"a dependency that the agent changed": {
			"mkdir node_modules; echo old > node_modules/x", "echo new > node_modules/x", "node_modules/x", "old\n",
		},
		"one that nobody declared": {
			"true", "mkdir node_modules; echo new > node_modules/x", "node_modules/x", "",
		},
		"one that is declared, and was not installed": {
			needs, "mkdir node_modules; echo new > node_modules/x", "node_modules/x", "new\n",
		},
		"one that the work declares": {
			"mkdir node_modules; echo old > node_modules/x", needs + "; echo new > node_modules/x", "node_modules/x", "new\n",
		},
		"a space in what declares it": {
			needs + "; mkdir node_modules; echo old > node_modules/x", "echo >> package.json; echo new > node_modules/x", "node_modules/x", "old\n",
		},
		"a comment beside it": {
			"echo x==1 > requirements.txt; mkdir node_modules; echo old > node_modules/x", "echo '# more' >> requirements.txt; echo new > node_modules/x", "node_modules/x", "old\n",
		},
		"another version of the program": {
			needs + "; mkdir node_modules; echo old > node_modules/x", `echo '{"version": "2", "dependencies": {"x": "1"}}' > package.json; echo new > node_modules/x`, "node_modules/x", "old\n",
		},
		"nothing is declared": {
			`echo '{"name": "a", "dependencies": {}}' > package.json`, "mkdir node_modules; echo new > node_modules/x", "node_modules/x", "",
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

// Who looks at a copy sees what is in the folder: branch, commits, and what is not
// committed. What is done to the copy is not done to the folder.
func TestCopyOf(t *testing.T) {
	t.Parallel()
	shows := func(r rig) string {
		r.t.Helper()
		seen := filepath.Join(t.TempDir(), "seen")
		r.sh("{ git status --porcelain --branch; git log --format=%s; } > " + seen + " 2>/dev/null || true; cat file >> " + seen)
		b, err := os.ReadFile(seen)
		r.must(err)
		return string(b)
	}
	for name, tt := range map[string]struct{ does, want string }{
		"clean":                  {"git init -q -b main . && echo a > file && git add . && git commit -qm a", "## main\na\na\n"},
		"changed":                {"git init -q -b main . && echo a > file && git add . && git commit -qm a && echo b > file && echo c > new && git add new", "## main\n M file\n?? new\na\nb\n"},
		"detached":               {"git init -q -b main . && echo a > file && git add . && git commit -qm a && git checkout -q --detach", "## HEAD (no branch)\na\na\n"},
		"sha256":                 {"git init -q -b main --object-format=sha256 . && echo a > file && git add . && git commit -qm a", "## main\na\na\n"},
		"a repository inside":    {"git init -q -b main . && echo a > file && git add . && git commit -qm a && git init -q inside && echo x > inside/x", "## main\na\na\n"},
		"no commit":              {"git init -q -b main . && echo a > file", "## No commits yet on main\n?? file\na\n"},
		"no repository":          {"echo a > file", "a\n"},
		"a branch with a folder": {"git init -q -b a/b . && echo a > file && git add . && git commit -qm a && git pack-refs --all", "## a/b\na\na\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rig{t, t.TempDir()}
			r.sh(tt.does)
			c, err := CopyOf(t.Context(), r.dir, filepath.Join(t.TempDir(), "copy"))
			r.must(err)
			copied := r.in(c.Dir)
			if got := shows(copied); got != tt.want {
				t.Errorf("the copy shows %q, want %q", got, tt.want)
			}
			before := shows(r)
			copied.sh("rm file; git init -q .; git commit -qm x --allow-empty; git branch foo")
			if after := shows(r); after != before {
				t.Errorf("the folder shows %q, was %q", after, before)
			}
		})
	}
}
