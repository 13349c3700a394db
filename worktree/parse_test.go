package worktree

import (
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/belay-run/belay"
)

// nameless are scripts in which the parser sees a function without a name.
var nameless = []string{"() ls", "() => x", "()\nls", "go test; () x", "go test && bash -c '() x'", "bash -c '() go test'", "() git commit -m x", "x=$(() ls); go test"}

// No script of an agent breaks a reader, and what nobody understands may do
// anything.
func TestReadersOfScriptsHold(t *testing.T) {
	t.Parallel()
	for _, script := range nameless {
		if broken := readers(script); broken != "" {
			t.Errorf("%q: %s broke", script, broken)
		}
		if seen := lookAt(script); seen.Tests && !seen.Unsure && !strings.HasPrefix(script, "go test") {
			t.Errorf("%q: %+v", script, seen)
		}
	}
}

// readers has both readers read a script, and names the one that broke.
func readers(script string) string {
	s := newShellReader(nil, true)
	s.read(script, true)
	if s.broken {
		return "the reader of deeds"
	}
	if w, _ := seek(script, func([]string) bool { return false }); w.broken {
		return "the seeker"
	}
	return ""
}

// The door holds when somebody behind it breaks.
func TestABrokenReaderIsAnError(t *testing.T) {
	t.Parallel()
	breaks := func(words []string) bool { return words[len(words)] == "" }
	if s, end := seek("ls", breaks); s.come || end != lost || !s.broken || !s.unread {
		t.Error("a reader that broke knows an answer")
	}
	s, end := seek("bash -c ls; go test", func(words []string) bool { return words[0] == "go" || breaks(words) })
	if !s.come || !s.broken || s.unread || end != lost {
		t.Error("a reader that broke inside of another is not told, or takes the other along")
	}
}

// A short command that would make a long text is not followed: it may do
// anything, and costs little.
func TestWordsOfScriptsAreBounded(t *testing.T) { //nolint:paralleltest // it measures memory
	const most = 100 << 20
	for name, script := range map[string]string{
		"doubled":        "a=xxxxxxxx; " + strings.Repeat("a=$a$a; ", 60) + "echo $a",
		"doubled quoted": "a=xxxxxxxx; " + strings.Repeat(`a="$a$a"; `, 60) + "echo $a",
		"many parts":     `echo "` + strings.Repeat("$a ", 20_000) + `"`,
		"many rounds":    "for a in " + strings.Repeat("x ", 50) + `; do echo "` + strings.Repeat("$a ", 15_000) + `"; done`,
		"many words":     "a=" + strings.Repeat("x", 10_000) + "; python3 -c 1 " + strings.Repeat("$a ", 15_000),
		"many scripts":   "a='" + strings.Repeat("ls;", 3_000) + "'; " + strings.Repeat(`eval "$a";`, 5_000),
		"many for xargs": "a='" + strings.Repeat("ls;", 3_000) + "'; " + strings.Repeat(`ls|xargs sh -c "$a";`, 2_500),
		"deep":           strings.Repeat("if ", 20_000),
		"many functions": strings.Repeat("a() ", 16_000),
		"many calls":     "f() { " + strings.Repeat("f; ", 3_000) + "}; f",
		"calls of calls": "a() { :; }; " + strings.Repeat("b() { a; a; }; a() { b; b; }; ", 300) + "a",
		"many shells":    strings.Repeat("v$RANDOM=1; ", 10) + strings.Repeat("a=1; b=2; (c=3); ", 3_000),
		"many variables": manyVariables() + strings.Repeat("$(a);", 4_000),
		"many braces":    "touch " + strings.Repeat("{a,b}", 2_000),
		"deep braces":    "touch " + strings.Repeat("{a,", 150) + strings.Repeat("}", 150),
		"many ands":      strings.Repeat("true && ", 7_000) + "true; ls",
		"many times":     strings.Repeat("time ", 12_000),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var d Doings
		d.Take(belay.ToolCall{Name: "Bash", Command: script})
		lookAt(script)
		runtime.ReadMemStats(&after)
		if spent := after.TotalAlloc - before.TotalAlloc; spent > most {
			t.Errorf("%s: %d bytes of a script take %d MiB", name, len(script), spent>>20)
		}
		if broken := readers(script); broken != "" {
			t.Errorf("%s: %s broke", name, broken)
		}
	}
	var d Doings
	d.Take(belay.ToolCall{Name: "Bash", Command: "for a in " + strings.Repeat("x ", 50) + `; do echo "` + strings.Repeat("$a ", 15_000) + `"; done`})
	if !d.writes || !d.afar {
		t.Error("what is too much to read only looks")
	}
	d = Doings{}
	d.Take(belay.ToolCall{Name: "Bash", Command: "p='" + strings.Repeat("# x\n", 2_000) + "open(\"a.txt\", \"w\")'; python3 -c \"$p\""})
	if !d.words["a.txt"] {
		t.Error("a script in a variable is not read")
	}
}

// manyVariables are as many as have room in a command.
func manyVariables() string {
	var b strings.Builder
	for i := range 3_000 {
		b.WriteString("v" + strconv.Itoa(i) + "=1; ")
	}
	return b.String()
}

// FuzzReaders has the readers of an agent's commands read anything.
func FuzzReaders(f *testing.F) {
	for _, script := range nameless {
		f.Add(script)
	}
	for _, script := range []string{
		"cd x && cat > a.go <<'EOF'\nx\nEOF\ngo test ./... | tail", "for f in a b; do sed -i s/x/y/ $f; done", "if go test; then git commit -m \"$x\"; fi",
		"f() { sed -i s/a/b/ \"$1\" || return; }; f {a,b}.go && f x{1..3}", "cat > e.sh <<E\nexit 0\nE\nbash e.sh; set -e; pushd x; popd", "echo a | xargs sed -i s/a/b/; find . -name a -delete",
		"awk '{print > $1}' f", "curl -fsSLo a b", "trap './x' EXIT; f() { go test; }; f", "hash -p /bin/true go; go test", "x=(1 2); echo ${x[0]} ${y:-$(ls)}",
		"git -C /x commit -m y", "find . -exec sh -c 'rm $1' _ {} ;", "case $x in a) go test;; *) ls;; esac", "[[ -f x && ! -d y ]] || python3 -c 'open(\"x\")'",
	} {
		f.Add(script)
	}
	f.Fuzz(func(t *testing.T, script string) {
		if broken := readers(script); broken != "" {
			t.Fatalf("%q: %s broke", script, broken)
		}
		lookAt(script)
		for _, name := range []string{"Bash", script} {
			var d Doings
			d.Take(belay.ToolCall{Name: name, Command: script})
			d.Take(belay.ToolCall{Name: name, Path: script})
			n := d.place("/t/sub", "/t")
			n.is("a/b.go", belay.FileModified, false)
		}
	})
}
