package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/expr"
)

type exprOptions struct {
	sets  []string
	value bool
}

func (a *app) exprCommand() *cobra.Command {
	var o exprOptions
	cmd := command("expr EXPR", "evaluate a condition, and print whether it is true", 1, 1,
		func(_ context.Context, cmd *cobra.Command, args []string) error { return a.expr(cmd, args[0], o) })
	evaluate, check := cmd.RunE, cmd.Args
	cmd.DisableFlagParsing, cmd.Args = true, nil // -1 < 0 is no flag: they are looked at below
	cmd.RunE = func(cmd *cobra.Command, given []string) error {
		cmd.DisableFlagParsing = false
		if err := cmd.ParseFlags(numberLast(given)); err != nil {
			return flagError(cmd, err)
		}
		if help, err := cmd.Flags().GetBool("help"); err == nil && help {
			return cmd.Help()
		}
		given = cmd.Flags().Args()
		if err := cmp.Or(a.checkFlags(cmd, given), check(cmd, given)); err != nil {
			return err
		}
		return evaluate(cmd, given)
	}
	cmd.ValidArgsFunction = flagNames
	cmd.Flags().StringArrayVar(&o.sets, "set", nil, "a variable: NAME=VALUE; JSON unless it is text")
	cmd.Flags().BoolVar(&o.value, "value", false, "print the value itself, as JSON")
	return cmd
}

// numberLast puts an expression that begins with a negative number where
// nobody takes it for a flag.
func numberLast(given []string) []string {
	for i, s := range given {
		if s == "--" {
			break
		}
		if len(s) > 1 && s[0] == '-' && '0' <= s[1] && s[1] <= '9' {
			return slices.Concat(given[:i], given[i+1:], []string{"--", s})
		}
	}
	return given
}

// flagNames completes the flags of a command that looks at them by itself.
func flagNames(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	if !strings.HasPrefix(begun, "-") {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name+"\t"+f.Usage) })
	return names, cobra.ShellCompDirectiveNoFileComp
}

func (a *app) expr(cmd *cobra.Command, src string, o exprOptions) error {
	vars, err := parseSets(o.sets)
	if err != nil {
		return usage(cmd, err)
	}
	e, err := expr.Parse(src)
	if err != nil {
		return a.pointed(src, err, "")
	}
	hint := ""
	for _, name := range e.Names() {
		if _, ok := vars[name]; !ok {
			hint = "give " + name + " a value with --set " + name + "=VALUE"
			break
		}
	}
	v, err := e.Eval(lookupIn(vars))
	if err != nil {
		return a.pointed(src, err, hint)
	}
	if o.value {
		a.object(v)
		return nil
	}
	holds, err := e.Truth(lookupIn(vars))
	if err != nil {
		return a.pointed(src, err, hint)
	}
	a.out.line("%t", holds)
	return nil
}

// lookupIn finds variables among the values of --set.
func lookupIn(vars map[string]json.RawMessage) expr.Lookup {
	return func(name string) (any, bool) {
		raw, ok := vars[name]
		if !ok {
			return nil, false
		}
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber() // all their digits
		var v any
		if err := d.Decode(&v); err != nil { // parseSets made it
			return nil, false
		}
		return v, true
	}
}

// pointed shows where in a text an error is, and gives it its code.
func (a *app) pointed(src string, err error, hint string) error {
	var e *expr.Error
	if !errors.As(err, &e) {
		return exit.New(exit.Invalid, "", err, "")
	}
	line, col := lineAt(src, e.Col)
	fmt.Fprintf(a.std.Err, "  %s\n  %s^\n", line, strings.Repeat(" ", col-1))
	return exit.New(exit.Invalid, "", err, hint)
}

// lineAt is the line of a text in which a column, counted over the whole text
// in characters from 1, lies, and its column in that line. What would move the
// caret is shown as a blank.
func lineAt(src string, col int) (string, int) {
	at := max(col-1, 0)
	for {
		line, rest, more := strings.Cut(src, "\n")
		n := len([]rune(line))
		if at <= n || !more {
			clean := strings.Map(func(r rune) rune {
				if r < ' ' || r == 0x7f {
					return ' '
				}
				return r
			}, line)
			return clean, min(at, n) + 1
		}
		at -= n + 1
		src = rest
	}
}
