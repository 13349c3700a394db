package supervise

import (
	"bytes"
	"strings"
	"testing"
)

// Two streams that speak in turns never cut each other's lines.
func TestWholeLines(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	shared := &tap{w: &log}
	out, err := whole{to: shared}, whole{to: shared}
	out.write([]byte("one\ntoken=s3cr"))
	err.write([]byte("warning\n"))
	out.write([]byte("3t\nla"))
	err.write([]byte("x"))
	out.write([]byte("st"))
	out.flush()
	err.flush()
	if got, want := log.String(), "one\nwarning\ntoken=s3cr3t\nlastx"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	out.write([]byte(strings.Repeat("a", maxHeld+1)))
	if len(out.held) != 0 {
		t.Errorf("%d bytes of a line without an end are held", len(out.held))
	}
}
