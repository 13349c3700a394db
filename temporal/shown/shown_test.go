package shown_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/temporal/shown"
)

// TestFiguresAndWhatIsNotShown: both are in the file, under the name of their test.
func TestFiguresAndWhatIsNotShown(t *testing.T) {
	file := filepath.Join(t.TempDir(), "figures")
	t.Setenv(shown.File, file)
	t.Run("measures", func(t *testing.T) { shown.Figure(t, "%d ms\nand more", 3) })
	t.Run("cannot", func(t *testing.T) {
		shown.Not(t, "there is no %s", "moon")
		t.Error("it went on")
	})
	b, err := os.ReadFile(file)
	want := t.Name() + "/measures: 3 ms\n    and more\nnot shown: " + t.Name() + "/cannot: because there is no moon\n"
	if err != nil || string(b) != want {
		t.Errorf("the file has %q (%v), want %q", b, err, want)
	}
}

// TestNothingIsLeftOutInSilence: a test of this module that cannot be made says so with
// Not, which is printed.
func TestNothingIsLeftOutInSilence(t *testing.T) {
	t.Parallel()
	seen := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "deploy" || d.Name() == "devserver"): // modules of their own
			return fs.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		seen++
		b, err := os.ReadFile(path)
		for _, call := range []string{"t.Skip" + "(", "t.Skipf" + "(", "t.SkipNow" + "("} {
			if strings.Contains(string(b), call) {
				t.Errorf("%s: a test is left out with %s…): say it with shown.Not", path, call)
			}
		}
		return err
	})
	if err != nil || seen < 10 {
		t.Errorf("%d files were looked at: %v", seen, err)
	}
}
