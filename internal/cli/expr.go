package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/expr"
)

type exprOptions struct {
	sets  []string
	value bool
}

func (a *app) exprCommand() *cobra.Command {
	var o exprOptions
	cmd := command("expr EXPR", "try a condition: print whether it holds", 1, 1,
		func(_ context.Context, cmd *cobra.Command, args []string) error { return a.expr(cmd, args[0], o) })
	cmd.Flags().StringArrayVar(&o.sets, "set", nil, "a variable: NAME=VALUE; JSON unless it is text")
	cmd.Flags().BoolVar(&o.value, "value", false, "print the value itself, as JSON")
	return cmd
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
		var v any
		if err := json.Unmarshal(raw, &v); err != nil { // parseSets made it
			return nil, false
		}
		return v, true
	}
}

// pointed shows where in a text an error is, and gives it its code.
func (a *app) pointed(src string, err error, hint string) error {
	var e *expr.Error
	if !errors.As(err, &e) {
		return belay.Exit(belay.ExitInvalid, "", err, "")
	}
	line, col := lineAt(src, e.Col)
	fmt.Fprintf(a.std.Err, "  %s\n  %s^\n", line, strings.Repeat(" ", col-1))
	return belay.Exit(belay.ExitInvalid, "", err, hint)
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
