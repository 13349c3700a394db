package worktree

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay"
)

// An agent's own records are laid over what really changed: only what they name
// as written, in the way in which it changed, is credited to it.
//
// promise: H3
func TestDoingsNameChanges(t *testing.T) {
	t.Parallel()
	bash := func(command string) belay.ToolCall { return belay.ToolCall{Name: "Bash", Command: command} }
	for name, c := range map[string]struct {
		change string // a script: what really changed
		calls  []belay.ToolCall
		want   string // the files that are named
	}{
		"by path":                     {"echo x >a.txt", []belay.ToolCall{{Name: "Write", Path: "TOP/a.txt"}}, "a.txt"},
		"by path from here":           {"echo x >a.txt", []belay.ToolCall{{Name: "Write", Path: "a.txt"}}, "a.txt"},
		"another file":                {"echo x >a.txt", []belay.ToolCall{{Name: "Write", Path: "TOP/b.txt"}}, ""},
		"the same name elsewhere":     {"echo x >a.txt", []belay.ToolCall{bash("echo x >/tmp/a.txt"), bash("cd /tmp && echo x >a.txt")}, ""},
		"a redirect":                  {"echo x >sub/a.txt", []belay.ToolCall{bash("echo x > sub/a.txt")}, "sub/a.txt"},
		"a shell that stood below":    {"echo x >sub/a.txt", []belay.ToolCall{bash("cd sub"), bash("echo x > a.txt")}, "sub/a.txt"},
		"a heredoc":                   {"echo x >a.txt", []belay.ToolCall{bash("cat >a.txt <<EOF\nx\nEOF")}, "a.txt"},
		"a heredoc for a program":     {"echo x >a.txt", []belay.ToolCall{bash("python3 - <<'EOF'\nopen(\"a.txt\", \"w\")\nEOF")}, "a.txt"},
		"a variable":                  {"echo x >a.txt", []belay.ToolCall{bash(`echo x > "$HERE/a.txt"`)}, ""},
		"a place for a moment":        {"echo x >a.txt", []belay.ToolCall{bash(`echo x > "$TMPDIR/a.txt"`), bash("d=$(mktemp -d); echo x > $d/a.txt")}, ""},
		"a shell nobody knows where":  {"echo x >a.txt", []belay.ToolCall{bash("cd $(mktemp -d) && echo x > a.txt")}, ""},
		"the same, with a folder":     {"echo x >sub/a.txt", []belay.ToolCall{bash("cd $HERE && echo x > sub/a.txt")}, ""},
		"a program that reads":        {"echo x >sub/a.txt", []belay.ToolCall{bash(`python3 -c 'open("sub/a.txt").read()'`), bash(`python3 -c 'print("a.txt")'`)}, ""},
		"a pattern":                   {"echo x >sub/a.txt; echo y >sub/b.md", []belay.ToolCall{bash("sed -i s/x/y/ sub/*.txt")}, "sub/a.txt"},
		"a look":                      {"echo x >a.txt", []belay.ToolCall{bash("cat a.txt"), {Name: "Read", Path: "TOP/a.txt"}}, ""},
		"a no-op":                     {"echo x >a.txt", []belay.ToolCall{bash("true")}, ""},
		"the whole tree":              {"echo x >a.txt", []belay.ToolCall{bash("gofmt -w ."), bash("rm -rf . || true")}, ""},
		"deleted":                     {"rm old.txt", []belay.ToolCall{bash("rm old.txt")}, "old.txt"},
		"removed, and it is there":    {"echo x >old.txt", []belay.ToolCall{bash("rm -f old.txt")}, ""},
		"a folder that is gone":       {"rm -r dir", []belay.ToolCall{bash("rm -rf dir")}, "dir/x.txt"},
		"touched, and it was there":   {"echo x >old.txt", []belay.ToolCall{bash("touch old.txt")}, ""},
		"touched, and it was not":     {": >new.txt", []belay.ToolCall{bash("touch new.txt")}, "new.txt"},
		"moved":                       {"git mv old.txt new.txt", []belay.ToolCall{bash("git mv old.txt new.txt")}, "new.txt"},
		"moved into a folder":         {"mv old.txt sub/", []belay.ToolCall{bash("mv old.txt sub/")}, "sub/old.txt"},
		"copied":                      {"cp -r dir sub", []belay.ToolCall{bash("cp -r dir sub")}, "sub/dir/x.txt"},
		"failed":                      {"echo x >a.txt", []belay.ToolCall{{Name: "Bash", Command: "sed -i s/a/b/ a.txt", Failed: true}}, ""},
		"denied":                      {"echo x >a.txt", []belay.ToolCall{{Name: "Write", Path: "TOP/a.txt", Denied: true}}, ""},
		"a name that is not a letter": {"echo x >'ä b.txt'", []belay.ToolCall{bash("echo x > 'ä b.txt'")}, "ä b.txt"},
		"mode":                        {"chmod +x old.txt", []belay.ToolCall{bash("chmod +x old.txt")}, "old.txt"},
		"mode, and it is the same":    {"echo x >old.txt", []belay.ToolCall{bash("chmod 644 old.txt"), bash("chmod 644 *.txt")}, ""},
		"not copied over":             {"echo x >old.txt", []belay.ToolCall{bash("cp -n a.txt old.txt")}, ""},
		"a script of its own":         {"echo x >a.txt", []belay.ToolCall{bash("cat >/o/e.py <<E\nopen('a.txt','w')\nE"), bash("python3 /o/e.py")}, "a.txt"},
		"a script that was not run":   {"echo x >a.txt", []belay.ToolCall{bash("cat >/o/e.py <<E\nopen('a.txt','w')\nE"), bash("cat /o/e.py")}, ""},
		"a patch":                     {"echo x >sub/a.txt", []belay.ToolCall{bash("git apply <<E\n--- /dev/null\n+++ b/sub/a.txt\nE")}, "sub/a.txt"},
		"a patch that speaks of it":   {"echo x >a.txt", []belay.ToolCall{bash("git apply <<E\n+++ b/b.txt\n+see a.txt\nE")}, ""},
		"a program elsewhere":         {"echo x >a.txt", []belay.ToolCall{bash("cd /o && python3 -c \"open('a.txt','w')\""), bash("cd $X && python3 -c \"open('a.txt','w')\"")}, ""},
		"under way":                   {"echo x >a.txt", []belay.ToolCall{{Name: "Bash", Command: "make && echo x >a.txt", Open: true}}, ""},
		"the end of a chain":          {"echo x >a.txt", []belay.ToolCall{bash("make && echo x >a.txt")}, "a.txt"},
		"the end of one that failed":  {"echo x >a.txt", []belay.ToolCall{{Name: "Bash", Command: "make && echo x >a.txt", Failed: true}}, ""},
		"one of two":                  {"echo x >a.txt; echo y >b.txt", []belay.ToolCall{{Name: "Write", Path: "TOP/b.txt"}}, "b.txt"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.sh("mkdir -p sub dir; echo 1 >old.txt; echo 2 >dir/x.txt; echo 3 >sub/keep.txt; true")
			r.commit("more")
			base := r.look()
			r.sh(c.change)
			var d Doings
			for _, call := range c.calls {
				call.Path = strings.Replace(call.Path, "TOP", r.dir, 1)
				d.Take(call)
			}
			e := Tree{Dir: r.dir}.SinceBy(t.Context(), base, r.look(), nil, &d)
			if got := strings.Join(e.Own.Named, " "); got != c.want || !e.Own.Told {
				t.Errorf("named %q, want %q: %+v of %+v", got, c.want, e.Own, e.Changed)
			}
		})
	}
}

// Outside of a repository there is no list of changes: what was named must be
// there.
//
// promise: H3
func TestDoingsInAPlainFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	base := Tree{Dir: dir}.Print(t.Context())
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	var d Doings
	d.Take(belay.ToolCall{Name: "Write", Path: filepath.Join(dir, "a.txt")})
	d.Take(belay.ToolCall{Name: "Write", Path: filepath.Join(dir, "b.txt")})
	e := Tree{Dir: dir}.SinceBy(t.Context(), base, Tree{Dir: dir}.Print(t.Context()), nil, &d)
	if !slices.Equal(e.Own.Named, []string{"a.txt"}) {
		t.Errorf("named %q", e.Own.Named)
	}
}

// Commits are credited to who ran a command that makes them, and to nobody else.
//
// promise: H3
func TestDoingsCommits(t *testing.T) {
	t.Parallel()
	one := 1
	r := newRig(t)
	r.sh("mkdir -p sub")
	made := func(call belay.ToolCall) bool {
		var d Doings
		d.Take(call)
		return len(d.committed(r.dir, r.dir)) > 0
	}
	for command, want := range map[string]bool{
		"git commit -qam fix": true, "git add -A && git commit -m x": true, "git -c a=b cherry-pick abc": true, "git revert HEAD": true, "git commit -n -m x": true,
		"git commit --allow-empty -m x": false, "git commit -m x || true": false, "git status": false, "echo git commit": false,
		"git merge --abort": false, "git commit --amend --no-edit": false, "git commit --dry-run": false, "git cherry-pick -n abc": false, "git am --skip": false,
		// what ends well where there is nothing to do
		"git merge topic": false, "git merge HEAD": false, "git pull": false, "git rebase HEAD": false,
		// where it stands
		"cd sub && git commit -m x": true, "cd TOP && git commit -m x": true, "git -C TOP commit -m x": true, "git -C sub commit -m x": true,
		"cd \"$(git rev-parse --show-toplevel)\" && git commit -m x": true,
		"git -C /elsewhere commit -m x":                              false, "cd /tmp/other && git commit -m x": false, "cd .. && git commit -m x": false,
		"cd $X && git commit -m x": false, "git --git-dir=/x commit -m x": false, "git --work-tree /x commit -m x": false, "GIT_DIR=/x git commit -m x": false,
		"(cd /tmp/other && ls) && git commit -m x": true,
	} {
		command = strings.ReplaceAll(command, "TOP", r.dir)
		if got := made(belay.ToolCall{Name: "Bash", Command: command}); got != want {
			t.Errorf("%q: %v", command, got)
		}
		if made(belay.ToolCall{Name: "Bash", Command: command, Exit: &one, Failed: true}) {
			t.Errorf("%q that failed made a commit", command)
		}
	}
}

// A commit that may have been taken back is nobody's proof; one that was made
// after that is.
//
// promise: H3
func TestDoingsCommitsTakenBack(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for commands, want := range map[string]bool{
		"git commit -qam a|git reset --hard HEAD~1":                   false,
		"git commit -qam a|git reset -q HEAD^":                        false,
		"git commit -qam a|git reset --hard origin/main":              false,
		"git commit -qam a && git reset --hard HEAD~1":                false,
		"git commit -qam a|git revert --no-edit HEAD":                 false,
		"git commit -qam a; git revert --no-edit HEAD":                false,
		"git revert --no-edit abc|git revert --no-edit HEAD":          false,
		"git commit -qam a|git checkout -q main && git branch -qD f":  false,
		"git commit -qam a|git branch -f f main":                      false,
		"git commit -qam a|git checkout -B main origin/main":          false,
		"git commit -qam a|git switch -C main origin/main":            false,
		"git commit -qam a|git update-ref refs/heads/main abc":        false,
		"git commit -qam a|echo HEAD~1 | xargs git reset --hard":      false,
		"git commit -qam a|git reset --soft HEAD~1|git commit -qam b": true,
		"git commit -qam a|git reset --hard":                          true, // of what is not committed
		"git commit -qam a|git reset -q -- a.txt":                     true,
		"git commit -qam a|git reset a.txt":                           true,
		"git commit -qam a|git reset HEAD a.txt":                      true,
		"git commit -qam a|git branch -d merged":                      true, // refuses what nothing else leads to
		"git commit -qam a|git branch f":                              true,
		"git commit -qam a|git checkout -q main":                      true,
		"git revert --no-edit abc":                                    true,
	} {
		var d Doings
		for command := range strings.SplitSeq(strings.ReplaceAll(commands, " | ", " \x00 "), "|") {
			d.Take(belay.ToolCall{Name: "Bash", Command: strings.ReplaceAll(command, "\x00", "|")})
		}
		if got := len(d.committed(r.dir, r.dir)) > 0; got != want {
			t.Errorf("%s: %v, want %v", commands, got, want)
		}
	}
}

// Above a limit the same names are taken each time.
func TestDoingsTakeTheSameNames(t *testing.T) {
	t.Parallel()
	var d Doings
	for i := range 5 * maxGlobs {
		d.Take(belay.ToolCall{Name: "Bash", Command: fmt.Sprintf("sed -i s/a/b/ d%04d/*.go", i)})
	}
	first := d.place("/t", "/t").globs
	if len(first) != maxGlobs || first[0].pattern != "d0000/*.go" {
		t.Fatalf("%d patterns, from %s", len(first), first[0].pattern)
	}
	for range 3 {
		if again := d.place("/t", "/t").globs; !slices.Equal(first, again) {
			t.Fatalf("other patterns: %v", again)
		}
	}
}

// However much an agent does, what is remembered of it has a limit.
func TestDoingsAreBounded(t *testing.T) {
	t.Parallel()
	var d Doings
	for i := range maxHeld + 100 {
		d.Take(belay.ToolCall{Name: "Write", Path: filepath.Join("/x", string(rune('a'+i%26)), strings.Repeat("y", i%300), string(rune(0x4e00+i)))})
	}
	var b strings.Builder
	for i := range maxWords + 100 {
		b.WriteString("w" + string(rune(0x4e00+i%20000)) + string(rune('a'+i/20000)) + " ")
	}
	d.mark(b.String(), "")
	if len(d.names) != maxHeld || len(d.words) != maxWords {
		t.Errorf("%d names and %d words are kept", len(d.names), len(d.words))
	}
}

// What is done to files that git ignores does not show in the tree: it may be
// anything.
//
// promise: H3
func TestDoingsOutOfSight(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("out/report", "x")
	base := r.look()
	for command, want := range map[string]bool{
		"echo x > out/report": true, "echo x > a.log": false /* it is not there */, "echo x > /tmp/x": true, "echo x > ~/x": true, "gh issue create": true,
		"sed -i s/nothing/x/ a.txt": false, "cat a.txt": false, "go test ./...": false, "echo x > /dev/null": false,
	} {
		var d Doings
		d.Take(belay.ToolCall{Name: "Bash", Command: command})
		if e := (Tree{Dir: r.dir}).SinceBy(t.Context(), base, r.look(), nil, &d); e.Own.Afar != want {
			t.Errorf("%q: %+v", command, e.Own)
		}
	}
}

// No path is longer than the longest that a system takes: what is longer is not
// remembered, nor is the command that a short one stands in.
func TestDoingsKeepShortNames(t *testing.T) {
	t.Parallel()
	var d Doings
	long := strings.Repeat("x/", 30_000)
	for i := range 20 {
		for _, command := range []string{
			"echo x > %[2]d/%[1]s", "cd %[1]s%[2]d && echo x > a.txt", "cd %[1]s%[2]d && git commit -m x", "cd %[1]s%[2]d && python3 -c \"open('a.txt','w')\"",
			"cat > %[1]s%[2]d <<E\nx\nE",
		} {
			d.Take(belay.ToolCall{Name: "Bash", Command: fmt.Sprintf(command, long, i)})
		}
		d.Take(belay.ToolCall{Name: "Write", Path: fmt.Sprint(long, i)})
	}
	d.Take(belay.ToolCall{Name: "Bash", Command: "echo x > short"})
	if len(d.names) != 1 || len(d.words) > 0 || len(d.commits) > 0 || len(d.kept.by) != 1 {
		t.Errorf("%d names, %d words, %d places of commits and %d texts are kept", len(d.names), len(d.words), len(d.commits), len(d.kept.by))
	}
}
