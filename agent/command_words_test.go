package agent

import (
	"context"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// quoted is one word as Codex writes it: the longest piece that one kind of
// quotes can hold, then the next. Single quotes hold no ', \ or ^ unless it is
// first; double quotes hold no `, $, ! or ^.
func quoted(word string) string {
	if word == "" {
		return "''"
	}
	var b strings.Builder
	for word != "" {
		n, kind := holds(word)
		part := word[:n]
		word = word[n:]
		switch kind {
		case 0:
			b.WriteString(part)
		case '\'':
			b.WriteString("'" + part + "'")
		case '"':
			b.WriteString(`"` + strings.NewReplacer("$", `\$`, "`", "\\`", `"`, `\"`, `\`, `\\`).Replace(part) + `"`)
		}
	}
	return b.String()
}

// holds tells how much of the beginning one kind of quotes can hold, and which:
// none, single, double, in this order.
func holds(word string) (n int, kind byte) {
	plain, single, double := true, true, true
	if word[0] == '^' {
		plain, double, n = false, false, 1
	}
	for ; n < len(word); n++ {
		c := word[n]
		p := plain && c < 0x80 && (c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || strings.IndexByte("+-./:@]_", c) >= 0)
		s := single && strings.IndexByte(`'^\`, c) < 0
		d := double && strings.IndexByte("`$!^", c) < 0
		if !p && !s && !d {
			break
		}
		plain, single, double = p, s, d
	}
	switch {
	case plain:
		return n, 0
	case single:
		return n, '\''
	}
	return n, '"'
}

// oldQuoted is one word as older versions wrote it: all in double quotes.
func oldQuoted(word string) string {
	return `"` + strings.NewReplacer("$", `\$`, "`", "\\`", `"`, `\"`, `\`, `\\`).Replace(word) + `"`
}

func FuzzParted(f *testing.F) {
	for _, s := range []string{
		"", "ls", "go test ./... | grep '^ok'", "export A=$B; echo 'x' \"y\" `z` !", "^a^b'^'", `\'"$`, "ä ö\n\tß", "\r\x7f{a,b}~#*?[",
	} {
		f.Add(s, "x y")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		want := []string{"/bin/bash", "-lc", a, b}
		for _, quote := range []func(string) string{quoted, oldQuoted} {
			line := "/bin/bash -lc " + quote(a) + " " + quote(b)
			if got, ok := parted(line); !ok || !slices.Equal(got, want) {
				t.Fatalf("%q came back as %q, %v", line, got, ok)
			}
		}
		line := CommandLine([]string{"run", a, b})
		if got, ok := parted(line); !ok || !slices.Equal(got, []string{"run", a, b}) {
			t.Fatalf("%q came back as %q, %v", line, got, ok)
		}
		parted(a) // any line: it must not panic
	})
}

// A real shell takes the same words apart in the same way.
func TestPartedAsAShellDoes(t *testing.T) {
	t.Parallel()
	for _, word := range []string{
		"go test ./... | grep '^ok'", "export A=$B; echo 'x' \"y\" `z` !", "^a^b'^'", `\'"$`, `a\b\\c`, "ä ö\n\tß", "{a,b}~#*?[", `"\$'`,
	} {
		line := quoted(word)
		out, err := exec.CommandContext(context.Background(), "sh", "-c", "printf %s "+line).Output()
		if err != nil {
			t.Fatal(err)
		}
		got, ok := parted(line)
		if !ok || len(got) != 1 || got[0] != string(out) || got[0] != word {
			t.Errorf("%s: %q, a shell says %q, it is %q", line, got, out, word)
		}
	}
	for _, line := range []string{`a\ b'c'"d"`, `"a\b\"\\\$"`, "\"a\\\nb\"c\\\nd", `''""x`} {
		out, err := exec.CommandContext(context.Background(), "sh", "-c", "printf %s "+line).Output()
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := parted(line); !ok || len(got) != 1 || got[0] != string(out) {
			t.Errorf("%s: %q, a shell says %q", line, got, out)
		}
	}
}
