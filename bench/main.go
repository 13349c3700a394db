// Command bench measures Belay beside floors that it measures in the same run
// on the same machine: a loop of bash, fork and exec, fdatasync, the SQLite
// driver alone, another durable engine. Figures are ratios; a time by itself
// says more about the machine than about Belay.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// bench is one run of the benchmark.
type bench struct {
	dir    string
	belay  string
	rounds int
	goals  []goal
}

// goal is a figure that was aimed at.
type goal struct {
	what string
	have float64
	most float64
}

// section is a part of it that can be asked for by name.
type section struct {
	name string
	do   func() error
}

func run() error {
	rounds := flag.Int("rounds", 3, "how often each pair is measured")
	only := flag.String("only", "", "sections, separated by commas; empty = all")
	flag.Parse()
	dir, err := os.MkdirTemp("", "belay-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // the figures are printed; what is left is rubbish
	b := &bench{dir: dir, rounds: *rounds, belay: filepath.Join(dir, "belay")}
	if err := b.build(); err != nil {
		return err
	}
	sections := []section{
		{"floors", b.floors},
		{"steps", b.steps},
		{"parts", b.parts},
		{"flat", b.flat},
		{"parallel", b.parallel},
		{"runs", b.runs},
		{"watch", b.watch},
		{"one", b.one},
		{"gc", b.gc},
		{"appends", b.appends},
		{"dbos", b.dbos},
		{"temporal", b.temporal},
		{"resume", b.resume},
		{"start", b.start},
		{"memory", b.memory},
		{"redact", b.hide},
		{"validate", b.validate},
		{"agents", b.agents},
		{"evidence", b.evidence},
		{"do", b.task},
		{"talk", b.talk},
		{"decide", b.decide},
		{"grow", b.grow},
	}
	for name := range strings.SplitSeq(*only, ",") {
		if name != "" && !slices.ContainsFunc(sections, func(s section) bool { return s.name == name }) {
			return fmt.Errorf("there is no section %q", name)
		}
	}
	for _, s := range sections {
		if *only != "" && !strings.Contains(","+*only+",", ","+s.name+",") {
			continue
		}
		fmt.Printf("\n%s\n", s.name)
		if err := s.do(); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	b.verdict()
	return nil
}

// verdict lists the goals; a missed one is said, not hidden.
func (b *bench) verdict() {
	fmt.Printf("\ngoals\n")
	for _, g := range b.goals {
		word := "met"
		if g.have > g.most {
			word = "MISSED"
		}
		fmt.Printf("  %-6s  %-58s %8.2f  (at most %.2f)\n", word, g.what, g.have, g.most)
	}
}

func (b *bench) goal(what string, have, most float64) {
	b.goals = append(b.goals, goal{what, have, most})
}

func row(what string, format string, args ...any) {
	fmt.Printf("  %-46s %s\n", what, fmt.Sprintf(format, args...))
}
