package worktree

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/belay-run/belay"
)

// settled is a print that is taken when all files of the rig are older than any
// doubt about clocks. Only the clock is asked again and again, and not too often:
// that is a new file each time, but no call of git.
func (r rig) settled() belay.TreeState {
	r.t.Helper()
	r.write(".git/last", "")
	at, err := find(r.t.Context(), "", r.dir)
	r.must(err)
	last := at.moment()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); <-tick.C {
		if at.moment() <= last+int64(slack) {
			continue
		}
		if p := r.timed(); p.At > last+int64(slack) {
			return p
		}
	}
	r.t.Fatal("the clock of the file system stands still")
	return belay.TreeState{}
}

// oldRig is a repository with ignored files, a nested one and a submodule: a copy
// of one that is made once, because it takes many calls of git.
func oldRig(t *testing.T) rig {
	t.Helper()
	top, err := oldModel()
	if err != nil {
		t.Fatal(err)
	}
	r := rig{t: t, dir: filepath.Join(realTemp(t), "repo")}
	r.must(os.CopyFS(r.dir, os.DirFS(filepath.Join(top, "repo"))))
	r.sh("git -C lib update-index -q --refresh && git update-index -q --refresh") // copies are other files to git
	return r
}

// oldModel makes what oldRig copies. It stays until all tests are done: its
// submodule comes from there.
var oldModel = sync.OnceValues(func() (string, error) {
	top := filepath.Join(models, "old")
	if err := os.MkdirAll(top, 0o755); err != nil {
		return "", err
	}
	cmd := exec.Command("bash", "-ec", `
mkdir lib repo repo/src
git init -q -b main lib
echo l > lib/l
git -C lib add l
git -C lib commit -q -m l
cd repo
git init -q -b main
printf 'one\ntwo\nthree\n' > a.txt
printf 'package main\n\nfunc main() {}\n' > src/main.go
printf '*.log\nout/\n' > .gitignore
git add -A
git commit -q -m first
git -c protocol.file.allow=always submodule --quiet add "$(dirname "$PWD")/lib" lib
echo 'tracked though ignored' > kept.log
git add -f kept.log
git commit -q -m all
mkdir -p out/gen
echo ignored > old.log
echo made > out/gen/x
echo untracked > plain
`)
	cmd.Dir, cmd.Env = top, rig{}.env()
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("make the model of a repository: %w\n%s", err, out)
	}
	return top, nil
})

// Every file is what it was: only what git looks at is not.
//
// promise: H3
func TestSinceWhatGitLooksAtIsNoWork(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"add ignored":     "git add -f old.log",
		"remove cached":   "git rm -q --cached kept.log",
		"both":            "git add -f old.log && git rm -q --cached kept.log",
		"exclude":         "echo plain >> .git/info/exclude",
		"excludes file":   "echo plain > .git/ex && git config core.excludesFile $PWD/.git/ex",
		"filter":          "git config filter.up.clean 'tr a-z A-Z' && echo 'plain filter=up' > .git/info/attributes",
		"empty nested":    "git init -q nested",
		"empty submodule": "git -C lib commit -q --allow-empty -m nothing",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := oldRig(t)
			base := r.settled()
			r.sh(script)
			if e := r.since(base); e.Files != 0 || e.Changed != nil || e.After.Tree != base.Tree {
				t.Errorf("%+v", e)
			}
			base.At = 0
			if e := r.since(base); !strings.HasPrefix(name, "empty") && e.Files == 0 {
				t.Errorf("it is told without a time: %+v", e)
			}
			r.write("real", "work\n")
			if e := r.since(base); e.Files == 0 || e.After.Tree == base.Tree {
				t.Errorf("real work beside it: %+v", e)
			}
		})
	}
}

// Whatever way a file takes, work is work.
//
// promise: H3
func TestSinceRealWork(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"write":                  "echo x > a.txt",
		"old time":               "echo x > a.txt && touch -d 2001-01-01 a.txt",
		"copy with its time":     "cp -p old.log new",
		"move file in":           "mv old.log new",
		"move folder in":         "mv out/gen gen",
		"move folder":            "mv src source",
		"move folder to ignored": "mkdir -p out && mv src out/src",
		"hard link":              "ln old.log new",
		"symbolic link":          "ln -s old.log new",
		"folder behind a link":   "mv src out/src && ln -s out/src src",
		"delete":                 "rm plain",
		"delete tracked":         "git rm -q kept.log",
		"mode":                   "chmod +x a.txt",
		"checkout of a file":     "git checkout -q other -- a.txt",
		"checkout":               "git checkout -q -f other",
		"merge":                  "git merge -q --no-edit other",
		"fast forward":           "git pull -q . other",
		"stash":                  "git stash -q -u",
		"unignore":               "echo > .gitignore",
		"commit of ignored":      "git add -f old.log && git commit -q -m log",
		"in submodule":           "echo x > lib/l",
		"commit in submodule":    "cd lib && echo x > l && git commit -q -am x",
		"nested with a file":     "git init -q nested && echo x > nested/x",
		"hidden and changed":     "git add -f old.log && echo more >> old.log",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := oldRig(t)
			r.sh("git checkout -q -b other && echo o > a.txt && git commit -q -am other && git checkout -q main")
			base := r.settled()
			r.sh(script)
			if e := r.since(base); e.Files == 0 || e.After.Tree == base.Tree {
				t.Errorf("%+v", e)
			}
		})
	}
}

// However many there are: it is their content that counts.
//
// promise: H3
func TestSinceManyFiles(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.sh("mkdir data more; for i in $(seq 1100); do echo $i >data/$i; echo $i >more/$i; done")
	base := r.settled()
	r.sh("echo data >> .git/info/exclude; touch more/*; echo more >> .git/info/exclude")
	if e := r.since(base); e.Files != 0 || e.After.Tree != base.Tree {
		t.Errorf("hidden: %d files", e.Files)
	}
	r.write("more/7", "x\n")
	if e := r.since(base); e.Files == 0 {
		t.Errorf("one of them is another: %+v", e)
	}
}
