package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/belay-run/belay/exit"
)

func start() error {
	_ = version // a release for Windows has one too, and nothing to say with it
	fmt.Fprintln(os.Stderr, "belay does not run on Windows yet: it needs Unix process groups and locks")
	return exit.New(exit.Usage, "", errors.New("wrong platform"), "")
}
