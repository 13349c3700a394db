package main_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestCorpus walks recipes of every shape that people write. The first line of
// each says what is expected:
//
//	# corpus: run CODE [FLAG…]    valid, and a run ends with the code
//	# corpus: agent [FLAG…]       valid, and a run is refused: it has agent steps
//	# corpus: refused [FLAG…]     not valid
//
// promise: L
func TestCorpus(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "corpus", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 25 {
		t.Fatalf("only %d recipes found: the test looks at too little", len(files))
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			t.Parallel()
			corpusFile(t, file)
		})
	}
}

func corpusFile(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	rest, ok := strings.CutPrefix(first, "# corpus: ")
	words := strings.Fields(rest)
	if !ok || len(words) == 0 {
		t.Fatalf("the first line does not say what is expected: %q", first)
	}
	if file, err = filepath.Abs(file); err != nil {
		t.Fatal(err)
	}
	p, flags := newPlace(t), words[1:]
	switch words[0] {
	case "refused":
		p.belay(65, append([]string{"validate", file}, flags...)...)
		p.says(filepath.Base(file) + ":")
	case "agent":
		p.belay(0, append([]string{"validate", file}, flags...)...)
		p.start(65, file, flags...)
		p.says("agent steps are not supported")
	case "run":
		code, err := strconv.Atoi(words[1])
		if err != nil {
			t.Fatal(err)
		}
		p.belay(0, append([]string{"validate", file}, compatOf(flags)...)...)
		p.start(code, file, flags[1:]...)
	default:
		t.Fatalf("unknown expectation %q", words[0])
	}
}

// compatOf is the part of the flags of a run that validate knows too.
func compatOf(flags []string) []string {
	for _, f := range flags {
		if f == "--compat" {
			return []string{f}
		}
	}
	return nil
}
