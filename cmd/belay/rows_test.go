package main_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/belay-run/belay/recipe"
)

var update = flag.Bool("update", false, "write the generated page instead of comparing it")

// rows is how many facts about the older runner there are to answer for.
const rows = 75

// stand says how Belay stands to a fact about the older runner.
type stand string

const (
	held      stand = "held"      // Belay does the same
	different stand = "different" // Belay does something else, on purpose
	later     stand = "later"     // comes with another version
	absent    stand = "absent"    // Belay has no such thing
)

// row is one fact about the older runner: its number, with a letter where one
// number has several facts, what is given and what the older runner does.
type row struct {
	id, given, theirs string
	stand             stand
	about             string // different: the difference; later, absent: the reason
	check             func(*place)
}

func holds(id, given, theirs string, check func(*place)) row {
	return row{id, given, theirs, held, "", check}
}

func unlike(id, given, theirs, difference string, check func(*place)) row {
	return row{id, given, theirs, different, difference, check}
}

func comes(id, given, theirs, why string) row { return row{id, given, theirs, later, why, nil} }
func hasNot(id, given, theirs, why string) row {
	return row{id, given, theirs, absent, why, nil}
}

// chapter is a group of rows about one subject.
type chapter struct {
	title string
	rows  []row
}

func chapters() []chapter {
	return []chapter{
		{"Reading a file", readingRows()},
		{"The command line", commandRows()},
		{"Values in texts and scripts", valueRows()},
		{"JSON in outputs", append(jsonRows(), jsonAgentRows()...)},
		{"Conditions", conditionRows()},
		{"Running", runningRows()},
		{"Agents", agentRows()},
		{"Processes and files", processRows()},
		{"The wrapper", wrapperRows()},
	}
}

// TestRows holds every fact about the older runner against the real binary.
// promise: L
func TestRows(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, d := range recipe.Differences() {
		known[d.ID] = true
	}
	for _, c := range chapters() {
		for _, r := range c.rows {
			t.Run(r.id, func(t *testing.T) {
				t.Parallel()
				if problem := r.problem(known); problem != "" {
					t.Fatal(problem)
				}
				if r.check != nil {
					r.check(newPlace(t))
				}
			})
		}
	}
}

// problem says what is wrong with an entry itself; "" = nothing.
func (r row) problem(known map[string]bool) string {
	acts := r.stand == held || r.stand == different
	switch {
	case r.given == "" || r.theirs == "":
		return "the entry does not say what is given and what follows"
	case acts && r.check == nil:
		return "nothing shows what Belay does"
	case !acts && (r.check != nil || r.about == ""):
		return "an entry without a check gives a reason, and only such an entry"
	case r.stand == different && !known[r.about]:
		return fmt.Sprintf("there is no difference named %q", r.about)
	}
	return ""
}

var rowForm = regexp.MustCompile(`^([0-9]+)[a-z]?$`)

// TestRowsAreAll finds a number that has no entry and an id that has two.
func TestRowsAreAll(t *testing.T) {
	t.Parallel()
	for _, problem := range gaps(chapters()) {
		t.Error(problem)
	}
}

func gaps(list []chapter) (problems []string) {
	seen, ids := map[int]bool{}, map[string]bool{}
	for _, c := range list {
		for _, r := range c.rows {
			m := rowForm.FindStringSubmatch(r.id)
			if m == nil || ids[r.id] {
				problems = append(problems, fmt.Sprintf("row %q: the id is not of the form, or there twice", r.id))
				continue
			}
			n, err := strconv.Atoi(m[1])
			if err != nil || n < 1 || n > rows {
				problems = append(problems, fmt.Sprintf("row %q: there is no such number", r.id))
			}
			seen[n], ids[r.id] = true, true
		}
	}
	for n := 1; n <= rows; n++ {
		if !seen[n] {
			problems = append(problems, fmt.Sprintf("row %d has no entry", n))
		}
	}
	return problems
}

// TestRowsHaveTeeth shows that an entry that is wrong or missing is found.
func TestRowsHaveTeeth(t *testing.T) {
	t.Parallel()
	none := func(*place) {}
	known := map[string]bool{"quotes": true}
	for name, r := range map[string]row{
		"unknown difference": unlike("1", "x", "y", "nothing-like-it", none),
		"no check":           holds("1", "x", "y", nil),
		"no reason":          comes("1", "x", "y", ""),
		"no words":           holds("1", "", "y", none),
	} {
		if r.problem(known) == "" {
			t.Errorf("%s: not found", name)
		}
	}
	if p := unlike("1", "x", "y", "quotes", none).problem(known); p != "" {
		t.Errorf("a sound entry is refused: %s", p)
	}
	got := gaps([]chapter{{"", []row{holds("1", "x", "y", none), holds("1", "x", "y", none), holds("76", "x", "y", none)}}})
	if len(got) != rows+1 { // one twice, one beyond the end, 74 missing
		t.Errorf("%d problems found: %q", len(got), got)
	}
}

// TestOlderRunnerPage holds the page for people who bring recipes along
// against the entries that it is made from.
func TestOlderRunnerPage(t *testing.T) {
	t.Parallel()
	file := filepath.Join("..", "..", "docs", "reference", "older-runner.md")
	want := olderRunnerPage(chapters())
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is stale: go test ./cmd/belay -run OlderRunnerPage -update", file)
	}
}

func olderRunnerPage(list []chapter) string {
	var b strings.Builder
	b.WriteString(olderRunnerHead)
	for _, part := range []struct {
		stand stand
		head  string
	}{
		{held, "\n## What runs as it did\n"},
		{different, "\n## What is different\n\nThe last column leads to the reason.\n"},
		{later, "\n## What is not there yet\n\nKeys of a recipe that belong to these are read and checked, and `belay validate` warns that they have no effect.\n"},
		{absent, "\n## What is not there\n"},
	} {
		var tables strings.Builder
		for _, c := range list {
			tables.WriteString(c.table(part.stand))
		}
		if tables.Len() > 0 {
			b.WriteString(part.head + tables.String())
		}
	}
	return b.String()
}

// table lists the rows of a chapter with one stand; "" when it has none.
func (c chapter) table(s stand) string {
	var b strings.Builder
	for _, r := range c.rows {
		if r.stand != s {
			continue
		}
		if b.Len() == 0 {
			fmt.Fprintf(&b, "\n### %s\n\n%s", c.title, tableHead(s))
		}
		fmt.Fprintf(&b, "| %s | %s | %s |", r.id, cell(r.given), cell(r.theirs))
		switch s {
		case different:
			fmt.Fprintf(&b, " %s ([`%s`](differences.md)) |", cell(oursOf(r.about)), r.about)
		case later, absent:
			fmt.Fprintf(&b, " %s |", cell(r.about))
		}
		b.WriteString("\n")
	}
	return b.String()
}

func tableHead(s stand) string {
	switch s {
	case held:
		return "| | given | what happens, there and here |\n|---|---|---|\n"
	case different:
		return "| | given | the older runner | Belay |\n|---|---|---|---|\n"
	}
	return "| | given | the older runner | why not here |\n|---|---|---|---|\n"
}

func oursOf(id string) string {
	all := recipe.Differences()
	if i := slices.IndexFunc(all, func(d recipe.Difference) bool { return d.ID == id }); i >= 0 {
		return all[i].Ours
	}
	return ""
}

func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

const olderRunnerHead = `<!-- made from the tests by go test ./cmd/belay -run OlderRunnerPage -update; changes by hand are lost -->

# Recipes of the older runner

For people who bring recipes along. Each line below is a fact about the older runner; the
first two lists are checked against the real program by a test for each line. Agents in these
tests are the built-in one that plays a script, and stand-ins for ` + "`claude` and `copilot`" + ` that
write down how they are called.

1. ` + "`belay validate RECIPE`" + ` says what Belay would refuse, with the line and what to write.
2. ` + "`belay validate --compat RECIPE`" + ` reads it as the older runner would, where that is safe:
   unknown keys and left-over words warn, a missing name is empty, scripts run in plain bash.
   ` + "`compat: true`" + ` in the file says the same for good.
3. ` + "`belay run --dry-run RECIPE`" + ` says what would run with the given values.

All differences, with their reasons, are in [differences](differences.md).
`
