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

// TestTutorials follows every tutorial word by word: it saves the files, types
// the commands of every sh block in one terminal, and holds what they print
// against the text block that follows, in which … stands for anything.
func TestTutorials(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob(filepath.Join("..", "..", "docs", "tutorial", "*.md"))
	if err != nil || len(pages) < 2 {
		t.Fatalf("%d tutorials: %v", len(pages), err)
	}
	for _, page := range pages {
		t.Run(strings.TrimSuffix(filepath.Base(page), ".md"), func(t *testing.T) {
			t.Parallel()
			followTutorial(t, page)
		})
	}
}

func followTutorial(t *testing.T, file string) {
	t.Helper()
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	names := savedAs.FindAllStringSubmatch(string(page), -1)
	typed, compared, printed := 0, 0, ""
	for _, block := range fenced.FindAllStringSubmatch(string(page), -1) {
		switch kind, body := block[1], block[2]; kind {
		case "yaml":
			if len(names) == 0 {
				t.Fatal("the tutorial does not say under which name a file is saved")
			}
			if err := os.WriteFile(filepath.Join(work, names[0][1]), []byte(body), 0o600); err != nil {
				t.Fatal(err)
			}
			names = names[1:]
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
	if typed < 8 || compared < 7 || len(names) > 0 {
		t.Errorf("only %d blocks were typed and %d compared", typed, compared)
	}
	if err := errors.Join(checkJournals(work), nothingLeft(work)); err != nil {
		t.Error(err)
	}
}

// aMoment is how long a reader waits before pulling the plug, and untilItSleeps
// the same on a machine that is too busy for a second to be enough.
const (
	aMoment       = "sleep 1\nkill "
	untilItSleeps = "for i in {1..1000}; do grep -qsr 'this takes' state/runs/two/logs && break; sleep 0.05; done\nkill "
)

// typeIn runs a block as one would in a terminal, and gives what it printed on
// stdout. A command that fails is no mistake of the reader.
func typeIn(t *testing.T, dir, block string) string {
	t.Helper()
	cmd := exec.Command("bash", "-c", strings.Replace(block, aMoment, untilItSleeps, 1))
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
