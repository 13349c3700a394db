package spelling

import (
	"strings"
	"testing"
)

func TestNear(t *testing.T) {
	t.Parallel()
	known := []string{"command", "condition", "context", "timeout", "id"}
	for word, want := range map[string]string{
		"comand": "command", "COMMAND": "command", "conditoin": "condition", "timeuot": "timeout", "contxt": "context",
		"di": "id", "zebra": "", "x": "", "": "", strings.Repeat("command", 20): "",
	} {
		if got := Near(word, known); got != want {
			t.Errorf("near %q is %q, want %q", word, got, want)
		}
	}
}
