package belay_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/recipe"
)

var update = flag.Bool("update", false, "write the generated pages instead of comparing them")

// TestReferenceIsCurrent makes the pages that come from the sources and
// compares them with what is in the repository, so that they cannot go stale.
func TestReferenceIsCurrent(t *testing.T) {
	t.Parallel()
	words := readWords(t)
	for name, page := range map[string]string{
		"events.md":          eventsPage(words),
		"exit-codes.md":      exitPage(),
		"failures.md":        failuresPage(words),
		"recipe-keys.md":     keysPage(),
		"calls.md":           callsPage(),
		"differences.md":     differencesPage(),
		"recipe.schema.json": string(recipe.Schema()),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			same(t, filepath.Join("docs", "reference", name), page)
		})
	}
}

// same compares a file with what it should hold, or writes it with -update.
func same(t *testing.T, file, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is stale at line %d: run make gen", file, differs(string(got), want))
	}
}

// differs is the first line in which two texts differ, counted from 1.
func differs(a, b string) int {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	n := 0
	for n < len(x) && n < len(y) && x[n] == y[n] {
		n++
	}
	return n + 1
}

const generated = "<!-- made from the sources by make gen; changes by hand are lost -->\n\n"

func eventsPage(w *words) string {
	var b strings.Builder
	b.WriteString(generated + `# Events

A journal is a list of records; each holds one event. With ` + "`--json`" + ` a record is
printed as one line: one flat object with the fields below and those of its event.
Fields and kinds are only ever added; a reader ignores what it does not know.

| field | meaning |
|---|---|
| ` + "`kind`" + ` | the kind of event, as in the headings below |
| ` + "`seq`" + ` | the number of the record, from 1, without gaps |
| ` + "`epoch`" + ` | how many drivers have attached so far |
| ` + "`at`" + ` | when it was written, UTC; never before the record in front of it |
| ` + "`run`" + ` | the run it belongs to; a child run is a path below its root |

` + fmt.Sprintf("The format has the number %d (`schema` in the first record of a run).\n\n## Kinds\n", event.Schema))
	parts := &partList{w: w}
	for _, e := range event.All() {
		name := typeName(e)
		fmt.Fprintf(&b, "\n### `%s`\n\n%s\n", e.Kind(), w.about(name, "`"+e.Kind()+"`"))
		b.WriteString(parts.table(name))
	}
	b.WriteString("\n## Parts\n")
	for i := 0; i < len(parts.structs); i++ { // grows while it is walked
		name := parts.structs[i]
		fmt.Fprintf(&b, "\n### %s\n\n%s\n%s", name, w.about(name, name), parts.table(name))
	}
	b.WriteString("\n## Closed lists\n")
	for _, name := range parts.lists {
		fmt.Fprintf(&b, "\n### %s\n\n%s\n\n%s", name, w.about(name, name), listTable(w.consts[name]))
	}
	return b.String()
}

func listTable(consts []constant) string {
	var b strings.Builder
	b.WriteString("| value | meaning |\n|---|---|\n")
	for _, c := range consts {
		value := "`" + c.value + "`"
		if c.value == "" {
			value = "(absent)"
		}
		fmt.Fprintf(&b, "| %s | %s |\n", value, c.note)
	}
	return b.String()
}

func exitPage() string {
	var b strings.Builder
	b.WriteString(generated + `# Exit codes

| code | meaning |
|---|---|
`)
	for _, r := range exit.Table() {
		fmt.Fprintf(&b, "| %d | %s |\n", r.Code, r.Meaning)
	}
	b.WriteString(`
- Commands that wait for a run (` + "`do`, `run`, `resume`" + `) end in 0 only when that run reached its
  goal. All others end in 0 when the question was answered or the act was done. ` + "`receipt --check`" + `
  ends with the code of the run when its checks still pass, in 1 when one fails, and in 5 when nobody
  can tell.
- The code of a run is decided, and written down, before the process ends; no clean-up
  can change it. An error that carries no code of its own is 1, never 0.
- When several apply, the first of these wins: ` + precedence() + `.
- A code that is not in this table is a failure. More codes will be added; none of these
  will change its meaning.
`)
	return b.String()
}

// precedence asks the code for the order of the codes that can meet.
func precedence() string {
	var codes []int
	for _, r := range exit.Table() {
		if exit.Worse(exit.Usage, r.Code) == r.Code && r.Code != exit.Usage {
			codes = append(codes, r.Code)
		}
	}
	slices.SortFunc(codes, func(a, b int) int {
		if exit.Worse(a, b) == a {
			return -1
		}
		return 1
	})
	return strings.Trim(strings.Join(strings.Fields(fmt.Sprint(codes)), ", "), "[]")
}

func failuresPage(w *words) string {
	var b strings.Builder
	b.WriteString(generated + `# Failures

Every failure of a step or a run has one of these kinds. The kind is chosen from what was
observed (exit code, signal, who sent it, what could not be started), never from the
wording of a message, and is stored in the journal beside the observation.

| kind | meaning |
|---|---|
`)
	for _, k := range belay.FailureKinds() {
		for _, c := range w.consts["FailureKind"] {
			if c.value == string(k) {
				fmt.Fprintf(&b, "| `%s` | %s |\n", k, c.note)
			}
		}
	}
	b.WriteString(`
A shell step that fails because the machine lacks something is ` + "`infrastructure`" + ` where that is
proven, not said. Proven means: Belay looked (the disk is full, the memory group counted a kill,
the program that the last lines name is not on PATH, the host that they name has no address,
` + "`gh auth status`" + ` says that nobody is logged in), or the exit code of a known tool says so (6 of
curl, 4 of gh). The same holds for a check. Words alone change nothing: the kind stays
` + "`bash_failure`" + `. A missing login or a full disk is held for a person; the rest ends in exit 8.

A run that calls a failed one carries the class of that failure, and its exit code.

A step whose script is a guard for something else may say which kind its failure stands
for (` + "`failure: infrastructure`" + `).

The kind decides the [exit code](exit-codes.md). What is done about a failure is decided by its
[class](classes.md), which stands beside the kind, and by a [policy](policies.md);
[how Belay meets a failure](../explanation/recovery.md) tells it in one piece. What each kind looks like
on the screen, and what to type then: [when a run fails](../howto/when-a-run-fails.md).
`)
	return b.String()
}
