package worktree

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestChangedTests(t *testing.T) {
	t.Parallel()
	old, gone := changedTests(strings.Split("M\x00a.go\x00M\x00a_test.go\x00D\x00tests/b.py\x00T\x00spec/c.rb\x00"+
		"R100\x00d_test.go\x00e_test.go\x00R080\x00f_test.go\x00g_test.go\x00R100\x00h_test.go\x00h.txt\x00R090\x00x.go\x00x_test.go", "\x00"))
	if want := []string{"a_test.go", "tests/b.py", "spec/c.rb", "d_test.go", "f_test.go", "h_test.go"}; !slices.Equal(old, want) {
		t.Errorf("old %q, want %q", old, want)
	}
	if want := []string{"e_test.go", "g_test.go"}; !slices.Equal(gone, want) {
		t.Errorf("gone %q, want %q", gone, want)
	}
	for _, torn := range []string{"", "M", "R080\x00f_test.go"} {
		changedTests(strings.Split(torn, "\x00"))
	}
}

func TestOldTestsAreBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		out, err := git{dir: dir}.run(t.Context(), append([]string{"-c", "user.name=a", "-c", "user.email=a@example.org"}, args...)...)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(out)
	}
	put := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, path), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	git("init", "-q", "-b", "main")
	long := strings.Repeat("a line of a test that is long enough\n", 20)
	put("a_test.go", "old\n")
	put(":b_test.go", "old\n")
	put("c_test.go", long)
	put("main.go", "old\n")
	git("add", "-A")
	git("commit", "-q", "-m", "one")
	base := git("rev-parse", "HEAD^{tree}")
	put("a_test.go", "new\n")
	put("main.go", "new\n")
	put("d_test.go", "new\n")
	put("e_test.go", long+"and one more\n")
	git("rm", "-q", "--", ":(literal):b_test.go", "c_test.go")
	git("add", "-A")
	git("commit", "-q", "-m", "two")
	copied, err := ThrowawayOf(t.Context(), dir, "HEAD", base, filepath.Join(t.TempDir(), "copy"))
	if err != nil {
		t.Fatal(err)
	}
	defer copied.Remove()
	files, err := copied.OldTests(t.Context(), base, nil)
	if err != nil || !slices.Equal(slices.Sorted(slices.Values(files)), []string{":b_test.go", "a_test.go", "c_test.go"}) {
		t.Fatalf("%q, %v", files, err)
	}
	for path, want := range map[string]string{"a_test.go": "old\n", ":b_test.go": "old\n", "c_test.go": long, "main.go": "new\n", "d_test.go": "new\n", "e_test.go": ""} {
		got, _ := os.ReadFile(filepath.Join(copied.Dir, path)) // one that is gone is empty
		if string(got) != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}
