// Package check is what Belay does itself to see whether the work of an agent is
// there: it finds out how the tests of a directory are run, runs them, and asks
// the forge about pull requests. It collects facts; verdict judges them.
package check

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/worktree"
)

const (
	maxFile    = 1 << 20 // of a file that defines a command
	maxProgram = 1 << 30 // of a program
	maxNeeds   = 24      // programs that a definition names
	maxLevels  = 64      // directories from the step's up to the top
)

// level is one directory that is looked at.
type level struct{ dir string }

func (l level) has(name string) bool {
	info, err := os.Stat(filepath.Join(l.dir, name))
	return err == nil && info.Mode().IsRegular()
}

// read is the beginning of a file; nothing of one that is not there.
func (l level) read(name string) []byte {
	if !l.has(name) { // reading something else might never end
		return nil
	}
	f, err := os.Open(filepath.Join(l.dir, name))
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }() // read only: nothing to lose
	b, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return nil
	}
	return b
}

// named are the files below the directory that a shell text names: the scripts
// that it runs, and what it hands to them.
func (l level) named(text string) []string {
	var list []string
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\n;&|<>()\"'`$@={}", r) }) {
		name := filepath.Clean(strings.TrimLeft(word, "/"))
		if len(list) < maxNeeds && l.has(name) && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// glob is the first file of a form.
func (l level) glob(form string) string {
	list, err := filepath.Glob(filepath.Join(l.dir, form))
	if err != nil || len(list) == 0 {
		return ""
	}
	name, err := filepath.Rel(l.dir, list[0])
	if err != nil {
		return ""
	}
	return name
}

// Top is how far up from a directory tests are looked for: the top of its work
// tree; without a repository the run's directory, or the directory itself.
func Top(dir, run string) string {
	at := dir
	for range maxLevels {
		if worktree.IsTop(at) {
			return at
		}
		if at == filepath.Dir(at) {
			break
		}
		at = filepath.Dir(at)
	}
	if below(run, dir) {
		return run
	}
	return dir
}

// below tells whether a directory is another or in it.
func below(top, dir string) bool {
	rel, err := filepath.Rel(top, dir)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// Find looks for the test commands of a directory: those of the nearest level
// that has any. path is the PATH that programs are found on.
func Find(dir, top, path string) effect.TestPlan {
	plan := effect.TestPlan{Dir: dir, Top: top}
	for at := dir; below(top, at); at = filepath.Dir(at) {
		l := level{at}
		for _, k := range kinds {
			if f, ok := k.find(l); ok {
				plan.Commands = append(plan.Commands, f.command(k.name, l, top, path))
			}
		}
		if len(plan.Commands) > 0 || at == filepath.Dir(at) {
			break
		}
	}
	return plan
}

// command is what was found, with the digests of what it is made of.
func (f found) command(name string, l level, top, path string) effect.TestCommand {
	c := effect.TestCommand{Kind: name, From: f.from, Counts: f.counts}
	if rel, err := filepath.Rel(top, l.dir); err == nil && rel != "." {
		c.Dir = rel
	}
	for _, try := range f.tries {
		c.Args, c.Program = try, program(try[0], l.dir, path)
		if c.Program.Path != "" {
			break
		}
	}
	if c.Program.Path == "" { // say what is usual
		i := max(0, slices.IndexFunc(f.tries, func(t []string) bool { return !inTree(t[0]) }))
		c.Args, c.Program = f.tries[i], program(f.tries[i][0], l.dir, path)
	}
	c.Files = append(c.Files, l.sum(f.from))
	for _, name := range slices.Concat(f.files, l.named(f.text)) {
		if !slices.ContainsFunc(c.Files, func(s effect.FileSum) bool { return s.Path == name }) {
			c.Files = append(c.Files, l.sum(name))
		}
	}
	needs := slices.Concat(f.needs, interpreter(c.Program.Path), words(f.text))
	for _, name := range needs {
		if len(c.Needs) == maxNeeds {
			break
		}
		known := slices.ContainsFunc(c.Needs, func(p effect.Program) bool { return p.Name == name }) || name == c.Program.Name
		if p := program(name, l.dir, path); !known && (p.Path != "" || runner(name)) {
			c.Needs = append(c.Needs, p)
		}
	}
	return c
}

// runner tells whether a word is the name of a program that runs tests: that it
// was not there at the start is worth knowing.
func runner(name string) bool {
	return slices.Contains([]string{
		"pytest", "tox", "nox", "python", "python3", "go", "gotestsum", "cargo", "node", "npm", "npx", "jest", "vitest", "mocha",
		"rspec", "bundle", "rake", "phpunit", "mix", "deno", "bun", "ctest", "bats", "prove", "mvn", "gradle", "dotnet", "swift", "dart",
	}, name)
}

// sum is the digest of what counts in a file; "" where there is nothing.
func (l level) sum(name string) effect.FileSum {
	s := effect.FileSum{Path: name}
	if !l.has(name) {
		return s
	}
	text := l.read(name)
	if part := parts[name]; part != nil {
		if text = part(text); len(text) == 0 {
			return s
		}
	}
	sum := sha256.Sum256(text)
	s.Sum = hex.EncodeToString(sum[:])
	return s
}

// program finds a program: in the project when its name is a place there, else
// on the PATH. The digest is of the file behind all links.
func program(name, dir, path string) effect.Program {
	p := effect.Program{Name: name}
	if inTree(name) {
		if at := filepath.Join(dir, name); executable(at) {
			p.Path = at
		}
	} else {
		p.Path = lookPath(name, path)
	}
	if p.Path != "" {
		p.Sum = digest(p.Path)
	}
	return p
}

// Programs finds programs on the PATH.
func Programs(path string, names ...string) []effect.Program {
	list := make([]effect.Program, len(names))
	for i, name := range names {
		list[i] = program(name, "", path)
	}
	return list
}

func executable(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// lookPath finds a program on a PATH. What stands there relative to wherever one
// is, is left out.
func lookPath(name, path string) string {
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if at := filepath.Join(dir, name); executable(at) {
			return at
		}
	}
	return ""
}

// digest is that of a program, "" of one that cannot be read.
func digest(file string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // read only: nothing to lose
	h := sha256.New()
	if n, err := io.Copy(h, io.LimitReader(f, maxProgram)); err != nil || n == maxProgram {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}

// interpreter is the program that a script finds on the PATH by its first line:
// "#!/usr/bin/env node".
func interpreter(file string) []string {
	if file == "" {
		return nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }() // read only: nothing to lose
	head := make([]byte, 128)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	line, _, _ := bytes.Cut(head[:n], []byte("\n"))
	fields := strings.Fields(string(line))
	if len(fields) < 2 || !strings.HasPrefix(fields[0], "#!") || filepath.Base(strings.TrimPrefix(fields[0], "#!")) != "env" {
		return nil
	}
	return fields[len(fields)-1:]
}

// Title is the command as people read it.
func Title(c effect.TestCommand) string { return title(c.Args) }
