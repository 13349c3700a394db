package hand

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/worktree"
)

// lockRig is a repository with a commit, a worktree of it and a folder in each.
type lockRig struct {
	t          *testing.T
	main, tree string
}

func newLockRig(t *testing.T) lockRig {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := lockRig{t, filepath.Join(dir, "main [1]"), filepath.Join(dir, "tree")}
	script := `git init -q "$1" && cd "$1" && git -c user.name=a -c user.email=a@example.com commit -q --allow-empty -m first &&
		git worktree add -q "$2" && mkdir sub "$2/sub"`
	if out, err := exec.Command("sh", "-c", script, "sh", r.main, r.tree).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return r
}

// lock makes a lock that nobody has open.
func (r lockRig) lock(parts ...string) string {
	r.t.Helper()
	path := filepath.Join(parts...)
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		r.t.Fatal(err)
	}
	return path
}

func (r lockRig) want(when, dir string, want effect.LockState, says string) {
	r.t.Helper()
	p := Look(dir, dir, OOMKills())
	if p.Lock != want || !strings.Contains(p.Detail, says) || (want == effect.LockNone) != (p.Detail == "") {
		r.t.Errorf("%s: %q (%s), want %q (%s)", when, p.Lock, p.Detail, want, says)
	}
}

// holds starts a process that says when it is ready, and the act that ends it.
func (r lockRig) holds(cmd *exec.Cmd) (end func()) {
	r.t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	ended := false
	end = func() {
		if ended {
			return
		}
		ended = true
		_ = in.Close()                     // it ends by that
		_, _ = io.Copy(io.Discard, out)    // to its end
		if err := cmd.Wait(); err != nil { // whoever lives on would hold the next lock, too
			r.t.Errorf("the one who held the lock: %v", err)
		}
	}
	r.t.Cleanup(end)
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		r.t.Fatalf("it is not ready: %q, %v", line, err)
	}
	return end
}

// A lock that a living process has open is alive; when it is gone and the file
// is not, it is dead. Another repository's lock is nobody's business, and a
// worktree has locks of its own.
//
// promise: F7
func TestLookAtLocks(t *testing.T) {
	r := newLockRig(t)
	own := filepath.Join(r.main, ".git", "worktrees", "tree")
	r.want("no lock", r.main, effect.LockNone, "")
	r.want("no repository", filepath.Dir(r.main), effect.LockNone, "")
	r.want("no directory", filepath.Join(r.main, "nowhere"), effect.LockNone, "")
	r.lock(r.main, ".git", worktree.LockName)
	r.want("Belay's own", r.main, effect.LockNone, "")

	path := r.lock(r.main, ".git", "index.lock")
	r.want("left behind", r.main, effect.LockDead, path+" was left behind")
	r.want("below", filepath.Join(r.main, "sub"), effect.LockDead, path)
	r.want("the worktree has none", r.tree, effect.LockNone, "")
	end := r.holds(exec.Command("sh", "-c", `exec 3<"$1"; echo ready; cat`, "sh", path))
	r.want("held", r.main, effect.LockAlive, path)
	end()
	r.want("let go", r.main, effect.LockDead, path)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	r.want("gone", r.main, effect.LockNone, "")

	path = r.lock(own, "HEAD.lock")
	r.want("of the worktree", filepath.Join(r.tree, "sub"), effect.LockDead, path)
	r.want("not of the main one", r.main, effect.LockNone, "")
}

// Git closes its lock while somebody edits the message, and keeps it: a git at
// work in the tree is enough. One that works elsewhere is not.
//
// promise: F7
func TestLookAtALockWithoutAHand(t *testing.T) {
	r, other := newLockRig(t), newLockRig(t)
	editing := func(dir string) *exec.Cmd {
		cmd := exec.CommandContext(context.Background(), "git", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty")
		cmd.Dir, cmd.Env = dir, append(os.Environ(), `GIT_EDITOR=sh -c 'echo ready; cat; echo second > "$1"' sh`)
		return cmd
	}
	path := r.lock(r.main, ".git", "index.lock")
	end := other.holds(editing(other.main))
	r.want("a git elsewhere", r.main, effect.LockDead, path)
	end()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	end = r.holds(editing(r.main))
	r.lock(r.main, ".git", "packed-refs.lock")
	r.want("a git here", r.main, effect.LockAlive, ".lock")
	end()
	r.want("it ended", r.main, effect.LockDead, "packed-refs.lock")
}

// What names no directory is no repository, and nothing is read without an end.
func TestLookAtAnOddRepository(t *testing.T) {
	r := newLockRig(t)
	file := filepath.Join(r.tree, ".git")
	for _, text := range []string{"", "gitdir: ", "gitdir: nowhere", "odd", "gitdir: " + strings.Repeat("x", 1<<20)} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		r.want("odd", r.tree, effect.LockNone, "")
	}
	if err := os.WriteFile(file, []byte("gitdir: ../main [1]/.git/worktrees/tree\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	path := r.lock(r.main, ".git", "worktrees", "tree", "index.lock")
	r.want("a relative one", r.tree, effect.LockDead, path)
}
