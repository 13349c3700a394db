// Command sums prints what many agents at once cost a Temporal service, as Markdown:
// from a file with what a step costs, as TestSizes measured it, and from flags.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"

	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/temporal/sizing"
)

func main() {
	t := sizing.Usual()
	for name, f := range map[string]struct {
		to    *float64
		usage string
	}{
		"agents":  {&t.Agents, "agents at the same time"},
		"minutes": {&t.Minutes, "minutes that an agent step takes"},
		"beat":    {&t.Beat, "seconds between the heartbeats of an attempt"},
		"look":    {&t.Look, "seconds between two queries of a client that follows a quiet run"},
		"prove":   {&t.Prove, "seconds between its looks whether the workflow is there"},
		"days":    {&t.Days, "days of retention"},
		"gib":     {&t.GiB, "GiB of memory for an agent"},
		"machine": {&t.Machine, "GiB of memory of a worker"},
		"blobs":   {&t.Blobs, "KB of big outputs of a step"},
		"price":   {&t.Price, "price of a million actions of a cloud service; 0 = not said"},
	} {
		flag.Float64Var(f.to, name, *f.to, f.usage)
	}
	file := flag.String("measured", "testdata/step.json", "what a step costs, as TestSizes keeps it")
	flag.Parse()
	b, err := os.ReadFile(*file)
	var s sizing.Step
	if err == nil {
		err = json.Unmarshal(b, &s)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "sums:", err)
		os.Exit(int(exit.Infra))
	}
	fmt.Fprint(os.Stdout, sizing.Table(t, s))
}
