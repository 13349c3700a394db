package client

import (
	"strings"
	"testing"

	"github.com/belay-run/belay/exit"
)

// A program that reaches Serve too late, or never, is told so: started again it
// did something else.
func TestAProgramThatServesTooLate(t *testing.T) {
	t.Parallel()
	end, err := listen(strings.NewReader("usage: tool [-v] FILE\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = end.result(t.Context(), t.TempDir(), "exit status 2\nunknown flag")
	if exit.Code(err) != exit.Infra || !strings.Contains(err.Error(), "did not act as Belay") {
		t.Errorf("%v", err)
	}
}
