// Package expr is the little language: conditions and {{names}} in text. It is
// total and bounded: every input gives a value or an error with a column, in
// time that grows with its length. It has no clock, no files and no effects.
package expr

// Lookup gives the value of a variable: nil, bool, float64, string, []any or
// map[string]any; false when there is no such name.
type Lookup func(name string) (any, bool)
