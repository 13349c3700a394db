//go:build !race

package main_test

// buildEnv makes the program under test as it is shipped.
const buildEnv = "CGO_ENABLED=0"

func buildFlags() []string { return nil }
