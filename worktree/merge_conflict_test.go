package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestConflictChangesNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, setup, user, step, path string }{
		{"the same line", "", "sed -i s/two/user/ a.txt", "sed -i s/two/step/ a.txt", "a.txt"},
		{"deleted here, changed there", "", "rm a.txt", "echo x >> a.txt", "a.txt"},
		{"changed here, deleted there", "", "echo x >> a.txt", "rm a.txt", "a.txt"},
		{"binary", "printf '\\0a' > b; git add b; git commit -qm b", "printf '\\0u' > b", "printf '\\0s' > b", "b"},
		{"made on both sides", "", "echo u > n", "echo s > n", "n"},
		{"file and folder", "", "echo u > n", "mkdir n; echo s > n/n", "n"},
		{"an ignored file is in the way", "", "echo u > x.log", "echo s > x.log; git add -f x.log", "x.log"},
		{"an ignored folder is in the way", "", "mkdir out; echo u > out/x", "echo s > out; git add -f out", "out"},
		{"an ignored file is where a folder would be", "", "echo u > d.log", "mkdir d.log; echo s > d.log/s; git add -f d.log", "d.log/s"},
		{"through a link that leads out", "", "ln -s /tmp lnk", "mkdir lnk; echo s > lnk/s", "lnk"},
		{"a folder became a link", "", "mv src ../src-moved; ln -s ../src-moved src", "echo s > src/new.go", "src"},
		{"a repository inside", "", "", "git init -q in; git -C in commit -q --allow-empty -m x", "in"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPair(t)
			p.sh(c.setup)
			s := p.step("s")
			s.sh(c.step + "; echo more > more")
			p.sh(c.user)
			before, users := p.files(), p.users()
			got := p.merge("s")
			if got.Outcome != OutcomeConflict || len(got.Conflicts) == 0 || got.Conflicts[0].Path != c.path || got.Conflicts[0].Why == "" {
				t.Fatalf("merge: %+v", got)
			}
			if p.files() != before || p.users() != users {
				t.Error("something changed")
			}
			if again := p.merge("s"); again.Outcome != OutcomeConflict { // nothing is remembered of it
				t.Errorf("again: %+v", again)
			}
		})
	}
}

// A conflict that an agent resolves in the worktree merges.
func TestConflictIsResolvedInTheWorktree(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, user, step, half, resolve, path, want string }{
		{"lines", "sed -i s/two/user/ a.txt; echo o > other", "sed -i s/two/step/ a.txt; git commit -qam c", "sed -i /^=======/d a.txt",
			"printf 'one\\nboth\\nthree\\n' > a.txt", "a.txt", "one\nboth\nthree\n"},
		{"lines, with a commit", "sed -i s/two/user/ a.txt", "sed -i s/two/step/ a.txt", "git add -A; git commit -qm half",
			"printf 'one\\nboth\\nthree\\n' > a.txt; git commit -qam resolved", "a.txt", "one\nboth\nthree\n"},
		{"deleted here", "rm a.txt", "echo x >> a.txt", "", "printf 'one\\ntwo\\nthree\\nx\\n' > a.txt; rm a.txt.belay-conflict", "a.txt", "one\ntwo\nthree\nx\n"},
		{"deleted there", "echo x >> a.txt", "rm a.txt", "", "rm a.txt a.txt.belay-conflict", "a.txt", ""},
		{"binary", "printf '\\0u' > b", "printf '\\0s' > b", "printf '\\0both' > b", "rm b.belay-conflict", "b", "\x00both"},
		{"file and folder", "echo u > n", "mkdir n; echo s > n/n", "rm n~*.belay-conflict", "rm n~*", "n/n", "s\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPair(t)
			p.sh("printf '\\0a' > b; git add b; git commit -qm b")
			s := p.step("s")
			s.sh(c.step + "; echo more > more")
			p.sh(c.user)
			before := p.files()
			o := p.order("s")
			if got, err := Merge(t.Context(), o); err != nil || got.Outcome != OutcomeConflict {
				t.Fatalf("merge: %+v, %v", got, err)
			}
			got, err := Conflict(t.Context(), o)
			if err != nil || got.Outcome != OutcomeConflict || len(got.Conflicts) != 1 {
				t.Fatalf("conflict: %+v, %v", got, err)
			}
			if strings.Contains(c.user, "other") && s.read("other") != "o\n" {
				t.Error("what the run's tree has besides is not in the worktree")
			}
			state := s.files()
			if again, err := Conflict(t.Context(), o); err != nil || again.Outcome != OutcomeConflict || s.files() != state {
				t.Errorf("again: %+v, %v", again, err)
			}
			o.Key += "/2"
			for _, step := range []string{"", c.half} { // not resolved, or in part
				s.sh(step)
				if got, err := Merge(t.Context(), o); err != nil || got.Outcome != OutcomeConflict || p.files() != before {
					t.Fatalf("merge of what is not resolved: %+v, %v", got, err)
				}
			}
			s.sh(c.resolve)
			if got, err := Merge(t.Context(), o); err != nil || got.Outcome != OutcomeMerged {
				t.Fatalf("merge of what is resolved: %+v, %v", got, err)
			}
			b, _ := os.ReadFile(p.path(c.path))
			if string(b) != c.want || p.read("more") != "more\n" || strings.Contains(p.files(), "belay-conflict") {
				t.Errorf("%q, want %q; files:\n%s", b, c.want, p.files())
			}
		})
	}
}

// A file that is about marks may keep its own.
func TestMarksThatBelongToAFile(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	const doc = "title\n<<<<<<< yours\na\n=======\nb\n>>>>>>> mine\nend\n"
	p.write("doc", doc)
	s := p.step("s")
	s.write("doc", strings.Replace(doc, "title", "step", 1))
	p.write("doc", strings.Replace(doc, "title", "user", 1))
	o := p.order("s")
	if got, err := Conflict(t.Context(), o); err != nil || len(got.Conflicts) != 1 {
		t.Fatalf("conflict: %+v, %v", got, err)
	}
	o.Key += "/2"
	s.write("doc", strings.Replace(doc, "title", "both", 1)+"<<<<<<< HEAD\n")
	if got, err := Merge(t.Context(), o); err != nil || got.Outcome != OutcomeConflict {
		t.Errorf("with one mark more: %+v, %v", got, err)
	}
	s.write("doc", strings.Replace(doc, "title", "both", 1))
	if got, err := Merge(t.Context(), o); err != nil || got.Outcome != OutcomeMerged || !strings.HasPrefix(p.read("doc"), "both\n<<<<<<< yours") {
		t.Errorf("with its own marks: %+v, %v", got, err)
	}
}

// When the run's tree changes while a conflict is resolved, that is merged too.
func TestTheRunGoesOnWhileAConflictIsResolved(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	s := p.step("s")
	s.sh("sed -i s/two/step/ a.txt")
	p.sh("sed -i s/two/user/ a.txt")
	o := p.order("s")
	_, err := Conflict(t.Context(), o)
	p.must(err)
	s.write("a.txt", "one\nboth\nthree\n")
	p.sh("echo later >> src/main.go")
	o.Key += "/2"
	got, err := Merge(t.Context(), o)
	if err != nil || got.Outcome != OutcomeMerged || p.read("a.txt") != "one\nboth\nthree\n" || !strings.HasSuffix(p.read("src/main.go"), "later\n") {
		t.Errorf("merge: %+v, %v", got, err)
	}
}

// Nothing is put into a worktree that merges.
func TestNoConflictNothingDone(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	s := p.step("s")
	s.write("n", "n\n")
	before := s.files()
	if got, err := Conflict(t.Context(), p.order("s")); err != nil || got.Outcome != OutcomeNothing || s.files() != before {
		t.Errorf("conflict: %+v, %v", got, err)
	}
}

// A file that is too big for a snapshot is in the worktree, and a change of it is
// not lost silently.
func TestBigFiles(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	f, err := os.Create(p.path("big"))
	p.must(err)
	p.must(f.Truncate(maxContent + 1))
	p.must(f.Close())
	s := p.step("s")
	if fi, err := os.Stat(filepath.Join(s.dir, "big")); err != nil || fi.Size() != maxContent+1 {
		t.Fatalf("the big file is not in the worktree: %v", err)
	}
	s.write("n", "n\n")
	if got := p.merge("s"); got.Outcome != OutcomeMerged || !exists(p.path("big")) {
		t.Fatalf("merge: %+v", got)
	}
	s.sh("printf x >> big")
	o := p.order("s")
	o.Key += "/2"
	if got, err := Merge(t.Context(), o); err != nil || got.Outcome != OutcomeConflict || got.Conflicts[0].Path != "big" {
		t.Errorf("merge of a big file: %+v, %v", got, err)
	}
}
