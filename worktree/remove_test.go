package worktree

import (
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay"
)

// refused is why a removal was refused.
func refused(t *testing.T, err error) []Reason {
	t.Helper()
	var no *Unsafe
	if !errors.As(err, &no) {
		t.Fatalf("not refused: %v", err)
	}
	return no.Why
}

func TestRemoveWhatIsSafe(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	m := r.create(r.options())
	config := r.read(".git/config")
	for range 2 {
		r.must(Remove(t.Context(), m, false))
	}
	if exists(m.Path) || r.git("branch", "--list", "feat/*") != "" || r.read(".git/config") == config {
		t.Error("something is left")
	}
	if list, err := List(t.Context(), r.dir); err != nil || len(list) != 0 {
		t.Errorf("%+v %v", list, err)
	}
}

// A branch that the user takes stays until its commits have arrived; another local
// branch with the same commits is none that anybody was told of.
func TestResultStays(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	m := r.create(r.options())
	r.in(m.Path).sh("echo x > x; git add x; git commit -qm x; git branch other")
	m.Result = true
	var unsafe *Unsafe
	if err := Remove(t.Context(), m, false); !errors.As(err, &unsafe) || !slices.Equal(unsafe.Why, []Reason{ReasonUnpushed}) {
		t.Fatalf("%v", err)
	}
	r.git("update-ref", "refs/remotes/origin/wip", m.Branch)
	m.Local = true // an agent pushed it: its user was told of the branch here
	if err := Remove(t.Context(), m, false); !errors.As(err, &unsafe) || !slices.Equal(unsafe.Why, []Reason{ReasonUnpushed}) {
		t.Fatalf("%v", err)
	}
	r.git("merge", "-q", "--ff-only", m.Branch)
	r.must(Remove(t.Context(), m, false))
	if exists(m.Path) {
		t.Error("it is still there")
	}
}

// Ignored files are counted, and go only when somebody says so.
func TestRemoveIgnored(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	m := r.create(r.options())
	in := r.in(m.Path)
	in.write("noise.log", "12345")
	in.write("deep/er/noise.log", "123")
	list, err := List(t.Context(), r.dir)
	if err != nil || len(list) != 1 || list[0].Safe || list[0].Ignored != 2 || list[0].IgnoredBytes != 8 {
		t.Fatalf("%+v %v", list, err)
	}
	r.must(Remove(t.Context(), m, false, ReasonIgnored))
	if exists(m.Path) {
		t.Error("it is still there")
	}
}

// A folder that is in no commit is not in a worktree either: nothing is made.
func TestCreateFromUntrackedFolder(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("new/f", "x")
	o := r.options()
	if _, err := Create(t.Context(), filepath.Join(r.dir, "new"), o); err == nil || !strings.Contains(err.Error(), "the directory new is not in commit") {
		t.Errorf("got %v", err)
	}
	if list, err := List(t.Context(), r.dir); err != nil || len(list) != 0 || exists(o.Root) {
		t.Errorf("something was made: %+v %v", list, err)
	}
}

// Each of these holds something that would be lost, or is not ours.
func TestRemoveRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		do     func(r, in rig)
		why    Reason
		forced bool // force removes it all the same
	}{
		{"changed", func(_, in rig) { in.write("a.txt", "x") }, ReasonDirty, true},
		{"untracked", func(_, in rig) { in.write("new", "x") }, ReasonDirty, true},
		{"staged", func(_, in rig) { in.write("new", "x"); in.git("add", "new") }, ReasonDirty, true},
		{"skip-worktree", func(_, in rig) { in.git("update-index", "--skip-worktree", "a.txt"); in.write("a.txt", "x") }, ReasonDirty, true},
		{"assume-unchanged", func(_, in rig) { in.git("update-index", "--assume-unchanged", "a.txt"); in.write("a.txt", "x") }, ReasonDirty, true},
		{"both flags", func(_, in rig) {
			in.git("update-index", "--skip-worktree", "a.txt")
			in.git("update-index", "--assume-unchanged", "a.txt")
			in.write("a.txt", "x")
		}, ReasonDirty, true},
		{"commit", func(_, in rig) { in.commit("mine") }, ReasonUnpushed, true},
		{"commit on no branch", func(_, in rig) { in.git("checkout", "-q", "--detach"); in.commit("mine") }, ReasonUnpushed, true},
		{"commit, folder gone", func(_, in rig) { in.commit("mine"); in.remove(".") }, ReasonUnpushed, true},
		{"ignored", func(_, in rig) { in.write("noise.log", "x") }, ReasonIgnored, true},
		{"locked", func(r, in rig) { r.git("worktree", "lock", in.dir) }, ReasonLocked, true},
		{"mark gone", func(r, _ rig) { r.git("config", "--unset", "branch.feat/x."+ownerKey) }, ReasonForeign, false},
		{"git forgot it", func(r, in rig) { r.remove(".git/worktrees"); in.write("new", "x") }, ReasonForeign, false},
		{"branch is used elsewhere", func(r, in rig) { in.git("checkout", "-q", "--detach"); r.git("checkout", "-q", "feat/x") }, ReasonElsewhere, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			m := r.create(r.options())
			in := r.in(m.Path)
			c.do(r, in)
			there := exists(m.Path)
			if why := refused(t, Remove(t.Context(), m, false)); !slices.Equal(why, []Reason{c.why}) {
				t.Errorf("why %v, want %v", why, c.why)
			}
			if exists(m.Path) != there || r.git("branch", "--list", "feat/x") == "" {
				t.Error("something was removed")
			}
			err := Remove(t.Context(), m, true)
			if !c.forced {
				refused(t, err)
				return
			}
			r.must(err)
			if exists(m.Path) || r.git("branch", "--list", "feat/x") != "" {
				t.Error("something is left")
			}
		})
	}
}

func TestRemoveWhatOthersHaveToo(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(r, in rig){
		"merged": func(r, _ rig) { r.git("merge", "-q", "feat/x") },
		"tag":    func(_, in rig) { in.git("tag", "v1") },
		"pushed": func(r, in rig) {
			remote := r.in(filepath.Join(r.t.TempDir(), "remote"))
			r.git("init", "-q", "--bare", remote.dir)
			r.git("remote", "add", "origin", remote.dir)
			in.git("push", "-q", "origin", "HEAD")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			m := r.create(r.options())
			in := r.in(m.Path)
			in.write("done", "x")
			in.commit("done")
			do(r, in)
			r.must(Remove(t.Context(), m, false))
		})
	}
}

func TestRemoveRefusesWhileSomebodyIsInside(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	m := r.create(r.options())
	r.in(m.Path).mkdir("out")
	cmd := exec.CommandContext(t.Context(), "cat") // lives as long as its stdin
	cmd.Dir = filepath.Join(m.Path, "out")
	in, err := cmd.StdinPipe()
	r.must(err)
	r.must(cmd.Start())
	if why := refused(t, Remove(t.Context(), m, false)); !slices.Equal(why, []Reason{ReasonBusy}) {
		t.Errorf("why %v", why)
	}
	if list, err := List(t.Context(), r.dir); err != nil || len(list) != 1 || !list[0].Busy || list[0].Safe {
		t.Errorf("%+v %v", list, err)
	}
	r.must(in.Close())
	r.must(cmd.Wait())
	r.must(Remove(t.Context(), m, false))
}

func TestList(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.git("branch", "by-hand")
	r.git("worktree", "add", "-q", filepath.Join(t.TempDir(), "by-hand"), "by-hand")
	o := r.options()
	made := map[string]Made{}
	for _, name := range []string{"clean", "dirty", "gone", "pruned"} {
		o.Step, o.Branch = belay.Path(name), "b/"+name
		made[name] = r.create(o)
	}
	r.in(made["dirty"].Path).write("new", "x")
	r.in(made["dirty"].Path).commit("one")
	r.in(made["dirty"].Path).write("newer", "x")
	r.in(made["pruned"].Path).remove(".")
	r.git("worktree", "prune")
	r.in(made["gone"].Path).remove(".")
	r.write("a.txt", "uncommitted")
	p := r.look()
	tree := Tree{Dir: r.dir}
	for i, p := range []string{p.Tree, r.git("rev-parse", "HEAD^{tree}")} {
		kept := r.look()
		kept.Tree = p
		_, err := tree.Snapshot(t.Context(), kept, SnapshotRef("k3f9q/sub.1", "fix", i+1), "m")
		r.must(err)
	}
	list, err := List(t.Context(), r.dir)
	r.must(err)
	want := []Owned{
		{Kind: KindWorktree, Branch: "b/clean", Exists: true, Safe: true},
		{Kind: KindWorktree, Branch: "b/dirty", Exists: true, Dirty: true, Unpushed: 1},
		{Kind: KindWorktree, Branch: "b/gone", Safe: true},
		{Kind: KindBranch, Branch: "b/pruned", Safe: true},
		{Kind: KindSnapshot, Ref: "refs/belay/k3f9q%2Fsub.1/fix.1", Exists: true, Dirty: true},
		{Kind: KindSnapshot, Ref: "refs/belay/k3f9q%2Fsub.1/fix.2", Exists: true, Safe: true},
	}
	if len(list) != len(want) {
		t.Fatalf("%+v", list)
	}
	for i, w := range want {
		g := list[i]
		if g.Kind != w.Kind || g.Branch != w.Branch || g.Ref != w.Ref || g.Exists != w.Exists || g.Dirty != w.Dirty || g.Unpushed != w.Unpushed || g.Safe != w.Safe || g.Safe != (len(g.Why) == 0) {
			t.Errorf("%+v\nwant %+v", g, w)
		}
		if g.Kind != KindSnapshot && (g.Run != "k3f9q" || g.Path != made[g.Branch[2:]].Path) || g.Kind == KindSnapshot && (g.Run != "k3f9q/sub.1" || g.Step != "fix") {
			t.Errorf("owner of %+v", g)
		}
		if g.Kind != KindSnapshot && g.Safe {
			r.must(Remove(t.Context(), g.Made(r.dir), false))
		}
	}
	if out := r.git("branch", "--format=%(refname:short)"); out != "b/dirty\nby-hand\nmain" {
		t.Errorf("branches left: %q", out)
	}
}
