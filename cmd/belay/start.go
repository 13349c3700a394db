//go:build !windows

package main

import (
	"context"
	"os"
	"runtime/debug"

	"github.com/belay-run/belay/internal/cli"
)

func start() error {
	cli.Settle()
	return cli.Main(context.Background(), cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, os.Args[1:], os.Environ(), cli.Program{Version: stamp()})
}

// stamp is the version: the linker's, else what the toolchain knows.
func stamp() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && info.Main.Version == "(devel)" {
			return "(devel) " + s.Value
		}
	}
	return info.Main.Version
}
