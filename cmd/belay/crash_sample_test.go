//go:build linux && !failpoints

package main

// parts is the short sample that runs with all other tests.
func parts() []part {
	return []part{
		{"random", crashRandom},
		{"drivers", crashDrivers},
		{"strays", crashStrays},
	}
}
