package worktree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestOriginOf: what another machine can have of a checkout, and why it cannot.
func TestOriginOf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, remote string
		ask          bool
		prepare      func(r rig, bare string)
		why          string
		loose        int
	}{
		{name: "pushed", remote: "origin", prepare: func(r rig, _ string) { r.git("push", "-q", "origin", "main") }},
		{name: "not pushed", remote: "origin", prepare: func(rig, string) {}, why: "its commit is not pushed to origin"},
		{name: "not pushed, and asked", remote: "origin", ask: true, prepare: func(rig, string) {}, why: "its commit is not pushed to origin"},
		{name: "pushed by a URL, and not asked", prepare: func(r rig, bare string) { r.git("push", "-q", bare, "main") }, remote: "origin", why: "its commit is not pushed to origin"},
		{name: "pushed by a URL, and asked", prepare: func(r rig, bare string) { r.git("push", "-q", bare, "main") }, remote: "origin", ask: true},
		{name: "an earlier commit", remote: "origin", ask: true, prepare: func(r rig, bare string) {
			r.write("a.txt", "new\n")
			r.git("commit", "-qam", "second")
			r.git("push", "-q", bare, "main")
			r.git("reset", "-q", "--hard", "HEAD^")
		}},
		{name: "uncommitted", remote: "origin", loose: 2, prepare: func(r rig, _ string) {
			r.git("push", "-q", "origin", "main")
			r.write("a.txt", "new\n")
			r.write("new.txt", "new\n")
			r.write("x.log", "ignored\n")
		}},
		{name: "no such remote", remote: "upstream", prepare: func(rig, string) {}, why: "there is no remote upstream"},
		{name: "a submodule", remote: "origin", why: "the repository has submodules (sub), which are not cloned", prepare: func(r rig, bare string) {
			r.git("update-index", "--add", "--cacheinfo", "160000,"+r.git("rev-parse", "HEAD")+",sub")
			r.git("commit", "-qm", "sub")
			r.git("push", "-q", "origin", "main")
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			bare := filepath.Join(realTemp(t), "bare.git")
			r.git("init", "-q", "--bare", "-b", "main", bare)
			r.git("remote", "add", "origin", bare)
			tt.prepare(r, bare)
			o, why, err := OriginOf(t.Context(), filepath.Join(r.dir, "src"), tt.remote, tt.ask)
			if err != nil || why != tt.why {
				t.Fatalf("%q %v, want %q", why, err, tt.why)
			}
			if why == "" && (o.Remote != bare || o.Branch != "main" || o.Below != "src" || o.Top != r.dir || o.Loose != tt.loose || o.Commit != r.git("rev-parse", "HEAD")) {
				t.Errorf("%+v", o)
			}
		})
	}
}

// TestFetched: a checkout has the commit, its branch and the remote, what was fetched
// once is used again, and a commit that is not there is said.
func TestFetched(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	all := realTemp(t)
	bare := filepath.Join(all, "bare.git")
	r.git("init", "-q", "--bare", "-b", "main", bare)
	r.git("push", "-q", bare, "main", "main:refs/heads/other")
	f := Fetched{Remote: bare, Commit: r.git("rev-parse", "HEAD"), Branch: "main", Dir: filepath.Join(all, "one", "place"), Kept: filepath.Join(all, "kept")}
	must := func(f Fetched) rig {
		t.Helper()
		if err := f.Run(t.Context()); err != nil || !f.Made() {
			t.Fatal(err)
		}
		return rig{t, f.Dir}
	}
	one := must(f)
	for want, args := range map[string][]string{
		"main":                     {"branch", "--show-current"},
		bare:                       {"remote", "get-url", "origin"},
		f.Commit:                   {"rev-parse", "refs/remotes/origin/other"},
		"refs/remotes/origin/main": {"symbolic-ref", "refs/remotes/origin/HEAD"},
		"origin/main":              {"rev-parse", "--abbrev-ref", "@{upstream}"},
		"":                         {"status", "--porcelain"},
	} {
		if got := one.git(args...); got != want {
			t.Errorf("git %v: %q, want %q", args, got, want)
		}
	}
	if one.git("rev-parse", "HEAD") != f.Commit || one.read("src/main.go") != r.read("src/main.go") {
		t.Error("the files are others")
	}
	one.write("a.txt", "work\n")
	if must(f); one.read("a.txt") != "work\n" {
		t.Error("a checkout that was there was made again")
	}

	r.write("a.txt", "second\n")
	r.git("commit", "-qam", "second")
	second := f
	second.Commit, second.Dir, second.Branch = r.git("rev-parse", "HEAD"), filepath.Join(all, "two", "place"), ""
	var none *NotThere
	if err := second.Run(t.Context()); !errors.As(err, &none) || second.Made() {
		t.Fatalf("a commit that is not there: %v", err)
	}
	r.git("push", "-q", bare, "main")
	if two := must(second); two.read("a.txt") != "second\n" || two.git("branch", "--show-current") != "" {
		t.Error("the second commit is not checked out by itself")
	}

	if err := os.Rename(bare, bare+".away"); err != nil { // what was fetched is enough
		t.Fatal(err)
	}
	third := second
	third.Dir = filepath.Join(all, "three", "place")
	must(third)
	third.Dir, third.Commit = filepath.Join(all, "four", "place"), "1234567890123456789012345678901234567890"
	if err := third.Run(t.Context()); err == nil || errors.As(err, &none) {
		t.Errorf("a remote that is away says nothing about its commits: %v", err)
	}
	if err := Reach(context.Background(), bare); err == nil {
		t.Error("a remote that is away can be reached")
	}
}

// TestBare: no password leaves a machine in a URL.
func TestBare(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"https://user:pass@host/x.git":          "https://host/x.git",
		"https://token@host/x.git":              "https://host/x.git",
		"https://host/x@y.git":                  "https://host/x@y.git",
		"ssh://git@host/x.git":                  "ssh://git@host/x.git",
		"ssh://git:pass@host/x.git":             "ssh://git@host/x.git",
		"git@host:x.git":                        "git@host:x.git",
		"/srv/git/x.git":                        "/srv/git/x.git",
		"cannot read 'https://a:b@host/': gone": "cannot read 'https://host/': gone",
	} {
		if got := Bare(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
