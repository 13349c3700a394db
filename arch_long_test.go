package belay_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestLongOnesAreNamedSo holds that make long finds every test that go test leaves
// out: it goes by the name.
func TestLongOnesAreNamedSo(t *testing.T) {
	t.Parallel()
	function := regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\) \{\n((?:\t.*\n|\n)*?)\}`)
	long := 0
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, found := range function.FindAllStringSubmatch(string(text), -1) {
			if !strings.Contains(found[2], "\tscratch.Long(t)\n") {
				continue
			}
			long++
			if !strings.HasPrefix(found[1], "TestLong") {
				t.Errorf("%s: %s calls scratch.Long, so its name begins with TestLong", path, found[1])
			}
		}
		return err
	})
	if err != nil || long == 0 {
		t.Fatalf("%d long tests found: %v", long, err)
	}
}
