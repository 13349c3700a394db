package readable

import (
	"bytes"
	"testing"
)

// What a terminal would obey does not reach it, however the writes cut it.
func TestDoor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, own, strict string }{
		{"text", "a\tb\nç 😀 👨‍👩‍👧\n", "", ""},
		{"colours of Belay", "\x1b[32mdone\x1b[0m", "\x1b[32mdone\x1b[0m", "done"},
		{"other colours, and hidden text", "\x1b[8mx\x1b[38;5;1my\x1b[0m", "xy\x1b[0m", "xy"},
		{"moves", "a\x1b[2A\x1b[Jb\r\bc", "abc", "abc"},
		{"a title and a link", "\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b", "ab", "ab"},
		{"a title without an end", "\x1b]0;title\nnext", "\nnext", "\nnext"},
		{"two letters", "\x1bc\x1b7a", "a", "a"},
		{"eight-bit sequences", "a\u009b2Jb", "a2Jb", "a2Jb"},
		{"letters turned round", "a\u202eb\u2066c\u200fd\u061ce", "abcde", "abcde"},
		{"bad bytes", "a\xff\xc3b", "ab", "ab"},
		{"NUL and bell", "a\x00\x07b\x7f", "ab", "ab"},
	} {
		own, strict := c.own, c.strict
		if own == "" {
			own, strict = c.in, c.in
		}
		for size := 1; size <= len(c.in); size++ {
			var one, two bytes.Buffer
			d := NewDoor(&one)
			s := NewDoor(&two).Strict()
			for i := 0; i < len(c.in); i += size {
				piece := []byte(c.in[i:min(i+size, len(c.in))])
				for _, door := range []*Door{d, s} {
					if n, err := door.Write(piece); n != len(piece) || err != nil {
						t.Fatalf("%s: write: %d, %v", c.name, n, err)
					}
				}
			}
			if one.String() != own || two.String() != strict {
				t.Errorf("%s, in pieces of %d: %q and %q, want %q and %q", c.name, size, one.String(), two.String(), own, strict)
			}
		}
	}
}

// The live view moves the cursor itself; a text cannot.
func TestDoorLetsTheScreenMove(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if _, err := NewDoor(&out).Redraw("\r\x1b[2A\x1b[J", []byte("a\x1b[3A")); err != nil {
		t.Fatal(err)
	}
	if want := "\r\x1b[2A\x1b[Ja"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

// What ends a line of a command is seen.
func TestCommand(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"test -f a  # see\n\ntouch /x\n": "test -f a  # see ⏎ touch /x",
		" go test ./...\n":               "go test ./...",
		"a\x1b[2Ab\t c\r\n":              "ab  c",
	} {
		if got := Command(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
