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

// TestTutorials follows every tutorial word by word, one after the other in one state
// directory: it saves the files, types the commands of every sh block in one terminal,
// and holds what they print against the text block that follows, in which … stands for
// anything.
func TestTutorials(t *testing.T) {
	t.Parallel()
	r := newReader(t)
	for _, page := range tutorials(t) {
		followTutorial(t, r, page)
	}
	if err := errors.Join(checkJournals(r.home), nothingLeft(r.home)); err != nil {
		t.Error(err)
	}
}

func followTutorial(t *testing.T, r *reader, file string) {
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
			printed = r.typeIn(t, work, body)
			typed++
		case "text":
			if !like(body).MatchString(printed) {
				t.Errorf("%s promises\n%s\nand this was printed:\n%s", file, body, printed)
			}
			compared++
		default:
			t.Errorf("a block of %q: neither typed nor compared", kind)
		}
	}
	if typed < 8 || compared < 7 || len(names) > 0 {
		t.Errorf("%s: only %d blocks were typed and %d compared", file, typed, compared)
	}
}

// aMoment is how long a reader waits before pulling the plug, and untilItSleeps
// the same on a machine that is too busy for a second to be enough.
const (
	aMoment       = "sleep 1\nkill "
	untilItSleeps = "for i in {1..1000}; do grep -qsr 'this takes' ~/.local/state/belay/runs/two/logs && break; sleep 0.05; done\nkill "
)

// typeIn runs a block as one would in a terminal, and gives what it printed on
// stdout. A command that fails is no mistake of the reader.
func (r *reader) typeIn(t *testing.T, dir, block string) string {
	t.Helper()
	cmd := exec.Command("bash", "-c", strings.Replace(block, aMoment, untilItSleeps, 1))
	cmd.Dir = dir
	cmd.Env = r.environ()
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
