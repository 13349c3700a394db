package worktree

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// shapes are repositories as people have them, by the commands that make them.
var shapes = map[string]string{
	"as usual":         "echo x >> a.txt; echo n > n; git add n",
	"packed":           "git branch b; git tag t; git pack-refs --all; git gc -q; git commit -q --allow-empty -m more",
	"odd names":        "mkdir -p 'd d'; printf x > 'd d/ü\tq'; printf y > 'a-name-of-some-length-that-fills-a-whole-line-of-the-file'; git add -A",
	"in conflict":      "git checkout -qb b; echo b > a.txt; git commit -qam b; git checkout -q main; echo c > a.txt; git commit -qam c; git merge -q b || true",
	"promised":         "echo p > p; git add -N p",
	"assumed":          "git update-index --assume-unchanged a.txt",
	"skipped":          "git update-index --skip-worktree a.txt",
	"sparse":           "git sparse-checkout set --cone --sparse-index src",
	"version 4":        "git update-index --index-version 4",
	"split":            "git update-index --split-index; echo x > s; git add s",
	"detached":         "git checkout -q --detach",
	"worktrees":        "git worktree add -q ../w1 -b w1; git worktree add -q --detach ../w2; git worktree lock ../w2; git worktree add -q ../w3 -b deep/w3; rm -r ../w3; git pack-refs --all",
	"replaced":         "git commit -q --allow-empty -m two; echo z > z; git add z; git commit -qm three; git replace HEAD HEAD~1",
	"replaced, packed": "echo z > z; git add z; git commit -qm three; git replace HEAD HEAD~1; git pack-refs --all",
	"bare":             "git config core.bare false; git config user.name x",
	"no index":         "rm .git/index",
	"marked":           `for b in a deep/b 'ü' 'a"b'; do git config "branch.$b.belay-owner" '{"run":"t1","path":"/a \\ b"}'; git config "branch.$b.x" y; done; git config branch.A.belay-owner '{}'`,
	"marked twice":     `git config --add branch.a.belay-owner 1; git config --add branch.a.belay-owner 2`,
	"marked oddly":     `git config branch.a.belay-owner 'a#b'; git config branch.b.belay-owner ' c'`,
	"marked by hand":   `printf '[branch.x]\n\tBelay-Owner=1 ; 2\n' >> .git/config`,
}

// What is read from git's own files is what git says, or it is not believed.
func TestFilesSayWhatGitSays(t *testing.T) {
	t.Parallel()
	believed := map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(shapes)) {
		r := newRig(t)
		r.sh(shapes[name])
		p, err := find(t.Context(), "", r.dir)
		r.must(err)
		var got []string
		flags := ""
		if readIndex(r.path(".git/index"), len(p.zero)/2, func(raw rawEntry) {
			e := raw.whole()
			got = append(got, fmt.Sprintf("%s %s %d\t%s", e.mode, e.id, e.stage, e.path))
			if e.assumed || e.skipped {
				flags += e.path + " "
			}
		}) == nil {
			believed["index"]++
			if want := records(r.git("ls-files", "--stage", "-z")); !slices.Equal(got, want) {
				t.Errorf("%s: the index is\n%q, git says\n%q", name, got, want)
			}
			if told := r.flagged(); flags != told {
				t.Errorf("%s: flags of %q, git says of %q", name, flags, told)
			}
		}
		if list, ok := p.readWorktrees(); ok {
			believed["worktrees"]++
			want, err := p.toldWorktrees(t.Context())
			r.must(err)
			if byPath(list) != byPath(want) {
				t.Errorf("%s: worktrees %s, git says %s", name, byPath(list), byPath(want))
			}
		}
		if marks, ok := p.readMarks(); ok {
			believed["marks"]++
			want, err := p.toldMarks(t.Context())
			r.must(err)
			if !maps.Equal(marks, want) {
				t.Errorf("%s: marks %q, git says %q", name, marks, want)
			}
		}
		for _, branch := range []string{"main", "b", "deep", "deep/w3", "none", "w1"} {
			want, _ := r.try("rev-parse", "--verify", "--quiet", "refs/heads/"+branch)
			if id, ok := p.readRef(branch); ok && id != want {
				t.Errorf("%s: branch %s at %q, git says %q", name, branch, id, want)
			}
		}
		if id, ok := p.readCommit("HEAD"); ok {
			believed["commits"]++
			if want := r.git("rev-parse", "HEAD^{commit}"); id != want {
				t.Errorf("%s: HEAD is at %q, git says %q", name, id, want)
			}
		}
		if list, ok := p.looseNames(r.git("rev-parse", "HEAD^{tree}")); ok {
			believed["trees"]++
			if want := records(r.git("ls-tree", "-z", "--name-only", "HEAD")); !slices.Equal(list, want) {
				t.Errorf("%s: in the top folder is %q, git says %q", name, list, want)
			}
		}
		tree, err := p.treeOf(t.Context(), r.git("rev-parse", "HEAD"))
		if want := r.git("rev-parse", "HEAD^{tree}"); err != nil || tree != want {
			t.Errorf("%s: tree %q (%v), git says %q", name, tree, err, want)
		}
	}
	if believed["index"] < 9 || believed["worktrees"] < 14 || believed["marks"] < 15 || believed["commits"] < 14 || believed["trees"] < 14 {
		t.Errorf("read themselves: %v", believed)
	}
}

// flagged are the files of the index that git does not look at.
func (r rig) flagged() string {
	r.t.Helper()
	text := ""
	for _, rec := range records(r.git("ls-files", "-v", "-z")) {
		if tag, path, _ := strings.Cut(rec, " "); tag == "h" || tag == "S" || tag == "s" {
			text += path + " "
		}
	}
	return text
}

func byPath(list []linked) string {
	slices.SortFunc(list, func(a, b linked) int { return strings.Compare(a.path, b.path) })
	return fmt.Sprintf("%+v", list)
}

// An index that is cut off or made up is nothing to believe.
func TestIndexCutOff(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	b, err := os.ReadFile(r.path(".git/index"))
	r.must(err)
	for n := 1; n < len(b); n++ {
		count, file := 0, filepath.Join(t.TempDir(), "index")
		r.must(os.WriteFile(file, b[:n], 0o600))
		if readIndex(file, 20, func(rawEntry) { count++ }) == nil && count != 3 { // what comes after the entries may be missing
			t.Errorf("%d entries in the first %d of %d bytes", count, n, len(b))
		}
	}
}

// What was asked with renames is what would be without.
func TestDifferencesAreTheSame(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.sh("seq 50 > long; seq 60 99 > other; git add -A; git commit -qm long; git mv long src/long; echo x >> src/long; chmod +x a.txt; rm other; mkdir other; echo f > other/f; ln -s a.txt link; git rm -q .gitignore; git add -A; git commit -qm moved")
	from, to := r.git("rev-parse", "HEAD~1^{tree}"), r.git("rev-parse", "HEAD^{tree}")
	at, err := find(t.Context(), "", r.dir)
	r.must(err)
	want, err := at.edits(t.Context(), from+"^{tree}", to+"^{tree}") // no ids: nobody keeps the answer
	r.must(err)
	out, err := at.run(t.Context(), "diff-tree", "-r", "-z", "-M", "--raw", "--numstat", "--no-abbrev", from, to)
	r.must(err)
	if got := deltas(parseDiff(out)); !slices.Equal(got, want) || !strings.Contains(out, " R0") {
		t.Errorf("%q, want %q", got, want)
	}
}

// The settings of branches, which Belay writes itself, send nobody back to git; all
// others do.
func TestSettingsOfBranches(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p, err := find(t.Context(), "", r.dir)
	r.must(err)
	for _, c := range []struct {
		setup string
		same  bool
	}{
		{"git config branch.main.belay-owner '{\"a\":\"b[c]\"}'", true},
		{"git config branch.other.x y", true},
		{"git config --unset branch.other.x", true},
		{"git config core.x y", false},
		{"printf '[branch \"z\"] [core]\\n\\tworktree = /x\\n' >> .git/config", false},
		{"printf '[branch \"q\"]\\n\\tx = a\\\\\\n[core]\\n' >> .git/config", false},
	} {
		was := p.settings()
		r.sh(c.setup)
		if is := p.settings(); (is == was && is != "") != c.same {
			t.Errorf("%s: %q, was %q", c.setup, is, was)
		}
	}
}

// A second look is left out only where nobody touched a file since the first.
func TestSeenAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p, err := find(t.Context(), "", r.dir)
	r.must(err)
	list := []delta{{path: "a.txt"}, {path: "new"}}
	for _, c := range []struct{ name, do string }{
		{"written", "printf 'ONE\\ntwo\\nthree\\n' > a.txt; touch -d @1 a.txt"},
		{"another mode", "chmod +x a.txt"},
		{"another file", "cp a.txt b; mv b a.txt"},
		{"gone", "rm a.txt"},
		{"new", "echo n > new"},
	} {
		var seen sight
		for n := 0; !seen.fresh; n++ {
			if n == 5 { // a busy machine may take long from the touch to the look
				t.Fatalf("%s: a file of just now counts as old", c.name)
			}
			r.sh("git checkout -q -f a.txt; rm -f new; touch -d @1 a.txt")
			seen, err = p.see(t.Context(), list)
			r.must(err)
		}
		seen.fresh = false
		if again, err := p.seeAgain(t.Context(), list, seen); err != nil || !maps.Equal(again.now, seen.now) {
			t.Errorf("%s: %v, %v", c.name, again.now, err)
		}
		r.sh(c.do)
		again, err := p.seeAgain(t.Context(), list, seen)
		if want, bad := p.entries(t.Context(), list); err != nil || bad != nil || !maps.Equal(again.now, want) {
			t.Errorf("%s: %v, %v; want %v", c.name, again.now, err, want)
		}
	}
}

// The commits between two, and what each says, are read as git lists them, or not at all.
func TestCommitsAreReadAsGitListsThem(t *testing.T) {
	t.Parallel()
	believed := map[string]int{}
	for name, more := range map[string]string{
		"plain": "", "packed": "git gc -q", "shallow": "git rev-parse HEAD~1 > .git/shallow",
		"replaced": "git replace --graft HEAD HEAD~2", "grafts": "git config advice.graftFileDeprecated false; mkdir -p .git/info; echo $(git rev-parse HEAD) $(git rev-parse HEAD~2) > .git/info/grafts",
	} {
		r := newRig(t)
		r.sh(`for i in 1 2 3; do echo $i > f; git add f; git commit -q -m "$i

parent of all"; done; git checkout -q -b side HEAD~1; echo s > s; git add s; git commit -q -m s; git checkout -q main; git merge -q --no-ff -m joined side; echo 5 > f; git commit -q -am 5;` + more)
		p, err := find(t.Context(), "", r.dir)
		r.must(err)
		all := strings.Fields(r.git("rev-list", "--all"))
		for _, to := range all {
			if c, ok := p.looseCommit(to); ok {
				if want := r.git("log", "-1", "--format=%T %P", to); strings.Join(append([]string{c.tree}, c.parents...), " ") != strings.TrimSpace(want) {
					t.Errorf("%s: %s says %v, git %q", name, to, c, want)
				}
			}
			for _, from := range all {
				if ids, sure := p.straight(from, to, 9); sure {
					believed[name]++
					if want := strings.Fields(r.git("rev-list", to, "^"+from)); !slices.Equal(ids, want) {
						t.Errorf("%s: between %s and %s are %v, git says %v", name, from, to, ids, want)
					}
				}
			}
		}
	}
	if believed["plain"] < 12 || believed["packed"]+believed["shallow"] > 14 {
		t.Errorf("read themselves: %v", believed)
	}
}
