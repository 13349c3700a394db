// Package scratch puts the files that tests make into memory, where there is
// enough of it. Tests make and remove many thousand small files, which on a disk
// is half of the time that they spend in the kernel.
package scratch

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"golang.org/x/sys/unix"
)

const (
	memory = "/dev/shm"
	least  = 6 << 30  // bytes that must be free in it
	spare  = 12 << 30 // and in the machine
)

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

// roomy tells whether memory can hold what the tests write.
func roomy() bool {
	var fs unix.Statfs_t
	var info unix.Sysinfo_t
	if runtime.GOOS != "linux" || unix.Statfs(memory, &fs) != nil || unix.Sysinfo(&info) != nil {
		return false
	}
	const tmpfs = 0x01021994
	free := fs.Bavail * uint64(fs.Bsize) //nolint:gosec // never negative
	return fs.Type == tmpfs && free >= least && (info.Freeram+info.Bufferram)*uint64(info.Unit) >= spare/2
}

// runs tells whether programs can be started in a folder.
func runs(dir string) bool {
	probe := filepath.Join(dir, "probe")
	if os.WriteFile(probe, []byte("#!/bin/sh\n"), 0o700) != nil { //nolint:gosec // a program
		return false
	}
	defer func() { _ = os.Remove(probe) }() // the folder goes anyway
	return exec.Command(probe).Run() == nil
}
