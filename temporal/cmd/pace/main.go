// Command pace says how fast a Temporal server takes steps: those of a bare workflow,
// and those of Belay's runs. make bench starts it. It reads orders from its input, a
// line each, and answers each with a line of JSON:
//
//	bare noop|bash STEPS RUNS    workflows of this program, with its own worker
//	belay RECIPE STEPS RUNS      runs of a recipe, which the worker of belay-temporal makes
//
// What it measures is in the histories: both sides are timed by the server.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/temporal"
)

func main() {
	if err := start(); err != nil {
		fmt.Fprintln(os.Stderr, "pace:", err)
		os.Exit(int(exit.Infra))
	}
}

func start() error {
	address := flag.String("address", client.DefaultHostPort, "the server")
	queue := flag.String("queue", "pace", "task queue of Belay's worker; that of the bare one has -bare after it")
	host := flag.String("host", "pace", "name of Belay's worker")
	state := flag.String("state", "", "state directory of the client")
	work := flag.Bool("work", false, "be the bare worker, until SIGTERM")
	slots := flag.Int("slots", 0, "attempts at the same time, of the bare worker (default: as many as the SDK allows)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	c, err := client.Dial(client.Options{HostPort: *address, Logger: silent{}, DataConverter: temporal.Codec{}.Converter()})
	if err != nil {
		return fmt.Errorf("reach the server: %w", err)
	}
	defer c.Close()
	if *work {
		return bareWorker(ctx, c, *queue+"-bare", *slots)
	}
	p := pace{client: c, queue: *queue, host: *host, state: *state}
	out := json.NewEncoder(os.Stdout)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		got, err := p.order(ctx, strings.Fields(lines.Text()))
		if err == nil {
			err = out.Encode(got)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", lines.Text(), err)
		}
	}
	return lines.Err()
}

// pace measures.
type pace struct {
	client             client.Client
	queue, host, state string
	n                  int // orders so far
}

// order does one order.
func (p *pace) order(ctx context.Context, words []string) (Measured, error) {
	if len(words) != 4 {
		return Measured{}, fmt.Errorf("want four words")
	}
	steps, err := strconv.Atoi(words[2])
	if err != nil {
		return Measured{}, err
	}
	runs, err := strconv.Atoi(words[3])
	if err != nil {
		return Measured{}, err
	}
	p.n++
	var ids []string
	switch words[0] {
	case "bare":
		ids, err = p.bare(ctx, words[1], steps, runs)
	case "belay":
		ids, err = p.belay(ctx, words[1], runs)
	default:
		err = fmt.Errorf("no order %q", words[0])
	}
	if err != nil {
		return Measured{}, err
	}
	return p.measure(ctx, ids, steps)
}

// silent is a log for nobody.
type silent struct{}

func (silent) Debug(string, ...any) {}
func (silent) Info(string, ...any)  {}
func (silent) Warn(string, ...any)  {}
func (silent) Error(string, ...any) {}

// fresh is an id that no earlier order had.
func (p *pace) fresh(kind string, i int) string {
	return fmt.Sprintf("%s-%d-%d-%d-%d", kind, os.Getpid(), time.Now().UnixNano(), p.n, i)
}
