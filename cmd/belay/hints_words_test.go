package main_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/cli"
)

// notCommands are the words that stand behind the name of the program in a sentence.
var notCommands = strings.Fields(`and asks beside by does ended hid in inside is itself knows looks made needs no on or
	policy process reads that to with wrote`)

var (
	typedHint = regexp.MustCompile(`(?:^|[^\w./-])belay ([a-z][a-z-]*)((?: [^\s,;()]+)*)`)
	typedFlag = regexp.MustCompile(`^--([a-z][a-z-]*)`)
)

// Every command that a text of Belay names is there, and has the flags that are typed
// behind it: in the texts of errors and findings, too, to which no run comes. The long
// test beside this one types what a run that rests names; of all other texts this is
// what can be known without a machine for each of them.
//
// promise: X, N2
func TestHintsNameCommands(t *testing.T) {
	t.Parallel()
	root := cli.Commands()
	seen := 0
	check := func(where, text string) {
		for _, m := range typedHint.FindAllStringSubmatch(text, -1) {
			if slices.Contains(notCommands, m[1]) {
				continue
			}
			seen++
			if problem := notTyped(root, m[1], strings.Fields(m[2])); problem != "" {
				t.Errorf("%s: %s: %q", where, problem, strings.TrimSpace(m[0]))
			}
		}
	}
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{".git", "testdata", "bench", "bin", "dist", "tools"}, d.Name()):
			return fs.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		return textsOf(path, check)
	})
	if err != nil || seen < 150 {
		t.Fatalf("%d commands are named: %v", seen, err)
	}
}

// notTyped is why a command cannot be typed; "" when it can.
func notTyped(root *cobra.Command, name string, words []string) string {
	if name == "help" {
		return ""
	}
	cmd, rest, err := root.Find(append([]string{name}, words...))
	if err != nil || cmd == root {
		return "there is no command " + name
	}
	for _, w := range rest {
		m := typedFlag.FindStringSubmatch(w)
		if m == nil || m[1] == "help" {
			continue
		}
		if cmd.Flags().Lookup(m[1]) == nil && root.PersistentFlags().Lookup(m[1]) == nil {
			return fmt.Sprintf("%s has no flag --%s", cmd.Name(), m[1])
		}
	}
	return ""
}

// textsOf hands out the texts of a source file: each literal with what is added to it,
// and the words of each command that is made of words.
func textsOf(path string, text func(where, text string)) error {
	src, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, path, src, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	var failed error
	ast.Inspect(f, func(n ast.Node) bool {
		switch e := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.BinaryExpr:
			if e.Op == token.ADD {
				text(files.Position(e.Pos()).String(), joined(e, &failed))
				return false
			}
		case *ast.BasicLit:
			if e.Kind == token.STRING {
				text(files.Position(e.Pos()).String(), joined(e, &failed))
			}
		case *ast.CompositeLit:
			if ofCommand(f.Name.Name, e.Type) && len(e.Elts) > 0 {
				words := []string{"belay"}
				for _, w := range e.Elts {
					words = append(words, joined(w, &failed))
				}
				text(files.Position(e.Pos()).String(), strings.Join(words, " "))
			}
		}
		return true
	})
	return failed
}

// ofCommand tells the type story.Command.
func ofCommand(room string, t ast.Expr) bool {
	switch t := t.(type) {
	case *ast.Ident:
		return room == "story" && t.Name == "Command"
	case *ast.SelectorExpr:
		x, ok := t.X.(*ast.Ident)
		return ok && x.Name == "story" && t.Sel.Name == "Command"
	}
	return false
}

// joined is a text as far as the source tells it: what is only known later is WORD, and
// the name of the program is belay.
func joined(e ast.Expr, failed *error) string {
	switch e := e.(type) {
	case *ast.BinaryExpr:
		return joined(e.X, failed) + joined(e.Y, failed)
	case *ast.ParenExpr:
		return joined(e.X, failed)
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			s, err := strconv.Unquote(e.Value)
			*failed = errors.Join(*failed, err)
			return s
		}
	case *ast.CallExpr:
		if sel, ok := e.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "name" && len(e.Args) == 0 {
			return "belay"
		}
	}
	return "WORD"
}
