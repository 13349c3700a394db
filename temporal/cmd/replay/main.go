// Command replay plays histories of runs again with the workflow of this version, as
// a worker would that takes them over: before workers of a new version are started, it
// says whether they can go on with what is under way. With -strict every turn is decided
// again as well, and must be the same. Histories are files as `temporal workflow show
// --output json` writes them; they may be packed with gzip.
package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	historypb "go.temporal.io/api/history/v1"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/temporal"
)

func main() {
	strict := flag.Bool("strict", false, "decide every turn again; it must be the same")
	blobs := flag.String("blobs", "", "the directory for big payloads (--blobs of the workers)")
	flag.Parse()
	code := exit.OK
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "replay: name files with histories")
		code = exit.Usage
	}
	for _, file := range flag.Args() {
		if err := replay(file, *blobs, *strict); err != nil {
			fmt.Fprintf(os.Stdout, "%s: %v\n", file, err)
			code = exit.Failed
			continue
		}
		fmt.Fprintf(os.Stdout, "%s: ok\n", file)
	}
	os.Exit(int(code))
}

func replay(file, blobs string, strict bool) error {
	h, err := read(file)
	if err != nil {
		return err
	}
	r, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{DataConverter: temporal.Codec{Dir: blobs}.Converter()})
	if err != nil {
		return err
	}
	r.RegisterWorkflowWithOptions(temporal.Workflows{Strict: strict}.Tree, workflow.RegisterOptions{Name: temporal.TreeWorkflow})
	return r.ReplayWorkflowHistory(sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)), h)
}

func read(file string) (*historypb.History, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(file, ".gz") {
		z, err := gzip.NewReader(bytes.NewReader(raw))
		if err != nil {
			return nil, err
		}
		raw, err = io.ReadAll(z)
		if err = errors.Join(err, z.Close()); err != nil {
			return nil, err
		}
	}
	h := &historypb.History{}
	return h, protojson.Unmarshal(raw, h)
}
