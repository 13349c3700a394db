package belay_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Every case of the page about the watch is shown by a test that is there, with the
// words that the page names.
func TestWatchCasesAreShown(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("docs/reference/watch.md")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"M04", "M05", "M06", "M07", "M08", "M09", "M12",
		"S01", "S02", "S05", "S06", "S07", "S08", "S09", "S10", "S11", "S12", "S16", "S17", "S18", "S19", "S20",
		"R01", "R03", "R04", "R05", "R06", "R07", "R08", "R09", "R10", "R11", "R12",
		"P01", "P02", "P05", "P08", "P10", "P13", "P14", "P15", "P16", "P19", "P20", "P21", "P23", "P24", "P25", "P26",
	}
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(line, "|")
		if len(cells) != 6 || !strings.HasPrefix(cells[4], " script ") && !strings.Contains(cells[4], " Test") {
			continue
		}
		i := slices.Index(want, strings.TrimSpace(cells[1]))
		if i < 0 {
			t.Errorf("no such case: %s", line)
			continue
		}
		for _, by := range strings.Split(cells[4], "<br>") {
			if why := shows(t, strings.TrimSpace(by)); why != "" {
				t.Errorf("%s: %q: %s", want[i], by, why)
			}
		}
		want = slices.Delete(want, i, i+1)
	}
	if len(want) > 0 {
		t.Errorf("the page lacks %v", want)
	}
	for _, bad := range []string{"watch TestNone: x", "watch TestStall: no such words here", "script none: x", "watch"} {
		if shows(t, bad) == "" {
			t.Errorf("%q passes", bad)
		}
	}
}

// shows says what is wrong with the name of a test and words in it: "ROOM TestX: words"
// or "script NAME: words".
func shows(t *testing.T, by string) string {
	t.Helper()
	name, words, _ := strings.Cut(by, ": ")
	room, test, ok := strings.Cut(name, " ")
	if !ok || words == "" {
		return "it names no test and no words in it"
	}
	files, need := room+"/*_test.go", "func "+test+"(t *testing.T)"
	if room == "script" {
		files, need = "cmd/belay/testdata/script/"+test+".txtar", ""
	}
	list, err := filepath.Glob(files)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range list {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), need) {
			if flat := strings.Join(strings.Fields(strings.ReplaceAll(string(text), "//", " ")), " "); strings.Contains(flat, words) {
				return ""
			}
			return "those words are not in " + file
		}
	}
	return "there is no such test"
}
