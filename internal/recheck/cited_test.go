package recheck

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// promise: S8
func TestCited(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	dir := filepath.Join(top, "repo")
	if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{"repo/a": "one\ntwo three\nlast", "outside": "one\n"} {
		if err := os.WriteFile(filepath.Join(top, path), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../outside", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		path   string
		line   int
		quote  string
		passed bool
		ran    bool
		why    string
	}{
		{"a", 2, "three", true, true, "has the quote"},
		{"a", 3, "last", true, true, "has the quote"},
		{"a", 1, "three", false, true, "another text"},
		{"a", 4, "last", false, true, "no line 4"},
		{"b", 1, "x", false, true, "gone"},
		{"sub", 1, "x", false, true, "no file"},
		{"../outside", 1, "one", false, true, "no place"},
		{"link", 1, "one", false, false, ""},
		{"a", 0, "one", false, true, "no place"},
		{"a", 1, "", false, true, "no place"},
	} {
		got := Cited(dir, tt.path, tt.line, tt.quote)
		if got.Passed != tt.passed || got.Ran != tt.ran || !strings.Contains(got.Text, tt.why) {
			t.Errorf("%s:%d %q: %+v", tt.path, tt.line, tt.quote, got)
		}
	}
}
