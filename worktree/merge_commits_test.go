package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestCommitsStayCommits(t *testing.T) {
	t.Parallel()
	const work = "echo one > one; git add one; git commit -qm 'first of the step' --author 'Bot <bot@x>' --date '2020-01-02T03:04:05+0100'; " +
		"echo four >> a.txt; git commit -qam $'second\n\nwith a body'; echo loose > loose"
	for _, c := range []struct {
		name, before, after string
		commits             int
		log                 string // of the run's branch after it, newest first
		sameIDs             bool
	}{
		{"clean and unchanged", "", "", 2, "second,first of the step,first", true},
		{"the run's tree has uncommitted work elsewhere since", "", "echo u >> src/main.go; echo n > n; git add n", 2, "second,first of the step,first", true},
		{"the run's branch went on", "", "echo x > x; git add x; git commit -qm other", 2, "second,first of the step,other,first", false},
		{"a file concerned has uncommitted work", "", "sed -i 1s/^/zero\\\\n/ a.txt", 0, "first", false},
		{"a file concerned is staged", "", "sed -i 1s/^/zero\\\\n/ a.txt; git add a.txt; git show HEAD:a.txt > a.txt", 0, "first", false},
		{"uncommitted work at the base", "echo n > n", "", 0, "first", false},
		{"staged work at the base", "echo n > n; git add n", "", 0, "first", false},
		{"another branch is checked out", "", "git checkout -qb other", 0, "first", false},
		{"the branch was moved back", "git commit -q --allow-empty -m empty", "git reset -q --soft HEAD^", 0, "first", false},
		{"HEAD is detached", "git checkout -q --detach", "", 2, "second,first of the step,first", true},
		{"a commit of it is there already", "", "echo one > one; git add one; git commit -qm mine", 1, "second,mine,first", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPair(t)
			p.sh(c.before)
			s := p.step("s")
			s.sh(work)
			p.sh(c.after)
			staged := p.git("diff", "--cached")
			got := p.merge("s")
			if got.Outcome != OutcomeMerged || len(got.Commits) != c.commits {
				t.Fatalf("merge: %+v", got)
			}
			if log := strings.ReplaceAll(p.git("log", "--format=%s"), "\n", ","); log != c.log {
				t.Errorf("log: %s, want %s", log, c.log)
			}
			if now := p.git("diff", "--cached"); now != staged {
				t.Errorf("staged is\n%s\nwas\n%s", now, staged)
			}
			if p.read("one") != "one\n" || p.read("loose") != "loose\n" || !strings.HasSuffix(p.read("a.txt"), "three\nfour\n") {
				t.Errorf("files: %s", p.files())
			}
			if c.commits > 0 {
				if status, _ := p.try("diff-files", "--name-only"); strings.Contains(status, "a.txt") {
					t.Errorf("a committed file counts as changed: %s", status)
				}
				if same := p.git("rev-parse", "HEAD") == s.git("rev-parse", "HEAD"); same != c.sameIDs {
					t.Errorf("the same commits: %v", same)
				}
			}
			if c.commits == 2 {
				if who := p.git("log", "-1", "--skip=1", "--format=%an %ad %B", "--date=iso"); who != "Bot 2020-01-02 03:04:05 +0100 first of the step\n" {
					t.Errorf("author: %q", who)
				}
				if body := p.git("log", "-1", "--format=%B"); body != "second\n\nwith a body\n" {
					t.Errorf("message: %q", body)
				}
			}
		})
	}
}

// No hook of the repository runs, and no signature is asked for.
func TestMergeRunsNoHooks(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	for _, hook := range []string{"pre-commit", "post-checkout", "post-merge", "reference-transaction", "post-commit", "post-index-change"} {
		p.write(".git/hooks/"+hook, "#!/bin/sh\necho "+hook+" >> "+filepath.Join(filepath.Dir(p.dir), "hooks")+"\n")
		p.must(os.Chmod(p.path(".git/hooks/"+hook), 0o755))
	}
	s := p.step("s")
	p.must(os.RemoveAll(filepath.Join(filepath.Dir(p.dir), "hooks")))
	s.sh("echo x > x; git -c core.hooksPath=/dev/null add x; git -c core.hooksPath=/dev/null commit -qm x")
	p.sh("git -c core.hooksPath=/dev/null commit -q --allow-empty -m other; git config commit.gpgsign true; git config gpg.program false")
	if got := p.merge("s"); len(got.Commits) != 1 {
		t.Fatalf("merge: %+v", got)
	}
	if b, err := os.ReadFile(filepath.Join(filepath.Dir(p.dir), "hooks")); err == nil {
		t.Errorf("hooks ran: %s", b)
	}
}

// Work that goes on in the worktree after a merge is merged from there.
func TestMergeAgainAfterMoreWork(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	s := p.step("s")
	s.sh("sed -i s/two/2/ a.txt; git commit -qam c1")
	p.merge("s")
	p.sh("echo other > other")
	s.sh("sed -i s/2/zwei/ a.txt; git commit -qam c2")
	o := p.order("s")
	o.Key += "/2"
	got, err := Merge(t.Context(), o)
	if err != nil || got.Outcome != OutcomeMerged || len(got.Commits) != 1 || p.read("a.txt") != "one\nzwei\nthree\n" {
		t.Fatalf("merge: %+v, %v: %s", got, err, p.read("a.txt"))
	}
	o.Key += "/3"
	if got, err := Merge(t.Context(), o); err != nil || got.Outcome != OutcomeNothing {
		t.Errorf("merge of nothing: %+v, %v", got, err)
	}
	made := Made{Repo: p.dir, Run: "r1", Step: "s"}
	s.write("more", "more\n")
	var unsafe *Unsafe
	if err := RemoveMerged(t.Context(), made, Tree{}); !errors.As(err, &unsafe) {
		t.Errorf("a worktree with work that is not merged: %v", err)
	}
	s.remove("more")
	s.write("x.log", "ignored\n")
	if err := RemoveMerged(t.Context(), made, Tree{}); err != nil || exists(s.dir) {
		t.Errorf("remove what is merged: %v", err)
	}
	if err := RemoveMerged(t.Context(), made, Tree{}); err != nil {
		t.Errorf("remove it again: %v", err)
	}
}

// A git command that works in the tree is waited for, and not for ever.
func TestMergeWaitsForAnotherGit(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	s := p.step("s")
	s.sh("echo x > x; git add x; git commit -qm x")
	p.write(".git/index.lock", "")
	o := p.order("s")
	o.Wait = 50 * time.Millisecond
	before := p.files()
	var busy *Busy
	if _, err := Merge(t.Context(), o); !errors.As(err, &busy) || busy.Lock != p.path(".git/index.lock") {
		t.Fatalf("merge beside a lock: %v", err)
	}
	if p.files() != before {
		t.Error("files were written")
	}
	p.remove(".git/index.lock")
	if got := p.merge("s"); got.Outcome != OutcomeMerged || len(got.Commits) != 1 {
		t.Errorf("after the lock: %+v", got)
	}
}

func TestMergeOrderIsChecked(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	if _, err := Merge(t.Context(), MergeOrder{Tree: p.dir}); err == nil {
		t.Error("a merge without a key")
	}
	if _, err := Merge(t.Context(), p.order("nobody")); err == nil {
		t.Error("a merge of a step without a worktree")
	}
	_, err := Create(t.Context(), p.dir, Options{Run: "r1", Step: "h", Branch: "belay/h", Root: p.root})
	p.must(err)
	if _, err := Merge(t.Context(), p.order("h")); err == nil {
		t.Error("a merge of a worktree that began at a commit")
	}
}

// A tree of a linked worktree is merged into like the main one.
func TestMergeIntoALinkedWorktree(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	linked := filepath.Join(filepath.Dir(p.dir), "linked")
	p.git("worktree", "add", "-q", "-b", "side", linked)
	q := pair{p.in(linked), p.root}
	q.write("u", "user\n")
	s := q.step("s")
	if s.read("u") != "user\n" {
		t.Error("the worktree does not begin at the files as they are")
	}
	s.write("sub/new", "new\n")
	if got := q.merge("s"); got.Outcome != OutcomeMerged || q.read("sub/new") != "new\n" || exists(p.path("sub")) {
		t.Errorf("merge: %+v", got)
	}
}

// A run that was started in a folder of the tree keeps that folder.
func TestMergeKeepsTheFolderOfTheRun(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	m, err := Create(t.Context(), p.path("src"), Options{Run: "r1", Step: "s", Branch: "belay/s", Root: p.root, From: FromState})
	p.must(err)
	s := p.in(m.Path)
	s.remove("src")
	s.write("b", "b\n")
	o := p.order("s")
	o.Tree = p.path("src")
	if got, err := Merge(t.Context(), o); err != nil || got.Outcome != OutcomeMerged || exists(p.path("src/main.go")) || !exists(p.path("src")) {
		t.Errorf("merge: %+v, %v", got, err)
	}
}

func TestBaseIsTold(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	head := p.git("rev-parse", "HEAD")
	m, err := Create(t.Context(), p.dir, Options{Run: "r1", Step: "a", Branch: "a", Root: p.root, From: FromState})
	want := Base{Tree: p.look().Tree, Commit: head, Head: head, Branch: "main", Clean: true}
	if err != nil || m.Base != want || m.Start != head {
		t.Errorf("clean: %+v, %v", m, err)
	}
	p.write("u", "u\n")
	b, err := Create(t.Context(), p.dir, Options{Run: "r1", Step: "b", Branch: "b", Root: p.root, From: FromState})
	s := p.in(b.Path)
	if err != nil || b.Base.Clean || b.Base.Tree != p.look().Tree || b.Start != head || s.git("rev-parse", "HEAD") != head || s.git("status", "--porcelain") != "?? u" {
		t.Errorf("with work: %+v, %v", b, err)
	}
	p.write("u", "later\n")
	again, err := Create(t.Context(), p.dir, Options{Run: "r1", Step: "b", Branch: "b", Root: p.root, From: FromState})
	if b.New = false; err != nil || again != b {
		t.Errorf("again: %+v, %v", again, err)
	}
}
