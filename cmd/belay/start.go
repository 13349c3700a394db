//go:build !windows

package main

import (
	"context"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/belay-run/belay/internal/cli"
)

func start() error {
	// Keepers, attendants and steps work in other directories: what a relative
	// path means here it must mean there.
	if file := os.Getenv("BELAY_CONFIG"); file != "" && !filepath.IsAbs(file) {
		if abs, err := filepath.Abs(file); err == nil { // else whoever reads the file says what is wrong
			_ = os.Setenv("BELAY_CONFIG", abs) // the name is fine and so is the value
		}
	}
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
