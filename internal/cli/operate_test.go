package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/story"
	"github.com/belay-run/belay/watch"
)

// The page for operators knows every stalemate and every halt, and what it tells
// people to type and to set is there.
//
// promise: N2
func TestPageForOperators(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../../docs/howto/operate.md")
	must(t, err)
	page := regexp.MustCompile(`(?s)<!--.*?-->`).ReplaceAllString(string(b), "") // what no reader sees
	rows := []string{
		"max_rounds", "regression", "re_raised_only", "synth_failure_at_round_cap",
		"synth_failure_promoted_on_resume", "synth_failure_stalemate_carried_over", story.StuckSame, story.StuckSaid,
	}
	for _, e := range watch.Events() {
		if e.Code != exit.OK && e.Code != exit.Window {
			rows = append(rows, string(e.Event))
		}
	}
	for _, r := range rows {
		if strings.Count(page, "\n| `"+r+"` |") != 1 {
			t.Errorf("the page has no row for %s", r)
		}
	}
	settings := config.Variables()
	for _, v := range regexp.MustCompile(`BELAY_[A-Z_]+`).FindAllString(page, -1) {
		if !slices.Contains(settings, v) {
			t.Errorf("%s sets nothing", v)
		}
	}
	scripts, err := filepath.Glob("../../cmd/belay/testdata/script/*.txtar")
	must(t, err)
	var typed strings.Builder
	for _, name := range scripts {
		text, err := os.ReadFile(name)
		must(t, err)
		typed.Write(text)
	}
	seen := 0
	for _, m := range regexp.MustCompile("(?m)`belay ([^`]+)`|^belay ([^#\n]+)").FindAllStringSubmatch(page, -1) {
		seen++
		if err := parses(strings.Fields(m[1] + m[2])); err != nil {
			t.Errorf("belay %s%s: %v", m[1], m[2], err)
		}
		if !asTyped(m[1] + m[2]).MatchString(typed.String()) {
			t.Errorf("belay %s%s: no script types that", m[1], m[2])
		}
	}
	if asTyped("resume ID --never").MatchString(typed.String()) {
		t.Error("everything counts as typed")
	}
	if seen < 30 {
		t.Errorf("only %d commands found: the test looks at too little", seen)
	}
}

// asTyped finds a command of the page as somebody types it.
func asTyped(command string) *regexp.Regexp {
	words := strings.Fields(command)
	for i, w := range words {
		w = regexp.QuoteMeta(w)
		for _, name := range []string{"ID", "STEP", "ITEM"} {
			w = regexp.MustCompile(`\b`+name+`\b`).ReplaceAllLiteralString(w, `[^\s:]+`)
		}
		if w == "TEXT" || w == "TASK" {
			w = `(?:'[^'\n]*'|[^\s-]\S*)(?: -[^\n]*)??`
		}
		words[i] = w
	}
	return regexp.MustCompile(`(?m)\bbelay (?:--\S+ \S+ )?` + strings.Join(words, " ") + `(?:\s|'|$)`)
}

// parses tells whether a command line is one, without doing it.
func parses(words []string) error {
	root := (&app{}).root(nil)
	cmd, rest, err := root.Find(words)
	if err != nil {
		return err
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return err
	}
	args := cobra.PositionalArgs(cobra.NoArgs)
	if cmd.Args != nil {
		args = cmd.Args
	}
	return args(cmd, cmd.Flags().Args())
}
