package worktree

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// What was not committed in a checkout can be brought back, and nothing else is kept: the
// index, the branches and the files are as they were.
func TestKeepBeside(t *testing.T) {
	for name, c := range map[string]struct {
		happens        func(r rig)
		gone, replaced string
		noCopy         string
	}{
		"nothing":               {func(rig) {}, "", "", ""},
		"a file is deleted":     {func(r rig) { r.remove("deep/new") }, "deep/new", "", ""},
		"a file is taken back":  {func(r rig) { r.git("checkout", "-q", "--", "a.txt") }, "", "a.txt", ""},
		"it is stashed":         {func(r rig) { r.git("stash", "-q", "-u") }, "deep/new", "a.txt", "big"},
		"it is committed":       {func(r rig) { r.commit("mine") }, "", "", ""},
		"it goes on":            {func(r rig) { r.write("a.txt", "one\ntwo\nthree\nmine\nmore\n") }, "", "", ""},
		"it is ignored by now":  {func(r rig) { r.write(".git/info/exclude", "new\n") }, "", "", ""},
		"ignored, and replaced": {func(r rig) { r.write(".git/info/exclude", "new\n"); r.write("deep/new", "other\n") }, "", "deep/new", ""},
		"the name is taken away": {func(r rig) {
			r.git("update-ref", "-d", besideRef("r1"))
			r.remove("deep/new")
		}, "deep/new", "", ""},
		"a big one is deleted": {func(r rig) { r.remove("big") }, "", "", "big"},
	} {
		t.Run(name, func(t *testing.T) {
			defer func(was int64) { maxContent = was }(maxContent)
			maxContent = 1 << 10
			r := newRig(t)
			r.write("a.txt", "one\ntwo\nthree\nmine\n")
			r.write("deep/new", "mine\n")
			r.write("big", strings.Repeat("x", 2<<10))
			stood := r.git("status", "--porcelain") + r.git("for-each-ref", "refs/heads") + r.git("ls-files", "-s")
			b := KeepBeside(t.Context(), Tree{Dir: r.dir}, "r1")
			if b.Why != "" || b.Ref != besideRef("r1") {
				t.Fatalf("kept as %q: %s", b.Ref, b.Why)
			}
			if now := r.git("status", "--porcelain") + r.git("for-each-ref", "refs/heads") + r.git("ls-files", "-s"); now != stood {
				t.Errorf("the checkout is another one:\n%s\n%s", stood, now)
			}
			text, err := b.Bytes()
			r.must(err)
			again, err := ReadBefore(text, r.dir)
			r.must(err)
			c.happens(r)
			got, err := again.BesideSince(t.Context(), Tree{Dir: r.dir})
			r.must(err)
			if strings.Join(got.Gone, " ") != c.gone || strings.Join(got.Replaced, " ") != c.replaced || strings.Join(got.NoCopy, " ") != c.noCopy {
				t.Errorf("gone %q, replaced %q, without a copy %q", got.Gone, got.Replaced, got.NoCopy)
			}
			kept := r.git("for-each-ref", "refs/belay") != ""
			if kept != (c.gone+c.replaced != "") {
				t.Errorf("something is kept: %v", kept)
			}
			for _, path := range slices.Concat(got.Gone, got.Replaced) {
				if r.git("checkout", "-q", b.Ref, "--", path); !strings.Contains(r.read(path), "mine\n") {
					t.Errorf("%s is brought back as %q", path, r.read(path))
				}
			}
		})
	}
}

// Where too much is not committed there is no copy, and nothing of it is read.
func TestKeepBesideTooMuch(t *testing.T) {
	defer func(was int64) { maxBeside = was }(maxBeside)
	maxBeside = 1 << 20
	r := newRig(t)
	r.write("one", strings.Repeat("x", 600<<10))
	r.write("two", strings.Repeat("y", 600<<10))
	objects := len(r.git("count-objects"))
	b := KeepBeside(t.Context(), Tree{Dir: r.dir}, "r1")
	if b.Ref != "" || b.Why != "more than 1 MiB were not committed" || len(r.git("count-objects")) != objects {
		t.Errorf("kept as %q: %s", b.Ref, b.Why)
	}
	r.must(os.Remove(r.path("one")))
	if got, err := b.BesideSince(t.Context(), Tree{Dir: r.dir}); err != nil || len(got.Gone) > 0 {
		t.Errorf("%v, %v", got, err)
	}
}
