package belay_test

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// module is the import path of the root package.
const module = "github.com/belay-run/belay"

// ranks gives every room its place: a room imports only rooms of a lower rank.
// A room that is missing here fails the test by name, so that a new one is
// placed on purpose.
var ranks = map[string]int{
	".":                   0, // the words
	"internal/ondisk":     0,
	"internal/failpoint":  0,
	"exit":                0,
	"fault":               0,
	"internal/branchname": 0,
	"internal/output":     0,
	"internal/pattern":    0,
	"internal/statebytes": 0,
	"internal/spelling":   0,

	"expr":              1,
	"redact":            1,
	"proc":              1,
	"effect":            1, // jobs, questions, and what came of them
	"internal/readable": 1,
	"recovery":          1,
	"agent":             1,
	"task":              1,
	"watch":             1,
	"internal/service":  1,

	"event":             2, // the facts
	"verdict":           2,
	"internal/archive":  2,
	"internal/roster":   2,
	"internal/scripted": 2,
	"recipe":            2,
	"recovery/classic":  2,
	"ledger":            2,
	"worktree":          2,
	"tracker":           2,

	"flow":               3, // the brain
	"journal":            3,
	"audit":              3,
	"internal/supervise": 3,
	"internal/check":     3,
	"internal/notify":    3,

	"story":            4, // what records tell
	"internal/library": 4,
	"internal/step":    4,
	"internal/graph":   4,
	"internal/doctor":  4,

	"internal/hand": 5,

	"engine":       6, // the local driver
	"internal/tui": 5,

	"internal/rehearse": 5,
	"internal/recheck":  5,
	"internal/receipt":  6,

	"internal/config":   6,
	"internal/demo":     7,
	"belaytest":         6,
	"belaytest/model":   6, // imports nothing of ours
	"belaytest/scratch": 0, // the same
	"belaytest/leak":    0, // the same

	"internal/cli":  8,
	"client":        9, // for Go programs
	"belaytest/sim": 7,

	"cmd/belay":     9,
	"e2e/cmd/model": 9,
}

// pure are the rooms that decide: they see no clock, disk, process, network or
// goroutine, and they import only each other. The list holds what each may use
// from outside this module and outside the standard library.
var pure = map[string][]string{
	".":        nil,
	"exit":     nil,
	"fault":    nil,
	"effect":   nil,
	"event":    nil,
	"expr":     nil,
	"redact":   nil,
	"verdict":  nil,
	"recovery": nil,
	"audit":    nil,
	"agent":    nil,
	"task":     nil,
	"watch":    nil,
	"recipe":   {"go.yaml.in/yaml/v3", "mvdan.cc/sh/v3/syntax"},
	"flow":     nil,
	"story":    nil,

	"recovery/classic":    nil,
	"internal/branchname": nil,
	"internal/output":     nil,
	"internal/spelling":   nil,
	"internal/pattern":    {"sync"}, // compiles once, and the same each time
	"internal/statebytes": {"reflect"},
}

// pureStd is what a pure room may use of the standard library. An allow list:
// what is not thought of is refused.
var pureStd = set(
	"bytes", "cmp", "container/heap", "container/list", "crypto/sha256",
	"encoding", "encoding/base64", "encoding/binary", "encoding/hex", "encoding/json",
	"errors", "fmt", "hash", "hash/fnv", "html", "io", "iter", "maps", "math", "math/bits",
	"net/url", "path", "regexp", "regexp/syntax", "slices", "sort", "strconv", "strings", "time",
	"unicode", "unicode/utf16", "unicode/utf8",
)

// mayGo lists where a goroutine may be started: a room, or one file of it.
var mayGo = set("engine", "internal/hand", "proc", "internal/supervise", "internal/doctor", "internal/rehearse", "internal/demo", "internal/notify", "internal/cli/signal.go", "journal/turn.go", "client/serve.go")

// mayExit lists where the process may be ended: a room, or one file of it. The
// failpoints end it on purpose, and only in a build made for tests; a program that
// has Belay in it ends in Serve where it was started as a process of a run.
var mayExit = set("cmd/belay/main.go", "client/serve.go", "e2e/cmd/model/main.go", "internal/failpoint")

// mayReadErrors lists where the text of an error may be looked at: a room, or
// one file of it. The YAML library tells the line of a syntax error only there.
var mayReadErrors = set("verdict", "agent", "recipe/yaml.go")

// mayFold lists where records may be read one by one and told apart: the brain,
// the read model, the auditor that is a second opinion on purpose, and those who
// write and keep them. Everybody else asks the story. The three files only hand out
// records as they are.
var mayFold = set("event", "flow", "story", "audit", "journal", "engine", "internal/cli/records.go", "internal/tui/screen.go", "client/follow.go")

// noClock lists the rooms that are not pure and still must not read the clock.
var noClock = set("belaytest/sim", "internal/receipt")

// How many rooms may stand on each other, and how many names the words may export.
const (
	maxDepth = 8
	maxNames = 170
)

// How many lines a function and a file of the product stay below. Tests are lists
// of cases, and may be longer.
const (
	maxFunc = 80
	maxFile = 500
)

// mayBeLong lists functions that are longer: a table of cases for other people's
// drivers, one after the other, with nothing to decide between them.
var mayBeLong = set("belaytest/cases_language.go language")

// drawers are the names of places that end up holding everything.
var drawers = set("util", "utils", "common", "helper", "helpers", "manager", "managers", "types", "base", "misc")

// source is one Go file: its path from the root, with slashes, and its text.
type source struct {
	path string
	text string
}

func (s source) room() string { return path.Dir(s.path) }
func (s source) test() bool   { return strings.HasSuffix(s.path, "_test.go") }

func TestHouse(t *testing.T) {
	t.Parallel()
	sources := read(t, ".")
	if len(sources) == 0 {
		t.Fatal("no Go file found: the test looks at nothing")
	}
	for _, p := range inspect(sources) {
		t.Error(p)
	}
}

// read loads the Go files of this module; a nested module is another house.
func read(t *testing.T, root string) []source {
	t.Helper()
	var out []source
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if p != root && skipped(p, d.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(p, ".go") {
			return nil
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		out = append(out, source{filepath.ToSlash(p), string(text)})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func skipped(dir, name string) bool {
	if name[0] == '.' || name[0] == '_' || name == "testdata" || name == "vendor" {
		return true
	}
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

func set(words ...string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[w] = true
	}
	return m
}

// TestPagesHaveTheRanks keeps the table of AGENTS.md, and the drawing and the list of
// pure rooms of the page about the house, in step with the tables here.
func TestPagesHaveTheRanks(t *testing.T) {
	t.Parallel()
	agents, house := page(t, "AGENTS.md"), page(t, "docs/explanation/the-house.md")
	_, list, _ := strings.Cut(house, "A *pure* room (")
	list, _, found := strings.Cut(list, ")")
	if !found {
		t.Error("the page about the house has no list of pure rooms")
	}
	drawn := map[string]int{}
	for rank := range 10 {
		_, line, ok := strings.Cut(house, fmt.Sprintf("\n %d  ", rank))
		if !ok {
			t.Errorf("the page about the house has no rank %d", rank)
		}
		line, _, _ = strings.Cut(line, "\n")
		for _, word := range strings.Fields(line) {
			drawn[word] = rank
		}
	}
	for room, rank := range ranks {
		if testSupport(room) { // no rank of their own there
			continue
		}
		name := room
		if room == "." {
			name = "belay"
		}
		_, isPure := pure[room]
		row := fmt.Sprintf("\n| %d | `%s` ", rank, name)
		_, marks, ok := strings.Cut(agents, row)
		if marks, _, _ = strings.Cut(marks, "|"); !ok || strings.Contains(marks, "*pure*") != isPure {
			t.Errorf("AGENTS.md has no row %q, or it is marked wrongly; pure: %v", row, isPure)
		}
		if got, ok := drawn[name]; !ok || got != rank {
			t.Errorf("the page about the house does not draw %s at rank %d", name, rank)
		}
		if strings.Contains(list, "`"+name+"`") != isPure {
			t.Errorf("the page about the house: %s among the pure rooms, and it is pure: %v", name, isPure)
		}
	}
}

func page(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
