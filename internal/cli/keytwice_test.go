package cli

import (
	"fmt"
	"testing"
)

func TestKeyTwice(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"n":1,"n":2}`:                                             `n at 1:8, first in line 1`,
		"{\"a\": 1,\n  \"ä\": 2, \"a\": 3}":                         `a at 2:11, first in line 1`,
		`{"x":{"y":[1,{"z":"z","z":[]}]}}`:                          `z at 1:23, first in line 1`,
		`{"x":{"a":1},"b":[],"c":"b","x":null}`:                     `x at 1:29, first in line 1`,
		`{"a\\":1,"a\"":2,"\u0061\"":3}`:                            `a" at 1:18, first in line 1`,
		`{"a":{"a":{"a":"a"}},"b":[{"a":1},{"a":2},"a","a"],"A":3}`: "",
		`{}`: "",
	} {
		got := ""
		if key, first, at, twice := keyTwice([]byte(text)); twice {
			line, col := placeIn([]byte(text), at)
			first, _ := placeIn([]byte(text), first)
			got = fmt.Sprintf("%s at %d:%d, first in line %d", key, line, col, first)
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}
