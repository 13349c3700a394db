//go:build race

package main_test

// buildEnv lets the program under test watch itself, as the tests do.
const buildEnv = "CGO_ENABLED=1"

func buildFlags() []string { return []string{"-race"} }
