package readable

import (
	"strings"
	"testing"
)

// A line for people is broken at its blanks and hangs under its last column. A word that a
// line can hold is not broken, and a comment stays one.
func TestFold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ line, want string }{
		{
			"ok    state  it is private, can be written and holds one run, and no more",
			"ok    state  it is private, can be\n      written and holds one run, and\n      no more",
		},
		{"next: belay show nightly b, or belay logs nightly b", "next: belay show nightly b, or belay\n      logs nightly b"},
		{"- answers that nobody checked: understand, review", "- answers that nobody checked:\n  understand, review"},
		{"the file is in /a/folder/with/a/name/of/a/line/fg", "the file is in\n  /a/folder/with/a/name/of/a/line/fg"},
		{"the file is in /a/folder/with/a/name/of/one/line/f/g", "the file is in\n /a/folder/with/a/name/of/one/line/f/g"},
		{"it is /a/folder/with/a/name/that/no/line/can/hold", "it is\n  /a/folder/with/a/name/that/no/line/\n  can/hold"},
		{"next: belay resume a-run-of-ours   # carries out this plan", "next: belay resume a-run-of-ours\n      # carries out this plan"},
		{"\x1b[31mFAIL\x1b[0m one two three four five six seve", "\x1b[31mFAIL\x1b[0m one two three four five six seve"},
	} {
		if got := strings.Join(Fold(c.line, 38), "\n"); got != c.want {
			t.Errorf("got\n%s\nwant\n%s", got, c.want)
		}
	}
}

// The comment of a command that is broken stands above it: behind a backslash it would end
// there, and the rest of it would be run.
func TestContinuedComment(t *testing.T) {
	t.Parallel()
	got := strings.Join(Continued("    belay answer i2 write skip --why 'a  # b'  # leave it out; the run is PARTIAL at best", 40), "\n")
	want := "    # leave it out; the run is PARTIAL\n    # at best\n    belay answer i2 write skip --why \\\n      'a  # b'"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A text that was written for a wider terminal is broken anew, and a list in it is not.
func TestParagraphs(t *testing.T) {
	t.Parallel()
	text := "one two three four five six\nseven\n\nshort\nlines\n\nall:\n  a  the first of them in a row"
	want := "one two three four\nfive six seven\n\nshort\nlines\n\nall:\n  a  the first of them in a row"
	if got := strings.Join(Paragraphs(text, 20), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
