package recipe

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// Of every recipe in the repository: it can be formatted, reads as before,
// keeps the way its texts are written, and loses no comment.
func TestFormatRepository(t *testing.T) {
	var files []string
	for _, glob := range []string{"../examples/*/*.yaml", "../cmd/belay/testdata/corpus/*.yaml", "testdata/*.yaml"} {
		found, err := filepath.Glob(glob)
		if err != nil || len(found) == 0 {
			t.Fatalf("no files %s: %v", glob, err)
		}
		files = append(files, found...)
	}
	formatted := 0
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := readTree(src); err != nil {
			continue // no YAML that a recipe can be written in
		}
		out, err := Format(src)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		formatted++
		checkSame(t, file, src, out)
	}
	if formatted < 60 {
		t.Errorf("only %d files were formatted", formatted)
	}
}

// The same of files that nobody would write.
func TestFormatGenerated(t *testing.T) {
	for seed := range uint64(600) {
		g := &sketch{rng: rand.New(rand.NewPCG(seed, 3))} //nolint:gosec // the same in every run on purpose
		src := []byte(g.recipe())
		out, err := Format(src)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, src)
		}
		checkSame(t, fmt.Sprint("seed ", seed), src, out)
		if was, is := stepNotes(src), stepNotes(out); !reflect.DeepEqual(was, is) {
			t.Fatalf("seed %d: comments before steps were %v and are %v\n%s\nbecame\n%s", seed, was, is, src, out)
		}
		if t.Failed() {
			return
		}
	}
}

// checkSame compares a source with what became of it.
func checkSame(t *testing.T, name string, src, out []byte) {
	t.Helper()
	again, err := Format(out)
	if err != nil || !bytes.Equal(out, again) {
		t.Errorf("%s: the second time: %v\n%s\nbecame\n%s", name, err, out, again)
	}
	var was, is any
	if err := yaml.Unmarshal(src, &was); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if err := yaml.Unmarshal(out, &is); err != nil || fmt.Sprintf("%#v", was) != fmt.Sprintf("%#v", is) { // no number is not equal to itself
		t.Errorf("%s: reads otherwise: %v\n%s\nbecame\n%s", name, err, src, out)
	}
	if was, is := styles(t, src), styles(t, out); !reflect.DeepEqual(was, is) {
		t.Errorf("%s: texts are written otherwise: %v\n%s\nbecame\n%s", name, err, src, out)
	}
	if was, is := remarks(src), remarks(out); !slices.Equal(was, is) {
		t.Errorf("%s: comments were %q and are %q", name, was, is)
	}
}

// styles is how each scalar of a source is written, by its path.
func styles(t *testing.T, src []byte) map[string]yaml.Style {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal(src, &doc); err != nil {
		t.Fatal(err)
	}
	found := map[string]yaml.Style{}
	var walk func(n *yaml.Node, path string)
	walk = func(n *yaml.Node, path string) {
		found[path] = n.Style
		for i, c := range n.Content {
			switch {
			case n.Kind != yaml.MappingNode:
				walk(c, fmt.Sprintf("%s/%d", path, i))
			case i%2 == 1:
				walk(c, path+"/"+n.Content[i-1].Value)
			}
		}
	}
	walk(&doc, "")
	return found
}

// remarks are the words behind every # of a source, sorted: comments, and what
// looks like one inside a text, which is as little to be lost.
func remarks(src []byte) []string {
	var all []string
	for line := range strings.Lines(string(src)) {
		if i := strings.Index(line, "#"); i >= 0 {
			all = append(all, strings.TrimSpace(line[i:]))
		}
	}
	slices.Sort(all)
	return all
}

// stepNotes has the comments of a generated file that stand between steps, each
// with the id of the step below it.
func stepNotes(src []byte) map[string]string {
	found := map[string]string{}
	var open []string
	for line := range strings.Lines(string(src)) {
		line = strings.TrimSpace(line)
		if i := strings.Index(line, "#between"); i >= 0 {
			open = append(open, line[i:])
		}
		if _, id, ok := strings.Cut(line, "id: s"); ok {
			for _, c := range open {
				found[c] = id
			}
			open = nil
		}
	}
	return found
}

// sketch makes up a recipe as an untidy person would write it.
type sketch struct {
	rng   *rand.Rand
	b     strings.Builder
	count int
}

func (g *sketch) pick(words ...string) string { return words[g.rng.IntN(len(words))] }

func (g *sketch) line(col int, text string) {
	g.b.WriteString(strings.Repeat(" ", col) + text + g.pick("", "", " ", "\t ") + "\n")
}

// noise is empty lines and comments.
func (g *sketch) noise(col int, word string) {
	for g.rng.IntN(3) == 0 {
		g.count++
		g.b.WriteString(g.pick("", "\n", "\n\n", "   \n"))
		g.line(col, fmt.Sprintf("#%s %d", word, g.count))
		g.b.WriteString(g.pick("", "", "\n"))
	}
}

func (g *sketch) recipe() string {
	g.noise(0, "top")
	keys := []func(){
		func() { g.line(0, g.pick("name: n", "name:   n", `"name": n`, "name : n # why")) },
		func() { g.text(0, "description") },
		func() { g.line(0, "context:"); g.noise(3, "in"); g.line(3, "b: 1"); g.text(3, "a"); g.list(3, "c") },
		g.steps,
		func() { g.line(0, "retry_after: {a: 1,"); g.line(g.rng.IntN(3), "b: 2}") },
		func() { g.line(0, "odd:"); g.line(3, "? x"); g.line(3, ": |"); g.line(6, "y"); g.line(3, "w: z") },
		func() { g.line(0, "hooks:"); g.text(1, "post_step"); g.noise(1, "in"); g.text(1, "pre_step") },
	}
	for _, i := range g.rng.Perm(len(keys)) {
		g.noise(0, "top")
		keys[i]()
	}
	g.noise(0, "top")
	return g.b.String()
}

func (g *sketch) steps() {
	g.line(0, "steps:"+g.pick("", " # all"))
	col, gap := g.rng.IntN(5), 1+g.rng.IntN(4)
	for i := range 1 + g.rng.IntN(4) {
		g.noise(g.rng.IntN(col+1), "between")
		dash := strings.Repeat(" ", col) + "-"
		in := col + 1 + gap
		id := fmt.Sprintf("id: s%d", i)
		if g.rng.IntN(4) == 0 {
			g.b.WriteString(dash + g.pick("", " ", " #between "+fmt.Sprint(i, "d")) + "\n")
			g.noise(in, "between")
			g.line(in, id)
		} else {
			g.b.WriteString(dash + strings.Repeat(" ", gap) + id + "\n")
		}
		keys := []func(){
			func() { g.text(in, "command") }, func() { g.text(in, "verify") }, func() { g.list(in, "needs") },
			func() {
				g.line(in, "retry: # r")
				g.line(in+1, "backoff: 5s")
				g.noise(in+1, "in")
				g.line(in+1, "max_attempts: 2")
			},
			func() { g.line(in, "timeout:    5 # t") },
		}
		for _, k := range g.rng.Perm(len(keys))[:g.rng.IntN(len(keys)+1)] {
			g.noise(in, "in")
			keys[k]()
		}
	}
}

func (g *sketch) list(col int, key string) {
	g.line(col, key+":")
	in := col + g.rng.IntN(3)
	for range 1 + g.rng.IntN(3) {
		g.noise(in, "in")
		g.line(in, g.pick("- x", "-   'y'", "- - a", "- k: v", "- [a, {b: c}]", "- ~"))
	}
}

// text is a text in one of the ways to write one.
func (g *sketch) text(col int, key string) {
	in := col + 1 + g.rng.IntN(4)
	switch g.rng.IntN(5) {
	case 0:
		g.line(col, key+": "+g.pick("plain", "'single # no'", `"double"`, "plain # c"))
	case 1:
		g.line(col, key+": plain")
		g.b.WriteString(g.pick("", "\n"))
		g.line(in, "goes on")
	case 2:
		g.line(col, key+": "+g.pick(`"one`, "'one"))
		g.b.WriteString(strings.Repeat(" ", in) + "# no comment\n\n")
		g.b.WriteString(strings.Repeat(" ", in) + "two" + string(quoteOf(g.b.String())) + "\n")
	default:
		g.block(col, in, key)
	}
}

// quoteOf is the quote that was opened last.
func quoteOf(text string) byte {
	return text[strings.LastIndexAny(text[:strings.LastIndex(text, "one")], `'"`)]
}

func (g *sketch) block(col, in int, key string) {
	sign := g.pick("|", "|-", "|+", ">", ">-", ">+")
	if g.rng.IntN(4) == 0 {
		sign += fmt.Sprint(in - col)
	}
	g.line(col, key+": "+sign+g.pick("", " # c"))
	for i := range 1 + g.rng.IntN(4) {
		g.b.WriteString(strings.Repeat(" ", in) + g.pick("a", "# no", "b ", "c: d", "- e", "f\t", "'g"))
		g.b.WriteString(fmt.Sprint(" ", i) + g.pick("\n", "\n", "  \n", "\n\n", "\n"+strings.Repeat(" ", in+2)+"deeper\n"))
	}
}
