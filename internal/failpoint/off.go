//go:build !failpoints || !linux

package failpoint

// Armed tells whether this binary can die at its failpoints.
const Armed = false

// Hit marks a point at which a test may end or hold the process. In this
// build it does nothing.
func Hit(name string) {}
