package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/verdict"
)

// maxErrorText is how much of the end of an error text is kept: the rules look
// at its last lines only.
const maxErrorText = 256 << 10

// maxTableLine is the longest line of a table of failures.
const maxTableLine = 1 << 20

type classifyOptions struct {
	exit   string
	signal int
	tool   string
	file   string
	json   bool
}

func (a *app) classifyCommand() *cobra.Command {
	var o classifyOptions
	cmd := command("classify", "classify a failure by its text and exit code, and print the first recovery", 0, 0,
		func(_ context.Context, cmd *cobra.Command, _ []string) error { return a.classify(cmd, o) })
	cmd.Long = `classify reads what a tool printed from standard input and gives the failure a
class, the first move against it, and the level of evidence that decided.

With --file it reads a table: cells parted by tabs, the columns named in the first
line (message and exit; tool if there is one), \n for a new line in a message, - for
an exit code that is not known.`
	f := cmd.Flags()
	f.StringVar(&o.exit, "exit", "-", "the exit code; - is unknown")
	f.IntVar(&o.signal, "signal", 0, "the signal that ended it")
	f.StringVar(&o.tool, "tool", "", "the program that failed: git, curl, npm, claude, … (default: found from the text)")
	f.StringVar(&o.file, "file", "", "a table of failures; - is stdin")
	f.BoolVar(&o.json, "json", false, "print one JSON object for each failure")
	return cmd
}

func (a *app) classify(cmd *cobra.Command, o classifyOptions) error {
	code, err := parseExit(o.exit)
	if err != nil {
		return usage(cmd, fmt.Errorf("--exit %w", err))
	}
	if o.signal < 0 || o.signal > 64 {
		return usage(cmd, fmt.Errorf("--signal %d: must be between 1 and 64", o.signal))
	}
	if o.file != "" {
		for _, name := range []string{"exit", "signal", "tool"} {
			if cmd.Flags().Changed(name) {
				return usage(cmd, fmt.Errorf("--%s and --file do not go together: the table has it", name))
			}
		}
		return a.classifyTable(o)
	}
	text, err := lastOf(os.Stdin, maxErrorText)
	if err != nil {
		return exit.New(exit.Invalid, "read error text", err, "")
	}
	found := verdict.Classify(verdict.Facts{Text: text, Exit: code, Signal: o.signal, Tool: o.tool})
	if o.json {
		a.object(found)
		return nil
	}
	a.out.line("class        %s", found.Class)
	a.out.line("strategy     %s", found.Move)
	a.out.line("decided by   %s: %s (%s)", found.Level, levelWords(found.Level), found.Rule)
	if found.Tool != "" {
		a.out.line("tool         %s", readable.Clean(found.Tool))
	}
	a.out.line("fingerprint  %s", found.Fingerprint)
	return nil
}

// tableLine is the finding about one row of a table.
type tableLine struct {
	Row int `json:"row"`
	verdict.Finding
}

func (a *app) classifyTable(o classifyOptions) (err error) {
	in := io.Reader(os.Stdin)
	if o.file != "-" {
		f, err := os.Open(o.file)
		if err != nil {
			return exit.New(exit.Invalid, "read table", err, "")
		}
		defer func() { _ = f.Close() }() // read only: nothing to lose
		in = f
	}
	c := verdict.NewClassifier()
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxTableLine)
	columns := []string{"message", "exit"}
	for n, row := 1, 0; lines.Scan(); n++ {
		line := strings.TrimSuffix(lines.Text(), "\r")
		cells := strings.Split(line, "\t")
		if n == 1 && slices.Contains(cells, "message") {
			columns = cells
			continue
		}
		if line == "" {
			continue
		}
		facts, err := rowFacts(columns, cells)
		if err != nil {
			return exit.New(exit.Invalid, "read table", fmt.Errorf("line %d: %w", n, err), "cells are parted by tabs: message, exit, …")
		}
		row++
		a.printRow(tableLine{row, c.Classify(facts)}, facts.Text, o.json)
	}
	if err := lines.Err(); err != nil {
		return exit.New(exit.Invalid, "read table", err, "")
	}
	return nil
}

func (a *app) printRow(l tableLine, text string, asJSON bool) {
	if asJSON {
		a.object(l)
		return
	}
	first, _, _ := strings.Cut(text, "\n")
	a.out.line("%4d  %-14s  %-11s  %s  %-22s  %.60s", l.Row, l.Class, l.Move, l.Level, l.Rule, readable.Clean(first))
}

// rowFacts reads one row of a table by the names of its columns.
func rowFacts(columns, cells []string) (verdict.Facts, error) {
	f := verdict.Facts{Exit: verdict.NoExit}
	for i, name := range columns {
		if i >= len(cells) {
			if name == "message" || name == "exit" {
				return f, fmt.Errorf("there is no cell for %s", name)
			}
			continue
		}
		switch name {
		case "message":
			f.Text = strings.ReplaceAll(cells[i], `\n`, "\n")
		case "tool":
			f.Tool = cells[i]
		case "exit":
			exit, err := parseExit(cells[i])
			if err != nil {
				return f, fmt.Errorf("exit %w", err)
			}
			f.Exit = exit
		}
	}
	return f, nil
}

// parseExit reads an exit code; "-" is one that nobody knows.
func parseExit(text string) (int, error) {
	if text == "-" || text == "" {
		return verdict.NoExit, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > 255 {
		return 0, fmt.Errorf("%q: must be a number from 0 to 255, or -", text)
	}
	return n, nil
}

func levelWords(l belay.Level) string {
	switch l {
	case belay.LevelAct:
		return "our own act"
	case belay.LevelTyped:
		return "the agent's own record"
	case belay.LevelProcess:
		return "how the process ended"
	case belay.LevelProbe:
		return "a look at the machine"
	case belay.LevelRepeat:
		return "the same again without a change"
	case belay.LevelText:
		return "what the text says"
	case belay.LevelUnknown:
	}
	return "nothing; one more try is all it gets"
}

// lastOf reads a stream to its end and keeps its last n bytes.
func lastOf(r io.Reader, n int) (string, error) {
	var kept []byte
	part := make([]byte, 64<<10)
	for {
		got, err := r.Read(part)
		kept = append(kept, part[:got]...)
		if len(kept) > 2*n {
			kept = append(kept[:0], kept[len(kept)-n:]...)
		}
		switch {
		case errors.Is(err, io.EOF):
			return string(kept[max(0, len(kept)-n):]), nil
		case err != nil:
			return "", err
		}
	}
}
