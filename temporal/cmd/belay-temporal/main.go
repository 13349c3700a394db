// Command belay-temporal is belay with a second engine: runs are driven by Temporal,
// and any number of machines make their attempts. This file is the only place that
// ends the process.
package main

import (
	"context"
	"os"
	"runtime/debug"

	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/cli"
	"github.com/belay-run/belay/temporal"
)

// version is set by the linker in a release.
var version string

func main() { os.Exit(exit.Code(start())) }

func start() error {
	v := version
	if info, ok := debug.ReadBuildInfo(); ok && v == "" {
		v = info.Main.Version
	}
	std := cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
	return cli.Main(context.Background(), std, os.Args[1:], os.Environ(), cli.Program{Name: temporal.Program, Version: v, Engine: &other{version: v}})
}
