package main

import (
	"fmt"
	"io"
)

// quiet is a log of the SDK that only says what is wrong.
type quiet struct{ w io.Writer }

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}

func (q quiet) Error(msg string, kv ...any) {
	fmt.Fprintln(q.w, append([]any{"belay: temporal:", msg}, kv...)...)
}
