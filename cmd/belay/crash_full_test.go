//go:build linux && failpoints

package main

// parts is the whole suite.
func parts() []part {
	return []part{
		{"points", crashPoints},
		{"fence", crashFence},
		{"both", crashBoth},
		{"keeper", crashKeeper},
		{"random", crashRandom},
		{"full", crashFull},
		{"damage", crashDamage},
		{"drivers", crashDrivers},
		{"strays", crashStrays},
		{"panic", crashPanic},
		{"prune", crashPrune},
	}
}
