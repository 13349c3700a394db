package worktree

import (
	"testing"

	"github.com/belay-run/belay"
)

// differs tells whether the files or the history are others, as a judge sees it.
func differs(e belay.Evidence) bool {
	switch {
	case e.Files > 0 || e.Before.Tree != e.After.Tree:
		return true
	case e.Before.Head != e.After.Head:
		return e.Before.Dirty && !e.After.Dirty
	}
	return len(e.Commits) > 0
}

// play does something in a repository, does more after a first look, and gives
// what is seen of it.
func play(t *testing.T, first, script string) belay.Evidence {
	t.Helper()
	r := oldRig(t)
	if first != "" {
		r.sh(first)
	}
	base := r.settled()
	r.sh(script)
	e := r.since(base)
	if e.Error != "" {
		t.Error(e.Error)
	}
	return e
}

// All files are what they were, whatever became of indexes, settings and
// repositories inside.
//
// promise: H3
func TestSinceNothingOfSubstance(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ first, script string }{
		"empty commit in nested":        {"git init -q n; cd n; echo x > x; git add x; git commit -qm x", "git -C n commit -q --allow-empty -m e"},
		"commit+revert nested":          {"git init -q n; cd n; echo x > x; git add x; git commit -qm x", "cd n; echo y > x; git commit -qam y; git revert --no-edit HEAD"},
		"nested commits its own files":  {"git init -q n; cd n; echo x > x", "cd n; git add x; git commit -qm x"},
		"empty commit nested + outer":   {"git init -q n; cd n; echo x > x; git add x; git commit -qm x", "git -C n commit -q --allow-empty -m e; git commit -q --allow-empty -m e"},
		"empty submodule + bump commit": {"", "git -C lib commit -q --allow-empty -m e; git commit -q -am bump"},
		"git init around untracked":     {"mkdir n; echo x > n/x", "git init -q n"},
		"git init around + commit":      {"mkdir n; echo x > n/x", "git init -q n; cd n; git add -A; git commit -qm x"},
		"git init around tracked":       {"", "git init -q src"},
		"chmod 600":                     {"", "chmod 600 a.txt plain"},
		"touch":                         {"", "touch a.txt plain"},
		"fileMode off":                  {"", "git config core.fileMode false"},
		"autocrlf":                      {"", "git config core.autocrlf true"},
		"autocrlf with crlf file":       {"printf 'a\\r\\nb\\r\\n' > crlf", "git config core.autocrlf input"},
		"attributes info":               {"printf 'a\\r\\nb\\r\\n' > crlf; git add crlf; git commit -qm c", "echo '* text=auto' > .git/info/attributes; git add --renormalize . "},
		"sparse":                        {"", "git sparse-checkout set --no-cone /a.txt"},
		"sparse and back":               {"", "git sparse-checkout set --no-cone /a.txt; git sparse-checkout disable"},
		"flags":                         {"", "git update-index --assume-unchanged a.txt; git update-index --skip-worktree src/main.go"},
		"stash push pop":                {"echo d >> a.txt", "git stash -q -u; git stash pop -q"},
		"reset soft recommit":           {"echo d >> a.txt; git commit -qam d", "git reset -q --soft HEAD~1; git commit -qm again"},
		"rewrite same":                  {"", "cat a.txt > t; mv t a.txt; rm -f t"},
		"case rename back":              {"", "git mv a.txt A.txt; git mv A.txt a.txt"},
		"case only config":              {"", "git config core.ignoreCase true"},
		"rm cached with folder touched": {"", "touch out/y t.log; git rm -q --cached kept.log"},
		"exclude with folder touched":   {"", "touch t.log; echo plain >> .git/info/exclude"},
		"add -f + empty commit":         {"", "git add -f old.log; git commit -q --allow-empty -m e -o; git reset -q"},
		"intent to add":                 {"", "git add -N plain"},
		"precious symlink cfg":          {"ln -s a.txt l; git add l; git commit -qm l", "git config core.symlinks false"},
		"worktree add":                  {"", "git worktree add -q ../w"},
		"worktree inside":               {"", "git worktree add -q inner"},
		"worktree inside detached":      {"", "git worktree add -q --detach inner HEAD"},
		"submodule deinit":              {"", "git submodule deinit -q -f lib"},
		"submodule init":                {"git submodule deinit -q -f lib", "git submodule update -q --init"},
		"submodule detach same":         {"", "git -C lib checkout -q --detach"},
		"clone into ignored":            {"", "git clone -q . out/c"},
		"branch switch same tree":       {"", "git checkout -q -b x; git commit -q --allow-empty -m x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if e := play(t, c.first, c.script); differs(e) {
				t.Errorf("%+v", e)
			}
		})
	}
}

// What looks like the above, and is work.
//
// promise: H3
func TestSinceSomethingOfSubstance(t *testing.T) {
	t.Parallel()
	const nested = "git init -q n; cd n; echo x > x; git add x; git commit -qm x"
	for name, c := range map[string]struct{ first, script string }{
		"file in nested":             {nested, "echo y > n/x"},
		"untracked in nested":        {nested, "echo y > n/y"},
		"commit in nested":           {nested, "echo y > n/y; cd n; git add y; git commit -qm y"},
		"nested checkout":            {"git init -q n; cd n; echo x > x; git add x; git commit -qm x; echo y > x; git commit -qam y", "git -C n checkout -q HEAD~1"},
		"submodule to other tree":    {"cd lib; echo y > l; git commit -qam y; git checkout -q HEAD~1", "git -C lib checkout -q main"},
		"submodule untracked":        {"", "echo n > lib/n"},
		"submodule staged":           {"", "cd lib; echo n > l; git add l"},
		"submodule ignore=all cfg":   {"git config submodule.lib.ignore all", "echo n > lib/l"},
		"nested deep":                {"git init -q n; git init -q n/m; echo x > n/m/x", "echo y > n/m/x"},
		"nested in ignored parent":   {"git init -q n; echo '*' > n/.gitignore; echo x > n/x", "git -C n rm -q --cached x 2>/dev/null || true; rm n/.gitignore; echo y > n/x"},
		"trust ctime off, same size": {"git config core.trustctime false; git config core.checkStat minimal; touch -d 2020-01-01 a.txt; git status >/dev/null", "sed -i s/one/eno/ a.txt; touch -d 2020-01-01 a.txt"},
		"exclude then write":         {"echo secret >> .git/info/exclude", "echo w > secret; sed -i /secret/d .git/info/exclude"},
		"modify + exclude untracked": {"", "echo plain >> .git/info/exclude; echo w > plain"},
		"untrackedCache":             {"git config core.untrackedCache true; git status >/dev/null", "echo w > nn"},
		"showUntracked no":           {"git config status.showUntrackedFiles no", "echo w > nn"},
		"symlink for file":           {"", "mv a.txt out/a.txt; ln -s out/a.txt a.txt"},
		"init around, and more":      {"mkdir n; echo x > n/x", "git init -q n; echo y > n/y"},
		"hidden, and other":          {"", "touch t.log; echo w > plain; git add plain; git commit -qm w; git rm -q --cached plain; echo plain >> .git/info/exclude"},
		"untracked, and other":       {"", "git rm -q --cached kept.log; echo w > kept.log"},
		"untracked, and gone":        {"", "git rm -q kept.log"},
		"untracked, other mode":      {"", "git rm -q --cached kept.log; chmod +x kept.log"},
		"work in a twin inside":      {"", "git worktree add -q inner; echo w > inner/w"},
		"submodule bump":             {"", "cd lib; echo y > l; git commit -qam y; cd ..; git commit -qam bump"},
		"two nested, one worked":     {nested + "; cd ..; cp -r n m", "git -C n commit -q --allow-empty -m e; echo y > m/x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if e := play(t, c.first, c.script); !differs(e) {
				t.Errorf("%+v", e)
			}
		})
	}
}

// What stays: an ignored file is none of the work, whoever made the rule; a mode
// that git is told not to heed is none; and where a folder was touched, nobody can
// tell a file that came with it from one that was there.
//
// promise: H3
func TestSinceKnownLimits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first, script string
		changed       bool
	}{
		"hidden by exclude":     {"", "echo new >> .git/info/exclude; echo w > new", false},
		"mode, not heeded":      {"git config core.fileMode false", "chmod +x a.txt", false},
		"shown, folder touched": {"", "touch t.log; git add -f old.log", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if e := play(t, c.first, c.script); differs(e) != c.changed {
				t.Errorf("%+v", e)
			}
		})
	}
}
