package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A snapshot that is written as files is one for git too, and leaves no lock behind;
// where git's files are not plain, git writes it.
func TestSnapshotIsWrittenAsGitDoes(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		prepare string
		byGit   bool
	}{
		"plain":                 {"true", false},
		"packed":                {"git gc -q; git pack-refs --all", false},
		"shared by users":       {"git config core.sharedRepository group", true},
		"settings of elsewhere": {"git config include.path /none", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.sh(tt.prepare + "; echo new > new")
			tree := Tree{Dir: r.dir}
			now := tree.State(t.Context())
			ref := SnapshotRef("r1", "a", 1)
			id, err := tree.Snapshot(t.Context(), now, ref, "what is kept\n\nin two parts")
			r.must(err)
			if at := r.git("rev-parse", ref); at != id {
				t.Fatalf("the ref is at %s, not %s", at, id)
			}
			if got, want := r.git("log", "-1", "--format=%T %P %an %ae %cn %B", id), now.Tree+" "+now.Head+" Belay belay@localhost Belay what is kept\n\nin two parts\n"; got != want {
				t.Errorf("the commit is %q, want %q", got, want)
			}
			r.git("fsck", "--strict")
			again, err := tree.Snapshot(t.Context(), now, ref, "another word")
			r.must(err)
			if again != id {
				t.Errorf("the same files once more are %s, not %s", again, id)
			}
			r.sh("echo newer > new")
			later, err := tree.Snapshot(t.Context(), tree.State(t.Context()), ref, "later")
			r.must(err)
			if err := tree.DropSnapshot(t.Context(), ref, id); err == nil {
				t.Error("one that is another by now was dropped")
			}
			if name == "packed" {
				r.git("pack-refs", "--all")
			}
			r.must(tree.DropSnapshot(t.Context(), ref, later))
			if _, err := r.try("rev-parse", "--verify", ref); err == nil {
				t.Error("it is still there")
			}
			r.must(tree.DropSnapshot(t.Context(), ref, ""))
			at, err := find(t.Context(), "", r.dir)
			r.must(err)
			if at.plainFiles() == tt.byGit {
				t.Errorf("written by git: %v", !tt.byGit)
			}
			left, err := filepath.Glob(filepath.Join(at.all, "belay-ref-*"))
			r.must(err)
			more, err := filepath.Glob(filepath.Join(at.all, "objects", "tmp_obj_*"))
			r.must(err)
			if list := append(left, more...); len(list) > 0 || exists(filepath.Join(at.all, ref+".lock")) {
				t.Errorf("left behind: %v", list)
			}
		})
	}
}

// A ref that somebody else is writing stays as it is.
func TestLockedSnapshotStays(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	tree := Tree{Dir: r.dir}
	ref := SnapshotRef("r1", "a", 1)
	_, err := tree.Snapshot(t.Context(), tree.State(t.Context()), ref, "kept")
	r.must(err)
	r.must(os.WriteFile(filepath.Join(r.dir, ".git", ref+".lock"), nil, 0o600))
	r.sh("echo other > other")
	if _, err := tree.Snapshot(t.Context(), tree.State(t.Context()), ref, "other"); err == nil {
		t.Error("it was written over a lock")
	}
	if err := tree.DropSnapshot(t.Context(), ref, ""); err == nil {
		t.Error("it was dropped under a lock")
	}
}

// What is read of settings and refs is what git lists, or nothing.
func TestSettingsAndRefsAreReadAsGitListsThem(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	file := filepath.Join(r.dir, "settings")
	for text, sure := range map[string]bool{
		"": true,
		"[core]\n\tbare = false\n\tFileMode = true\n[remote \"Origin.x\"]\n\turl = a b/c=d\n\turl = second\n": true,
		"# word\n; word\n[a-b]\n  c1 = \\\"x\\\\\n":                                                           true,
		"[core]\n\tname = x # word\n":                                                                         false,
		"[core]\n\tname = \"x\"\n":                                                                            false,
		"[core]\n\tname\n":                                                                                    false,
		"[core]\n\tname=x\n":                                                                                  false,
		"[core]\n\tname = x \\\n  y\n":                                                                        false,
		"[core]\n\tname = x  y\n":                                                                             false,
		"[core \"a\\\"b\"]\n\tname = x\n":                                                                     false,
		"[branch.old]\n\tname = x\n":                                                                          false,
		"[core] name = x\n":                                                                                   false,
		"[user]\n\tname = Zoë\n\temail = z@example.com\n":                                                     true,
	} {
		r.must(os.WriteFile(file, []byte(text), 0o600))
		got, is := readSettings(file)
		if is != sure {
			t.Errorf("%q: sure %v, want %v", text, is, sure)
		}
		if want := r.git("config", "--file", file, "--list", "-z"); is && strings.TrimSpace(got) != want {
			t.Errorf("%q: %q, git lists %q", text, got, want)
		}
	}
	r.must(os.Remove(file))
	r.sh("git branch a/b; git branch packed; git tag t; git tag -a -m x annotated; git pack-refs --all; git branch -f packed HEAD; git commit -q --allow-empty -m x; git branch -f a/b; echo x > f; git add f; git stash -q")
	at, err := find(t.Context(), "", r.dir)
	r.must(err)
	list, sure := at.readRefs("refs/heads", "refs/tags", "refs/stash", "refs/replace")
	var lines []string
	for name, id := range list {
		lines = append(lines, id+" "+name)
	}
	want := strings.Split(r.git("for-each-ref", "--format=%(objectname) %(refname)", "refs/heads", "refs/tags", "refs/stash", "refs/replace"), "\n")
	if !sure || len(lines) != len(want) || len(want) < 6 {
		t.Errorf("%q, git lists %q", lines, want)
	}
	for _, line := range want {
		id, name, _ := strings.Cut(line, " ")
		if list[name] != id {
			t.Errorf("%s is at %q, git says %q", name, list[name], id)
		}
	}
}
