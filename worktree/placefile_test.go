package worktree

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"testing"
)

// places are folders that git takes for a work tree, or not, by the commands that
// make them.
var kindsOfPlaces = map[string]struct {
	make string
	dir  string
	read bool // by its files
}{
	"as usual":              {"", ".", true},
	"a folder in it":        {"mkdir -p deep/er", "deep/er", true},
	"a worktree":            {"git worktree add -q ../w -b w", "../w", true},
	"a folder of one":       {"git worktree add -q ../w -b w; mkdir ../w/deep", "../w/deep", true},
	"moved, by a file":      {"mv .git ../store; echo 'gitdir: ../store' > .git", ".", true},
	"with a clone inside":   {"git clone -q . inner; mkdir inner/deep", "inner/deep", true},
	"detached":              {"git checkout -q --detach", ".", true},
	"no commit":             {"git init -q fresh", "fresh", true},
	"no repository":         {"mkdir ../out", "../out", true},
	"other names":           {"git init -q --object-format=sha256 other", "other", false},
	"bare":                  {"git clone -q --bare . b.git", "b.git", false},
	"in git's folder":       {"", ".git", false},
	"deep in git's folder":  {"", ".git/refs", false},
	"called bare":           {"git config core.bare true", ".", false},
	"bare in other words":   {"git config core.bare yes", ".", false},
	"files elsewhere":       {"mkdir ../else; git config core.worktree ../../else", ".", false},
	"settings of one":       {"git config extensions.worktreeConfig true", ".", false},
	"settings from outside": {"git config include.path x", ".", false},
	"a link to a store":     {"mv .git ../store; ln -s ../store .git", ".", false},
	"a link that is broken": {"rm -r .git; ln -s ../nowhere .git", ".", false},
	"an empty .git":         {"mkdir -p sub/.git", "sub", false},
	"a submodule":           {"git -c protocol.file.allow=always submodule --quiet add ./. sub", "sub", false},
	"no head":               {"rm .git/HEAD", ".", false},
	"a head of nonsense":    {"echo x > .git/HEAD", ".", false},
	"no objects":            {"rm -r .git/objects", ".", false},
	"no settings":           {"rm .git/config", ".", false},
	"no store":              {"rm -r .git; echo 'gitdir: ../gone' > .git", ".", false},
	"a file of nonsense":    {"rm -r .git; echo x > .git", ".", false},
}

// Where a folder belongs is read as git says it, or git is asked.
func TestPlacesAreReadAsGitSaysThem(t *testing.T) {
	t.Parallel()
	for _, name := range slices.Sorted(maps.Keys(kindsOfPlaces)) {
		k := kindsOfPlaces[name]
		r := newRig(t)
		r.sh(k.make)
		real, err := realPath(filepath.Join(r.dir, k.dir))
		r.must(err)
		want, said := ask(t.Context(), "", real)
		got, sure, none := readPlace("", real)
		if sure != k.read {
			t.Errorf("%s: read by its files: %t", name, sure)
		}
		if sure && (errors.Is(none, errNoRepository) != (said != nil) || said == nil && (got.top != want.top || got.own != want.own || got.all != want.all || got.zero != want.zero || got.dir != want.dir)) {
			t.Errorf("%s: read %+v (%v), git says %+v (%v)", name, got, none, want, said)
		}
	}
}
