package main_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const corpus = "testdata/corpus"

// TestCorpus walks recipes of every shape that people write. The first lines of
// each say what is expected:
//
//	# corpus: run CODE [FLAG…]    valid, and a run ends with the code
//	# corpus: refused [FLAG…]     not valid
//	# ends: STEP PHASE, …         how its own steps end, all of them
//	# prints: STEP TEXT           what a step prints, less blanks around it
//
// The script of a recipe with agents is the file of its name in agents, and the
// files in personas are those of the run's directory. Such a recipe says how
// every step ends.
//
// promise: L
func TestCorpus(t *testing.T) {
	t.Parallel()
	files := longestFirst(t, filepath.Join(corpus, "*.yaml"))
	if len(files) < 40 {
		t.Fatalf("only %d recipes found: the test looks at too little", len(files))
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			t.Parallel()
			corpusFile(t, file)
		})
	}
}

// TestCorpusScripts finds a script that belongs to no recipe.
func TestCorpusScripts(t *testing.T) {
	t.Parallel()
	scripts, err := filepath.Glob(filepath.Join(corpus, "agents", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if len(scripts) < 15 {
		t.Fatalf("only %d scripts found: the test looks at too little", len(scripts))
	}
	for _, s := range scripts {
		if _, err := os.Stat(filepath.Join(corpus, filepath.Base(s))); err != nil {
			t.Error(err)
		}
	}
}

// expected is what the first lines of a recipe of the corpus say.
type expected struct {
	words  []string // of the first line
	ends   []string // "STEP PHASE"
	prints []string // "STEP TEXT"
}

func expectedOf(text string) (e expected) {
	for line := range strings.Lines(text) {
		key, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch key {
		case "# corpus":
			e.words = strings.Fields(rest)
		case "# ends":
			e.ends = strings.Split(rest, ", ")
		case "# prints":
			e.prints = append(e.prints, rest)
		default:
			return e
		}
	}
	return e
}

func corpusFile(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	e := expectedOf(string(text))
	if len(e.words) == 0 {
		t.Fatalf("the first line does not say what is expected: %.80q", text)
	}
	if file, err = filepath.Abs(file); err != nil {
		t.Fatal(err)
	}
	p, flags := newPlace(t), e.words[1:]
	switch e.words[0] {
	case "refused":
		p.belay(65, append([]string{"validate", file}, flags...)...)
		p.says(filepath.Base(file) + ":")
	case "run":
		code, err := strconv.Atoi(flags[0])
		if err != nil {
			t.Fatal(err)
		}
		flags = flags[1:]
		p.belay(0, append([]string{"validate", file}, compatOf(flags)...)...)
		script := filepath.Join(filepath.Dir(file), "agents", filepath.Base(file))
		if _, err := os.Stat(script); err == nil {
			flags = append(flags, "--agent", "scripted:"+script)
			p.personas()
			if len(e.ends) == 0 {
				t.Error("it has agents and does not say how its steps end")
			}
		}
		p.start(code, file, flags...)
		p.ended(e)
	default:
		t.Fatalf("unknown expectation %q", e.words[0])
	}
}

// personas are put where a run finds them.
func (p *place) personas() {
	p.t.Helper()
	from := os.DirFS(filepath.Join(corpus, "personas"))
	if err := os.CopyFS(filepath.Join(p.dir, ".claude", "agents"), from); err != nil {
		p.t.Fatal(err)
	}
	if found, err := fs.Glob(from, "core/*.md"); err != nil || len(found) == 0 {
		p.t.Fatalf("no personas: %v", err)
	}
}

// ended holds the last run against how it was to end.
func (p *place) ended(e expected) {
	p.t.Helper()
	if len(e.ends) > 0 {
		var steps []string
		for _, w := range e.ends {
			step, _, _ := strings.Cut(w, " ")
			steps = append(steps, step)
		}
		for step := range p.told() {
			if !slices.Contains(steps, step) {
				p.t.Errorf("it does not say how step %s ends", step)
			}
		}
		p.phases(e.ends...)
	}
	for _, w := range e.prints {
		step, want, _ := strings.Cut(w, " ")
		p.belay(0, "logs", p.id(), step)
		if got := strings.TrimSpace(p.out); got != want {
			p.t.Errorf("step %s printed %q, want %q", step, got, want)
		}
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
