package worktree

import (
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"
)

// What is read from the index is what git says of it, in every form that git writes.
func TestIndexIsReadAsGitReadsIt(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a-name-of-a-folder/", 12)
	fill := `for n in a ab abc abcd abcde abcdef abcdefg abcdefgh 'new
line' 'umläut' ` + long + `f ` + long + `g; do mkdir -p "$(dirname "$n")"; echo "$n" > "$n"; done; git add -A
git update-index --chmod=+x a; ln -s a link; git add link; echo later > later; git add -N later`
	// longer than the length of a name can say, and than the reader's buffer
	deep := `id=$(git hash-object -w a.txt); for n in 4094 4095 4096 70000; do
printf '100644 %s\t%s\n' $id "$(printf "%*s" $n x | tr ' ' y)$n"; done | git update-index --index-info`
	for name, c := range map[string]struct {
		script string
		asked  bool // git is asked after all
	}{
		"version 2":       {script: fill},
		"version 3":       {script: fill + "\ngit update-index --skip-worktree ab abc; git update-index --assume-unchanged abc abcd"},
		"version 4":       {script: fill + "\ngit update-index --index-version 4 --skip-worktree ab; git update-index --assume-unchanged abcd"},
		"sha256":          {script: "rm -rf .git; git init -q --object-format=sha256\n" + fill},
		"a long name":     {script: deep},
		"a long name, v4": {script: deep + "\ngit update-index --index-version 4"},
		"a conflict": {script: `git switch -q -c other; echo 1 > a.txt; git commit -qam 1; git switch -q main; echo 2 > a.txt; git commit -qam 2
git merge -q other >/dev/null || true`},
		"a submodule":     {script: "git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub"},
		"nothing":         {script: "rm .git/index"},
		"several files":   {script: fill + "\ngit update-index --split-index; echo more > more; git add more", asked: true},
		"whole folders":   {script: fill + "\ngit add -A; git commit -qm all; git sparse-checkout set --sparse-index src", asked: true},
		"the end is lost": {script: "cp .git/index x; head -c 200 x > .git/index; rm x", asked: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.sh(c.script)
			p, err := find(t.Context(), "", r.dir)
			r.must(err)
			all := func(rawEntry) bool { return true }
			var sized int64
			err = readIndex(r.path(".git/index"), len(p.zero)/2, func(e rawEntry) { sized += e.size })
			if errors.Is(err, errIndex) != c.asked || err != nil && !c.asked {
				t.Fatalf("read: %v", err)
			}
			want, wrong := p.askIndex(t.Context(), all)
			have, err := p.fromIndex(t.Context(), all)
			if (err == nil) != (wrong == nil) {
				t.Fatalf("%v, git: %v", err, wrong)
			}
			for i := range have {
				have[i].size = 0
			}
			if !reflect.DeepEqual(have, want) {
				t.Errorf("read\n%+v\ngit says\n%+v", have, want)
			}
		})
	}
}

// The size of a tree is that of its files, tracked or not, looked at by git or not.
func TestSizeOfATree(t *testing.T) {
	t.Parallel()
	for _, split := range []string{"", "git update-index --split-index"} {
		r := emptyRig(t)
		r.write("tracked", strings.Repeat("x", 1000))
		r.write("unseen", strings.Repeat("x", 200))
		r.write("new", strings.Repeat("x", 30))
		r.write("own.log", strings.Repeat("x", 7))
		r.write(".git/info/exclude", "*.log\n")
		r.sh("git add tracked; " + split + "\ngit update-index --add --cacheinfo 100644,$(git hash-object -w unseen),unseen")
		p, err := find(t.Context(), "", r.dir)
		r.must(err)
		if n, err := p.size(t.Context(), []string{"new"}); n != 1230 || err != nil {
			t.Errorf("%d %v", n, err)
		}
	}
}

func FuzzIndex(f *testing.F) {
	f.Add([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x00link\x00\x00\x00\x00"))
	f.Add([]byte("DIRC\x00\x00\x00\x04\x00\x00\x00\x01" + strings.Repeat("\x00", 62) + "\x00a\x00" + strings.Repeat("\x00", 20)))
	f.Fuzz(func(t *testing.T, b []byte) {
		file := t.TempDir() + "/index"
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := readIndex(file, 20, func(rawEntry) {}); err != nil && !errors.Is(err, errIndex) {
			t.Error(err)
		}
	})
}
