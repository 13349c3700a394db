// Package scratch is what tests share of the machine. The files that they make
// are in memory, where there is enough of it: tests make and remove many thousand
// small files, which on a disk is half of the time that they spend in the kernel.
// And tests that wait run side by side.
package scratch

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
)

// memory is where files in memory lie.
const memory = "/dev/shm"

// Use runs tests with their temporary files in memory, unless somebody chose a
// place for them, and removes what they leave.
func Use(run func() int) int {
	if os.Getenv("TMPDIR") != "" || !roomy() {
		return run()
	}
	dir, err := os.MkdirTemp(memory, "b") // short: sockets have short paths
	if err != nil {
		return run()
	}
	defer func() { _ = os.RemoveAll(dir) }() // what is left there is gone with the machine
	if !runs(dir) || os.Setenv("TMPDIR", dir) != nil {
		return run()
	}
	return run()
}

// runs tells whether programs can be started in a folder.
func runs(dir string) bool {
	probe := filepath.Join(dir, "probe")
	if os.WriteFile(probe, []byte("#!/bin/sh\n"), 0o700) != nil { //nolint:gosec // a program
		return false
	}
	defer func() { _ = os.Remove(probe) }() // the folder goes anyway
	return exec.CommandContext(context.Background(), probe).Run() == nil
}
