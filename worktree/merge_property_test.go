package worktree

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Steps that do not touch the same lines give the same tree in a row and in
// worktrees of their own, and what the user has uncommitted stays.
func TestParallelEqualsSequential(t *testing.T) {
	t.Parallel()
	const steps, files, lines = 4, 6, 40
	seeds := uint64(2)
	if os.Getenv("BELAY_SWEEPS") == "all" {
		seeds = 20
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 7))
			p := newPair(t)
			for f := range files {
				var b strings.Builder
				for l := range lines {
					fmt.Fprintf(&b, "file %d line %d\n", f, l)
				}
				p.write(fmt.Sprintf("d%d/f%d", f%3, f), b.String())
			}
			p.commit("files")
			if seed%2 == 1 { // the user has work: staged, changed, untracked
				p.sh("echo s > staged; git add staged; echo changed >> src/main.go; echo u > untracked; echo i > i.log; git stash list")
			}
			scripts := make([]string, steps)
			for s := range steps {
				scripts[s] = randomWork(rnd, s, steps, files, lines)
			}
			row := p.in(filepath.Join(t.TempDir(), "row"))
			p.sh("cp -a . " + row.dir)
			users := p.users()
			var trees []rig
			for s := range steps {
				trees = append(trees, p.step(fmt.Sprint("s", s)))
			}
			for s, script := range scripts {
				row.sh(script)
				trees[s].sh(script)
			}
			for s := range steps {
				if got := p.merge(fmt.Sprint("s", s)); got.Outcome == OutcomeConflict {
					t.Fatalf("step %d: %+v\n%s", s, got, scripts[s])
				}
			}
			if got, want := p.files(), row.files(); got != want {
				t.Errorf("in worktrees:\n%s\nin a row:\n%s\nof\n%s", got, want, strings.Join(scripts, "\n--\n"))
			}
			if seed%2 == 1 && p.users() != users {
				t.Errorf("what is the user's:\n%s\nwas\n%s", p.users(), users)
			}
			if seed%2 == 0 && p.git("log", "--format=%s") != row.git("log", "--format=%s") {
				t.Errorf("commits: %s, in a row: %s", p.git("log", "--format=%s"), row.git("log", "--format=%s"))
			}
		})
	}
}

// randomWork is a script of edits to lines that belong to one step.
func randomWork(rnd *rand.Rand, step, steps, files, lines int) string {
	const commit = "git add -A d0 d1 d2; git diff --cached --quiet -- d0 d1 d2 || git commit -qm 'step %d edit %d' -- d0 d1 d2"
	var b strings.Builder
	for e := range 1 + rnd.IntN(6) {
		f := rnd.IntN(files)
		file := fmt.Sprintf("d%d/f%d", f%3, f)
		own := step*(lines/steps) + 2 + rnd.IntN(lines/steps-4) // some lines away from the next step's
		switch rnd.IntN(5) {
		case 0:
			fmt.Fprintf(&b, "sed -i 's/^file %d line %d$/& by %d/' %s\n", f, own, step, file)
		case 1:
			fmt.Fprintf(&b, "sed -i 's/^file %d line %d\\b.*$/&\\nadded by %d/' %s\n", f, own, step, file)
		case 2:
			fmt.Fprintf(&b, "sed -i '/^file %d line %d\\b/d' %s\n", f, own, file)
		case 3:
			fmt.Fprintf(&b, "mkdir -p n%d; echo %d > n%d/e%d; chmod +x n%d/e%d\n", step, e, step, e, step, e)
		case 4:
			fmt.Fprintf(&b, commit+"\n", step, e)
		}
	}
	fmt.Fprintf(&b, commit+"\n", step, 99)
	return b.String()
}

// Of many files only those that changed are merged.
func TestMergeInABigTree(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	p.sh("for d in $(seq 30); do mkdir -p big/$d; for f in $(seq 30); do echo $d $f > big/$d/$f; done; done")
	p.commit("900 files")
	p.write("u", "u\n")
	s := p.step("s")
	s.sh("echo x > big/5/5; rm big/6/6; echo n > big/7/new")
	if got := p.merge("s"); got.Count != 3 {
		t.Errorf("%+v", got)
	}
}

// Ignored files that work needs are copied in, and are nobody's work.
func TestIgnoredFilesAreCopiedIn(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	p.sh(`printf '.env*\nnode_modules/\n*.key\nbuild/\n' >> .gitignore; git add -A; git commit -qm ignore
		echo A=1 > .env; mkdir -p sub; echo B=2 > sub/.env.local; chmod 600 sub/.env.local
		mkdir -p node_modules/m/.bin; echo m > node_modules/m/i.js; ln -s ../i.js node_modules/m/.bin/m; chmod +x node_modules/m/i.js; ln -s ../../outside node_modules/o
		echo k > a.key; echo k > b.key; mkdir build; echo b > build/b; echo seen > not-ignored.key2
		printf '*.key\n!b.key\nnot-ignored*\na.txt\n' > .worktreeinclude`)
	m, err := Create(t.Context(), p.dir, Options{Run: "r1", Step: "s", Branch: "belay/s", Root: p.root, Include: Include{Patterns: DefaultInclude()}})
	p.must(err)
	s := p.in(m.Path)
	for path, want := range map[string]string{".env": "A=1\n", "sub/.env.local": "B=2\n", "node_modules/m/i.js": "m\n", "node_modules/m/.bin/m": "m\n", "a.key": "k\n"} {
		if got := s.read(path); got != want {
			t.Errorf("%s: %q", path, got)
		}
	}
	for _, path := range []string{"b.key", "build", "not-ignored.key2"} {
		if exists(s.path(path)) {
			t.Errorf("%s was copied", path)
		}
	}
	s.sh("[ -x node_modules/m/i.js ] && [ $(stat -c %a sub/.env.local) = 600 ] && [ $(readlink node_modules/m/.bin/m) = ../i.js ] && [ $(readlink node_modules/o) = " + filepath.Join(filepath.Dir(p.dir), "outside") + " ]")
	before := s.look()
	s.sh("rm .gitignore; echo C=3 >> .env")
	if got := (Tree{Dir: s.dir}).Since(t.Context(), before, s.look(), nil); got.Files != 1 || got.Changed[0].Path != ".gitignore" {
		t.Errorf("copied files are evidence: %+v", got.Changed)
	}
}

// They are never merged, and what is too big is named.
func TestCopiedFilesAreNotMerged(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	p.sh("echo .env >> .gitignore; echo node_modules >> .gitignore; git commit -qam i; echo A=1 > .env; mkdir node_modules; head -c 3000 /dev/zero > node_modules/big")
	o := Options{Run: "r1", Step: "s", Branch: "belay/s", Root: p.root, From: FromState, Include: Include{Patterns: DefaultInclude(), Limit: 2000}}
	m, err := Create(t.Context(), p.dir, o)
	if err != nil || !strings.Contains(m.Left, "node_modules: it is bigger than the limit") {
		t.Fatalf("create: %+v, %v", m, err)
	}
	s := p.in(m.Path)
	s.sh("echo B=2 >> .env; rm .gitignore; echo n > n")
	if got := p.merge("s"); got.Outcome != OutcomeMerged || got.Count != 2 || p.read(".env") != "A=1\n" {
		t.Errorf("merge: %+v", got)
	}
}

func TestCanIsolate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, setup, why string }{
		{"as usual", "echo u > u", ""},
		{"detached", "git checkout -q --detach", ""},
		{"an ignored repository inside", "mkdir out; git init -q out/in", ""},
		{"submodule", "git init -q ../sub; git -C ../sub commit -q --allow-empty -m s; git -c protocol.file.allow=always submodule --quiet add ../sub", "the repository has submodules (sub)"},
		{"repository inside", "git init -q in; git -C in commit -q --allow-empty -m x", "another repository is inside the tree (in)"},
		{"sparse", "git sparse-checkout set src", "the tree is a sparse checkout"},
		{"merge", "git checkout -qb b; echo b > a.txt; git commit -qam b; git checkout -q main; echo c > a.txt; git commit -qam c; git merge b || true", "a merge is not finished in the tree"},
		{"rebase", "git checkout -qb b; echo b > a.txt; git commit -qam b; git checkout -q main; echo c > a.txt; git commit -qam c; git rebase b || true", "a rebase is not finished in the tree"},
		{"cherry-pick", "git checkout -qb b; echo b > a.txt; git commit -qam b; git checkout -q main; echo c > a.txt; git commit -qam c; git cherry-pick b || true", "a cherry-pick is not finished in the tree"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPair(t)
			p.sh(c.setup)
			if ok, why := CanIsolate(t.Context(), p.dir, p.root); ok != (c.why == "") || why != c.why {
				t.Errorf("%v %q, want %q", ok, why, c.why)
			}
		})
	}
	if ok, why := CanIsolate(t.Context(), emptyRig(t).dir, "/"); ok || why != "the repository has no commit yet" {
		t.Errorf("%v %q", ok, why)
	}
	if ok, why := CanIsolate(t.Context(), t.TempDir(), "/"); ok || why != "there is no git repository with files here" {
		t.Errorf("%v %q", ok, why)
	}
}
