//go:build linux

package supervise

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/redact"
)

const token = "Zq7vKx02LmNp48RtYw63BcDf15GhJs90"

// A secret over a place where a text is cut leaves no half behind, wherever in
// it the cut goes through.
//
// promise: L
func TestNoHalfSecrets(t *testing.T) {
	t.Parallel()
	hide := redact.New([]string{token})
	for _, border := range []int{200, 600, 2000, 2 << 10, 3 << 10, 4 << 10, 8 << 10, 64 << 10, 80 << 10} {
		for _, into := range []int{1, 12, len(token) - 1} {
			text := strings.Repeat("a ", border/2)[:border-into] + token + strings.Repeat(" b", 50<<10)
			var s transcript
			s.call("Bash", "go test "+text[8:], fine)
			s.call("Bash", "ls "+text[3:], fine)
			res := s.seen(t, hide.String)
			shown := fmt.Sprint(res.Tools, excerpt(text, hide.String), excerpt(text+text, hide.String))
			n := openNotebook(t.TempDir()+"/notes", hide)
			n.add(effect.NoteQuiet, text, nil)
			kept, _ := n.close()
			shown += kept[0].Text
			if leaked(shown) {
				t.Errorf("cut at %d, %d into it: a half is there", border, into)
			}
		}
	}
	// Many secrets make a text short: what was at its far end comes near.
	text := strings.Repeat(token+" ", 4000)
	if got := excerpt(text, hide.String); leaked(got) || !utf8.ValidString(got) {
		t.Errorf("%q", got)
	}
}

// leaked tells whether a part of the token that says something is in a text.
func leaked(text string) bool {
	return strings.Contains(text, token[:10]) || strings.Contains(text, token[len(token)-10:])
}

// promise: L
func TestNoHalfSecretsInFiles(t *testing.T) {
	t.Parallel()
	for _, cut := range []int{600, 2000, 2 << 10, 3 << 10, 4 << 10} {
		text := strings.Repeat("c ", cut/2)[:cut-12] + token + strings.Repeat(" d", 4<<10)
		script := fmt.Sprintf("- run: \"true %s\"\n- retry: 1\n- say: \"%s\"\n- error: {class: transient, text: \"%s\"}\n", text[5:], text, text)
		r := newRig(t).script(script)
		r.order.Secrets = []string{"MY_VALUE"}
		r.env = append(r.env, "MY_VALUE="+token)
		d := r.run()
		if d.Result.Cause == "" || d.Result.ToolCount != 1 {
			t.Fatalf("%+v: %.300s", d.Result, d.talk)
		}
		for _, path := range []string{r.order.Report, r.order.Notes} {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if leaked(string(b)) {
				t.Errorf("cut at %d: half a secret is in %s", cut, path)
			}
		}
	}
}
