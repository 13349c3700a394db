// Command model serves the scripted model on loopback, for trying an agent CLI
// by hand: it prints the address and plays until it is interrupted. It reaches
// no model and no network.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/belay-run/belay/belaytest/model"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "model:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("model", flag.ContinueOnError)
	steps := flags.String("behaviour", "text", "what it does; several, by number of the call, with commas between")
	port := flags.Int("port", 0, "port on 127.0.0.1; 0 = a free one")
	text := flags.String("text", "", "the final answer")
	file := flags.String("file", "", "the file that a tool is asked to write: an absolute path")
	content := flags.String("content", "written by an agent\n", "what is written into it")
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("read the command line: %w", err)
	}
	script := model.Script{Text: *text, File: *file, Content: *content}
	for step := range strings.SplitSeq(*steps, ",") {
		script.Steps = append(script.Steps, model.Behaviour(step))
	}
	s, err := model.Listen(script, *port) //nolint:contextcheck // it listens until it is closed
	if err != nil {
		return err
	}
	defer s.Close()
	fmt.Fprintln(out, s.URL())
	<-ctx.Done()
	kept, all := s.Requests()
	for _, r := range kept {
		fmt.Fprintf(out, "%s %s call %d, %d bytes\n", r.Method, r.Path, r.Call, len(r.Body))
	}
	fmt.Fprintf(out, "%d requests, %d of them calls of the model\n", all, s.Calls())
	return nil
}
