package proc

import (
	"bytes"
	"errors"
	"io/fs"
	"os/exec"
	"strings"
	"testing"
)

// What a command printed before its end is there, however late we come to read it,
// and a child that holds the pipes is neither waited for nor a failure.
func TestCaptureLosesNothing(t *testing.T) {
	t.Parallel()
	const script = `sleep 300 & echo $! >&2; head -c 60000 /dev/zero; echo last words >&2; exit `
	for _, code := range []string{"0", "3"} {
		var out, talk bytes.Buffer
		cmd := exec.Command("bash", "-c", script+code)
		err := Capture(cmd, 0, &out, &talk) // its time is over at once
		pid, last, _ := strings.Cut(talk.String(), "\n")
		if out.Len() != 60000 || last != "last words\n" || cmd.ProcessState.ExitCode() != int(code[0]-'0') || (err == nil) != (code == "0") {
			t.Errorf("exit %s: %d bytes, %q, %v, %v", code, out.Len(), last, cmd.ProcessState, err)
		}
		if err := exec.Command("kill", pid).Run(); err != nil {
			t.Errorf("the child is gone: %v", err)
		}
	}
	var both bytes.Buffer
	cmd := exec.Command("bash", "-c", "echo a; echo b >&2; echo c")
	cmd.Stdin = bytes.NewReader(make([]byte, 1<<20)) // it does not read it
	if err := Capture(cmd, 0, &both, nil); err != nil || both.String() != "a\nb\nc\n" {
		t.Errorf("%q, %v", both.String(), err)
	}
	if err := Capture(exec.Command("/no/such/program"), 0, &both, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no program: %v", err)
	}
}
