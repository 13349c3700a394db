package main_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/belay-run/belay/belaytest/scratch"
)

// What a page says about its blocks to this test is in comments that a reader does
// not see:
//
//	<!-- not typed: REASON -->    the next block is skipped, and the reason is printed
//	<!-- typed as NAME -->        the next block is saved under this name
//	<!-- typed, exit N -->        the next block ends with this code; any: nobody can know
//	<!-- typed prints -->         the next block is what the one before it prints; … is anything
//	<!-- typed if TOOL -->        the next block is skipped where the tool is not installed
//	<!-- typed at length -->      the next block takes long, and is typed by make long
//	<!-- typed with ID=night -->  what the words of the page stand for, from here on
//	<!-- typed before             what the reader has done already
//	COMMANDS
//	-->
//	<!-- typed after             and what is looked at behind the last block
//	COMMANDS
//	-->
var (
	pageParts = regexp.MustCompile("(?ms)^<!-- (not typed: |typed)(.*?)-->$|^```([a-z]*)\n(.*?)^```$")
	heldWith  = regexp.MustCompile(`(\S+)=(\S+)`)
)

// reader is somebody who types pages, one after the other, in one state directory.
type reader struct {
	home  string
	root  string // the repository
	typed int
}

func newReader(t *testing.T) *reader {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	r := &reader{home: t.TempDir(), root: root}
	bin := filepath.Join(r.home, "go", "bin") // where go install puts it
	if err := errors.Join(os.MkdirAll(bin, 0o700), os.Symlink(program, filepath.Join(bin, "belay"))); err != nil {
		t.Fatal(err)
	}
	return r
}

// environ is that of a reader who has logged in, and has set no variable of Belay.
func (r *reader) environ() []string {
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "BELAY_") || strings.HasPrefix(kv, "XDG_") })
	return append(env, "PATH="+filepath.Dir(program)+string(os.PathListSeparator)+os.Getenv("PATH"), "HOME="+r.home,
		"GIT_AUTHOR_NAME=me", "GIT_AUTHOR_EMAIL=me@example.org", "GIT_COMMITTER_NAME=me", "GIT_COMMITTER_EMAIL=me@example.org",
		"GOCACHE="+goCache(), "GOMODCACHE="+goModCache(), "RUSTUP_HOME="+rustupHome(), "PAGER=cat", "TZ=UTC")
}

// block is a part of a page that is for the test.
type block struct {
	lang, text, name, tool, skip, exit, before string
	prints                                     bool
}

// blocksOf reads a page; a block without a language is refused, because nobody can
// tell whether it is to be typed.
func blocksOf(t *testing.T, file string) []block {
	t.Helper()
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var blocks []block
	var next block
	var words []string
	for _, m := range pageParts.FindAllStringSubmatch(string(page), -1) {
		note, said := m[1], strings.TrimSpace(m[2])
		switch {
		case note == "not typed: ":
			next.skip = said
		case strings.HasPrefix(said, "as "):
			next.name = said[len("as "):]
		case strings.HasPrefix(said, ", exit "):
			next.exit = said[len(", exit "):]
		case said == "prints":
			next.prints = true
		case strings.HasPrefix(said, "if "):
			next.tool = said[len("if "):]
		case said == "at length":
			if os.Getenv("BELAY_LONG") == "" {
				next.skip = "it takes long: make long types it"
			}
		case strings.HasPrefix(said, "with "):
			for _, w := range heldWith.FindAllStringSubmatch(said, -1) {
				words = append([]string{w[1], w[2]}, words...) // the last one counts
			}
		case strings.HasPrefix(said, "before"):
			next.before += said[len("before"):] + "\n"
		case strings.HasPrefix(said, "after"):
			blocks = append(blocks, block{before: said[len("after"):] + "\n"})
		case note != "":
			t.Errorf("%s: a comment that is not understood: %s", file, m[0])
		case m[3] == "":
			t.Errorf("%s: a block without a language:\n%s", file, m[4])
		default:
			next.lang, next.text = m[3], strings.NewReplacer(words...).Replace(m[4])
			blocks = append(blocks, next)
			next = block{}
		}
	}
	return blocks
}

// script types the blocks of a page in one terminal, and stops at the first command
// that ends otherwise than the page says.
func (r *reader) script(t *testing.T, blocks []block) string {
	t.Helper()
	var b strings.Builder
	for i, x := range blocks {
		if x.skip == "" && x.tool != "" {
			if _, err := exec.LookPath(x.tool); err != nil {
				x.skip = x.tool + " is not installed"
			}
		}
		fmt.Fprintf(&b, "echo '== block %d' >&2; set -e\n%s", i, x.before)
		switch {
		case x.skip != "":
			t.Logf("not typed: %s:\n%s", x.skip, x.text)
		case x.name != "":
			fmt.Fprintf(&b, "cat > %s <<'END OF FILE'\n%sEND OF FILE\n", x.name, x.text)
		case x.lang == "cron":
			b.WriteString(r.cron(x))
		case x.lang == "sh" && x.exit != "":
			r.typed++
			fmt.Fprintf(&b, "set +e; exec 5>&1 > \"$PRINTED/%d\"\n%scode=$?; exec >&5; cat \"$PRINTED/%d\"\n", i, x.text, i)
			if x.exit != "any" {
				fmt.Fprintf(&b, "[ $code = %s ] || { echo exit $code; exit 1; }\n", x.exit)
			}
		case x.lang == "sh":
			r.typed++
			b.WriteString(x.text)
		}
	}
	return b.String()
}

// cronLine is a line of a crontab: five fields, and what is given to the shell.
var cronLine = regexp.MustCompile(`^(?:\S+\s+){5}(.*)$`)

// cron types the lines of a crontab as cron does: with next to no environment, and
// with sh. The codes that lines may end with stand in their order.
func (r *reader) cron(x block) string {
	var b strings.Builder
	codes := strings.Fields(x.exit)
	for i, line := range strings.Split(strings.TrimSpace(x.text), "\n") {
		r.typed++
		allowed := "0"
		if i < len(codes) {
			allowed = codes[i]
		}
		fmt.Fprintf(&b, "set +e\nenv -i HOME=\"$HOME\" LOGNAME=me SHELL=/bin/sh PATH=/usr/bin:/bin sh -c %s\n", quoted(cronLine.FindStringSubmatch(line)[1]))
		fmt.Fprintf(&b, "code=$?; case ,%s, in *,$code,*) ;; *) cat ~/*.log; echo exit $code; exit 1;; esac\n", allowed)
	}
	return b.String()
}

func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// follow types a page in a directory.
func (r *reader) follow(t *testing.T, file, dir string) {
	t.Helper()
	blocks, printed := blocksOf(t, file), t.TempDir()
	cmd := exec.Command("bash", "-c", r.script(t, blocks))
	var out bytes.Buffer
	cmd.Dir, cmd.Env = dir, append(r.environ(), "PAGE="+file, "PRINTED="+printed)
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		text := out.String()
		t.Errorf("%s: %v, after\n%s", file, err, text[max(0, len(text)-4000):])
	}
	for i, x := range blocks {
		if !x.prints {
			continue
		}
		got, err := os.ReadFile(filepath.Join(printed, strconv.Itoa(i-1)))
		if err != nil || !flowing(x.text).MatchString(strings.Join(strings.Fields(string(got)), " ")) {
			t.Errorf("%s promises\n%s\nand this was printed (%v):\n%s", file, x.text, err, got)
		}
	}
}

// howtos are typed page by page, each in a directory of its own.
func (r *reader) howtos(t *testing.T) {
	t.Helper()
	pages, err := filepath.Glob(filepath.Join(r.root, "docs", "howto", "*.md"))
	if err != nil || len(pages) < 25 {
		t.Fatalf("%d pages: %v", len(pages), err)
	}
	for _, page := range pages {
		t.Run(strings.TrimSuffix(filepath.Base(page), ".md"), func(t *testing.T) {
			r.follow(t, page, t.TempDir())
		})
	}
	if r.typed < 30 {
		t.Errorf("only %d blocks were typed", r.typed)
	}
}

// TestHowtosAsTyped types every command block of the pages that say how to do
// something, in their order and in one state directory.
func TestHowtosAsTyped(t *testing.T) {
	t.Parallel()
	r := newReader(t)
	r.howtos(t)
	if err := errors.Join(checkJournals(r.home), nothingLeft(r.home)); err != nil {
		t.Error(err)
	}
}

// TestLongPagesAsTyped types what a new reader reads first, in the order in which the
// manual has it: the README, the tutorials, the pages that say how to do something.
// All of it goes into one state directory, and no block may trip over another.
func TestLongPagesAsTyped(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	r := newReader(t)
	t.Run("readme", func(t *testing.T) { r.follow(t, filepath.Join(r.root, "README.md"), r.root) })
	for _, page := range tutorials(t) {
		followTutorial(t, r, page)
	}
	r.howtos(t)
	if err := errors.Join(checkJournals(r.home), nothingLeft(r.home)); err != nil {
		t.Error(err)
	}
}

// tutorials are the pages to learn from, in the order of the manual.
func tutorials(t *testing.T) []string {
	t.Helper()
	docs := filepath.Join("..", "..", "docs")
	manual, err := os.ReadFile(filepath.Join(docs, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var pages []string
	for _, m := range regexp.MustCompile(`\((tutorial/[a-z-]+\.md)\)`).FindAllStringSubmatch(string(manual), -1) {
		pages = append(pages, filepath.Join(docs, m[1]))
	}
	all, err := filepath.Glob(filepath.Join(docs, "tutorial", "*.md"))
	if err != nil || len(pages) < 2 || len(pages) != len(all) {
		t.Fatalf("the manual has %d tutorials, and there are %d: %v", len(pages), len(all), err)
	}
	return pages
}
