// Package shown is what tests tell to who does not read their logs: the figures that
// they measured, and what they could not show on this machine. Both are lines of the file
// that BELAY_FIGURES names; make test-temporal prints them at its end.
package shown

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

// File is the variable that names the file.
const File = "BELAY_FIGURES"

// Figure tells what a test measured.
func Figure(t testing.TB, format string, args ...any) {
	t.Helper()
	text := fmt.Sprintf(format, args...)
	t.Log(text)
	tell(t, t.Name()+": "+text)
}

// Not ends a test that cannot be made here, and says why.
func Not(t testing.TB, format string, args ...any) {
	t.Helper()
	why := fmt.Sprintf(format, args...)
	tell(t, "not shown: "+t.Name()+": because "+why)
	t.Skip(why)
}

// tell adds a text to the file, in one write: tests of several programs run at the same
// time. Further lines of it are set in, so that each text begins at the edge.
func tell(t testing.TB, text string) {
	t.Helper()
	name := os.Getenv(File)
	if name == "" {
		return
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(strings.ReplaceAll(text, "\n", "\n    ") + "\n")
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Error(err)
	}
}
