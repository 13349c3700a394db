package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay"
)

// pair is a run's tree and worktrees of its steps.
type pair struct {
	rig
	root string
}

func newPair(t *testing.T) pair {
	t.Helper()
	r := newRig(t)
	return pair{r, filepath.Join(filepath.Dir(r.dir), "trees")}
}

// step makes the worktree of a step at the state of the run's tree.
func (p pair) step(name string) rig {
	p.t.Helper()
	m, err := Create(p.t.Context(), p.dir, Options{Run: "r1", Step: belay.Path(name), Branch: "belay/" + name, Root: p.root, From: FromState})
	p.must(err)
	return p.in(m.Path)
}

func (p pair) order(step string) MergeOrder {
	return MergeOrder{Key: "r1/" + step, Dir: filepath.Join(filepath.Dir(p.dir), "plans"), Tree: p.dir, Run: "r1", Step: belay.Path(step)}
}

func (p pair) merge(step string) MergeResult {
	p.t.Helper()
	r, err := Merge(p.t.Context(), p.order(step))
	p.must(err)
	return r
}

// users is what a merge leaves alone: what is staged and stashed, and the
// settings.
func (p pair) users() string {
	p.t.Helper()
	return p.git("diff", "--cached") + "\n--\n" + p.git("stash", "list") + "\n--\n" + p.git("for-each-ref", "refs/heads/main", "refs/stash", "refs/tags")
}

// files are all files of a tree with modes and contents, less git's own.
func (r rig) files() string {
	r.t.Helper()
	var b strings.Builder
	r.must(filepath.WalkDir(r.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.Name() == ".git" {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return err
		}
		rel, _ := filepath.Rel(r.dir, path)
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := ""
		switch {
		case info.Mode()&os.ModeSymlink != 0:
			text, err = os.Readlink(path)
		case info.Mode().IsRegular():
			var raw []byte
			raw, err = os.ReadFile(path)
			text = string(raw)
		}
		b.WriteString(rel + " " + info.Mode().String() + " " + text + "\n")
		return err
	}))
	return b.String()
}

func TestMergeBringsChangesOfAllKinds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, setup, user, step string }{
		{"edit", "", "", "echo four >> a.txt"},
		{"new file in new folders", "", "", "mkdir -p x/y; echo n > x/y/n"},
		{"delete", "", "", "rm a.txt"},
		{"delete the last file of a folder", "", "", "rm -r src"},
		{"rename and edit", "", "", "git mv a.txt b.txt; echo x >> b.txt"},
		{"rename in the step, edit by the user", "for i in $(seq 30); do echo $i; done > l; git add l; git commit -qm l", "sed -i s/^3$/three/ l", "git mv l m"},
		{"mode", "", "", "chmod +x a.txt"},
		{"symlink", "", "", "ln -s a.txt l; ln -s /nowhere m"},
		{"file to symlink", "", "", "rm a.txt; ln -s src a.txt"},
		{"file to folder", "", "", "rm a.txt; mkdir a.txt; echo in > a.txt/in"},
		{"folder to file", "", "", "rm -r src; echo f > src"},
		{"binary", "printf '\\0a' > bin; git add bin; git commit -qm b", "", "printf '\\0b\\377' > bin"},
		{"odd names", "", "", `printf x > $'new\nline'; printf x > -dash; printf x > ' sp ace '; printf x > $'inv\377alid'; printf x > 'ü"q\'; printf x > '*'; printf x > ':(top)y'`},
		{"odd names deleted", `printf x > $'new\nline'; printf x > -dash; printf x > $'inv\377alid'; printf x > '*'; git add -A; git commit -qm odd`, "", `rm -- $'new\nline' -dash $'inv\377alid' '*'`},
		{"empty file", "", "", ": > empty"},
		{"user edits another file", "", "echo u > u; echo mine >> src/main.go; git add u", "echo four >> a.txt"},
		{"user and step edit one file in different places", "", "sed -i 1s/^/zero\\\\n/ a.txt", "echo four >> a.txt"},
		{"crlf", "printf '*.t text eol=crlf\\n' > .gitattributes; printf 'a\\r\\nb\\r\\n' > x.t; git add -A; git commit -qm crlf", "", "printf 'c\\r\\n' >> x.t"},
		{"attributes and a file under them", "", "", "printf '*.t text eol=crlf\\n' > .gitattributes; printf 'a\\r\\nb\\r\\n' > x.t"},
		{"smudge filter", "git config filter.r.clean 'tr a-z n-za-m'; git config filter.r.smudge 'tr a-z n-za-m'; printf '*.r filter=r\\n' > .gitattributes; echo hello > x.r; git add -A; git commit -qm r", "", "echo world >> x.r"},
		{"same change on both sides", "", "echo four >> a.txt", "echo four >> a.txt; echo y > y"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPair(t)
			p.sh(c.setup)
			p.write("loose.txt", "untracked\n")
			p.write("staged.txt", "staged\n")
			p.git("add", "staged.txt")
			p.write("x.log", "ignored\n")
			s := p.step("s")
			s.sh(c.step)
			p.sh(c.user)
			// in a row: the same commands in one tree
			row := p.in(filepath.Join(t.TempDir(), "row"))
			p.sh("cp -a . " + row.dir)
			row.sh(c.step)
			if c.name == "rename in the step, edit by the user" {
				row.write("m", p.read("l"))
			}
			before := p.users()
			if c.name == "same change on both sides" {
				row.write("a.txt", p.read("a.txt"))
			}
			if got := p.merge("s"); got.Outcome != OutcomeMerged || len(got.Files) == 0 || len(got.Commits) != 0 {
				t.Fatalf("merge: %+v", got)
			}
			if got, want := p.files(), row.files(); got != want {
				t.Errorf("the tree after the merge:\n%q\nafter the same commands in it:\n%q", got, want)
			}
			if after := p.users(); after != before {
				t.Errorf("what is the user's changed:\n%s\nwas:\n%s", after, before)
			}
		})
	}
}
