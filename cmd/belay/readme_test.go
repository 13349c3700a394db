package main_test

import (
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	escape   = regexp.MustCompile("\x1b\\[[0-9;]*m")
	svgTag   = regexp.MustCompile(`<[^>]*>`)
	duration = regexp.MustCompile(`\s+\(?\d+(\.\d+)?m?s\b`)
)

// The recipe of the README is that of an example, and its picture shows what a run of
// that example prints today.
func TestReadmeIsCurrent(t *testing.T) {
	t.Parallel()
	read := func(path ...string) string {
		b, err := os.ReadFile(filepath.Join(append([]string{"..", ".."}, path...)...))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	_, recipe, _ := strings.Cut(read("examples", "28-write-and-publish", "recipe.yaml"), "\n") // after the line for editors
	if !strings.Contains(read("README.md"), "```yaml\n"+recipe+"```\n") {
		t.Error("the recipe of the README is not that of examples/28-write-and-publish")
	}

	example := filepath.Join("..", "..", "examples", "28-write-and-publish")
	cmd := exec.Command(program, "--color", "always", "run", filepath.Join(example, "recipe.yaml"), "--id", "7a3k",
		"-C", t.TempDir(), "--agent", "scripted:"+filepath.Join(example, "script.yaml"))
	cmd.Env = append(os.Environ(), "BELAY_STATE="+filepath.Join(t.TempDir(), "state"))
	var printed strings.Builder
	cmd.Stdout, cmd.Stderr = &printed, &printed
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, printed.String())
	}
	shown := read("docs", "picture", "run.txt")
	want := duration.ReplaceAllString("$ belay run recipe.yaml\n"+printed.String()+"$ echo $?\n0\n", " TIME")
	if got := duration.ReplaceAllString(shown, " TIME"); got != want {
		t.Errorf("docs/picture/run.txt is stale (make picture):\n%s\nand today:\n%s", got, want)
	}
	drawn := svgTag.ReplaceAllString(read("docs", "picture", "run.svg"), "")
	if got, want := squeezed(html.UnescapeString(drawn)), squeezed(escape.ReplaceAllString(shown, "")); got != want {
		t.Errorf("docs/picture/run.svg is not drawn from run.txt (make picture): it shows\n%s\nand run.txt has\n%s", got, want)
	}
}

// squeezed is a text without its spaces and line breaks.
func squeezed(s string) string { return strings.Join(strings.Fields(s), "") }
