package failpoint

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the list in names.go")

// Every failpoint in the source is on the list and every name on the list is
// in the source, at one place: a name used twice could not be covered by name.
func TestNames(t *testing.T) {
	found := scan(t, filepath.Join("..", ".."))
	if *update {
		rewrite(t, found)
		return
	}
	if !slices.Equal(found, Names()) {
		t.Errorf("names in the source: %q\nnames on the list:   %q\nrun: go test ./internal/failpoint -update", found, Names())
	}
	if twice := len(slices.Compact(slices.Clone(found))) != len(found); twice {
		t.Errorf("a failpoint name is used twice: %q", found)
	}
}

// A Hit whose name is not a plain string would be missing from the list.
func TestHitsAreLiteral(t *testing.T) {
	any := regexp.MustCompile(`failpoint\.Hit\([^"]`)
	walk(t, filepath.Join("..", ".."), func(path string, src []byte) {
		if m := any.Find(src); m != nil {
			t.Errorf("%s: %s: the name of a failpoint must be a plain string", path, m)
		}
	})
}

func TestScanFindsHits(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.go"), "package a\nfunc f() { failpoint.Hit(\"b.two\"); failpoint.Hit(\"a.one\") }\n")
	write(t, filepath.Join(dir, "a_test.go"), "package a\nfunc g() { failpoint.Hit(\"only.test\") }\n")
	if got, want := scan(t, dir), []string{"a.one", "b.two"}; !slices.Equal(got, want) {
		t.Errorf("scan found %q, want %q", got, want)
	}
}

func scan(t *testing.T, root string) []string {
	t.Helper()
	hit := regexp.MustCompile(`failpoint\.Hit\("([^"]+)"\)`)
	var names []string
	walk(t, root, func(_ string, src []byte) {
		for _, m := range hit.FindAllSubmatch(src, -1) {
			names = append(names, string(m[1]))
		}
	})
	slices.Sort(names)
	return names
}

// walk visits the program's own Go files, not its tests and not this package.
func walk(t *testing.T, root string, visit func(path string, src []byte)) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if skipped(d.Name()) && path != root {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		visit(path, src)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func skipped(dir string) bool {
	return dir == "failpoint" || dir == "testdata" || strings.HasPrefix(dir, ".")
}

func rewrite(t *testing.T, names []string) {
	t.Helper()
	src, err := os.ReadFile("names.go")
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(src), "\t\t// list\n")
	_, tail, ok2 := strings.Cut(rest, "\t\t// end\n")
	if !ok || !ok2 {
		t.Fatal("names.go has lost the lines that mark the list")
	}
	var list strings.Builder
	for _, n := range names {
		list.WriteString("\t\t\"" + n + "\",\n")
	}
	write(t, "names.go", head+"\t\t// list\n"+list.String()+"\t\t// end\n"+tail)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
