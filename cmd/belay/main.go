// Command belay runs recipes and survives its own death. This file is the only
// place that ends the process; everything else returns an error.
package main

import (
	"os"

	"github.com/belay-run/belay/exit"
)

// version is set by the linker in a release.
var version string

func main() { os.Exit(exit.Code(start())) }
