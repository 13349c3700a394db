package main_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	fenced  = regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```$")
	savedAs = regexp.MustCompile("Save this as `([a-z.]+)`")
)

// TestTutorial follows the tutorial word by word: it saves the file, types the
// commands of every sh block in one terminal, and holds what they print against
// the text block that follows, in which … stands for anything.
func TestTutorial(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "tutorial", "first-recipe.md"))
	if err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	name := savedAs.FindSubmatch(page)
	if name == nil {
		t.Fatal("the tutorial does not say under which name the recipe is saved")
	}
	typed, compared, printed := 0, 0, ""
	for _, block := range fenced.FindAllStringSubmatch(string(page), -1) {
		switch kind, body := block[1], block[2]; kind {
		case "yaml":
			if err := os.WriteFile(filepath.Join(work, string(name[1])), []byte(body), 0o600); err != nil {
				t.Fatal(err)
			}
		case "sh":
			printed = typeIn(t, work, body)
			typed++
		case "text":
			if !like(body).MatchString(printed) {
				t.Errorf("the tutorial promises\n%s\nand this was printed:\n%s", body, printed)
			}
			compared++
		default:
			t.Errorf("a block of %q: neither typed nor compared", kind)
		}
	}
	if typed < 8 || compared < 7 {
		t.Errorf("only %d blocks were typed and %d compared", typed, compared)
	}
	if err := errors.Join(checkJournals(work), nothingLeft(work)); err != nil {
		t.Error(err)
	}
}

// typeIn runs a block as one would in a terminal, and gives what it printed on
// stdout. A command that fails is no mistake of the reader.
func typeIn(t *testing.T, dir, block string) string {
	t.Helper()
	cmd := exec.Command("bash", "-c", block)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(),
		"PATH="+filepath.Dir(program)+string(os.PathListSeparator)+os.Getenv("PATH"),
		"HOME="+dir, "BELAY_STATE="+filepath.Join(dir, "state"))
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s: %v", block, err)
	}
	return string(out)
}

// like is the pattern that a text with … stands for. A blank at the end of a
// line does not count.
func like(text string) *regexp.Regexp {
	var lines []string
	for _, l := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		lines = append(lines, strings.ReplaceAll(regexp.QuoteMeta(l), "…", ".*")+" *")
	}
	return regexp.MustCompile("^" + strings.Join(lines, "\n") + "\n$")
}
