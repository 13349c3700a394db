package worktree

import (
	"strings"
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/branchname"
)

// promise: B1, B2, B3, B4, B5, B7
func TestBranch(t *testing.T) {
	t.Parallel()
	const run = belay.RunID("k3f9q")
	for _, c := range []struct {
		name, text, prefix string
		issue              int
		want               string
	}{
		{"plain", "Fix login bug", "feat", 12, "feat/issue-12-fix-login-bug"},
		{"newline", "Fix authentication bug\nThis affects oauth", "feat", 1, "feat/issue-1-fix-authentication-bug-this-affects-oauth"},
		{"case", "Add User Authentication", "feat", 1, "feat/issue-1-add-user-authentication"},
		{"special characters", "fix: auth/login (oauth2)", "fix", 1, "fix/issue-1-fix-auth-login-oauth2"},
		{"underscores stay", "fix_login_bug", "feat", 1, "feat/issue-1-fix_login_bug"},
		{"dots stay", "bump version 1.2.3", "feat", 1, "feat/issue-1-bump-version-1.2.3"},
		{"cut", strings.Repeat("a", 120), "feat", 1, "feat/issue-1-" + strings.Repeat("a", 60)},
		{"cut at a hyphen", strings.Repeat("a", 59) + " b", "feat", 1, "feat/issue-1-" + strings.Repeat("a", 59)},
		{"nothing left", "!@#$%^&*()", "feat", 12, "feat/issue-12-task"},
		{"empty", "", "feat", 12, "feat/issue-12-task"},
		{"blanks", " \n\t ", "feat", 12, "feat/issue-12-task"},
		{"trailing characters", "end. -- ...", "feat", 1, "feat/issue-1-end"},
		{"two dots", "a..b", "feat", 1, "feat/issue-1-task"},
		{"lock", "the file.lock", "feat", 1, "feat/issue-1-task"},
		{"at brace", "go to @{upstream}", "feat", 1, "feat/issue-1-go-to-upstream"},
		{"leading hyphen", "-rf everything", "feat", 0, "feat/-rf-everything"},
		{"leading dot", ".hidden", "feat", 0, "feat/task-k3f9q"},
		{"leading dot with an issue", ".hidden", "feat", 3, "feat/issue-3-.hidden"},
		{"control characters", "a\x00b\x07c\x7fd", "feat", 1, "feat/issue-1-a-b-c-d"},
		{"carriage return", "a\r\nb", "feat", 1, "feat/issue-1-a-b"},
		{"emoji", "🚀 ship it 🚀", "feat", 1, "feat/issue-1--ship-it"},
		{"another script", "исправить ошибку", "feat", 0, "feat/task-k3f9q"},
		{"no text at all", "\xff\xfe", "feat", 0, "feat/task-k3f9q"},
		{"no issue", "Fix login bug", "feat", 0, "feat/fix-login-bug"},
		{"negative issue", "Fix", "feat", -4, "feat/fix"},
		{"prefix is cleaned", "Fix", "My Team/feat", 2, "my-team-feat/issue-2-fix"},
		{"no prefix", "Fix", "", 2, "feat/issue-2-fix"},
		{"bad prefix", "Fix", "..", 2, "feat/issue-2-fix"},
		{"prefix like a flag", "Fix", "--force", 2, "feat/issue-2-fix"},
		{"shell", "$(rm -rf /); `id` && true", "feat", 1, "feat/issue-1--rm-rf-id-true"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := Branch(c.text, c.prefix, c.issue, run)
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
			if err := checkBranch(t.Context(), git{dir: t.TempDir()}, got); err != nil {
				t.Error(err)
			}
			if checked := CheckedBranch(t.Context(), "", c.text, c.prefix, c.issue, run); checked != got {
				t.Errorf("checked: %q", checked)
			}
		})
	}
}

// A run's id may be anything too.
func TestBranchOfAChildRun(t *testing.T) {
	t.Parallel()
	for run, want := range map[belay.RunID]string{
		"k3f9q/build.2": "feat/task-k3f9q-build.2", "": "feat/task", "..": "feat/task", "a..b": "feat/task", "x.lock": "feat/task",
	} {
		if got := Branch("", "feat", 0, run); got != want {
			t.Errorf("%q: %q, want %q", run, got, want)
		}
	}
}

// A git that refuses a name that this room takes for sound has the last word.
func TestCheckedBranchFallsBack(t *testing.T) {
	t.Parallel()
	no := script(t, "exit 128")
	if got := CheckedBranch(t.Context(), no, "Fix", "feat", 7, "r"); got != "feat/issue-7-task" {
		t.Errorf("refused: %q", got)
	}
	if got := CheckedBranch(t.Context(), "/no/such/git", "Fix", "feat", 7, "r"); got != "feat/issue-7-fix" {
		t.Errorf("without git: %q", got)
	}
}

func FuzzBranch(f *testing.F) {
	for _, s := range []string{"Fix login bug", "a..b", ".lock", "@{-1}", "-x", "a\nb", "\xff", "é.", "x.LOCK", "HEAD"} {
		f.Add(s, "feat", 1, "k3f9q")
		f.Add(s, s, 0, s)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text, prefix string, issue int, run string) {
		name := Branch(text, prefix, issue, belay.RunID(run))
		if err := checkBranch(t.Context(), git{dir: dir}, name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
		if len(branchname.Slug(text)) > branchname.MaxSlug {
			t.Errorf("slug of %d", len(branchname.Slug(text)))
		}
	})
}
