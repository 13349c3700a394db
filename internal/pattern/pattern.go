// Package pattern holds regular expressions back until somebody needs them.
//
// Belay starts a process for every driver, keeper and attendant. Most of them
// never look at a text: compiling all that is known about texts took them longer
// than everything else that they did to start. It refuses nothing: a pattern that
// is wrong is found by the test of this package, which compiles every one.
package pattern

import (
	"regexp"
	"sync"
)

// Lazy is a regular expression that is compiled when it is first asked for.
func Lazy(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// Table is something made of many patterns, made when it is first asked for and
// once for the whole process. It must not change after that.
func Table[T any](from func() T) func() T { return sync.OnceValue(from) }
