// Package leak holds that tests leave no goroutine behind: every one has an owner
// who waits for it.
package leak

import "go.uber.org/goleak"

type suite func() int

func (s suite) Run() int { return s() }

// None runs tests and looks for goroutines that are still there after them. It is
// the exit code.
func None(run func() int) int {
	code := 0
	goleak.VerifyTestMain(suite(run), goleak.Cleanup(func(c int) { code = c }))
	return code
}
