package readable

import (
	"strings"
	"testing"
	"time"
)

// A line that does not fit is broken at its blanks, and loses none of its words.
func TestHang(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line  string
		width int
		under int
		want  string
	}{
		{"    does not apply to this step: hang, hollow", 30, 8, "    does not apply to this\n        step: hang, hollow"},
		{"belay: error: step publish-to-the-registry failed", 30, 7, "belay: error: step\n       publish-to-the-registry\n       failed"},
		{"  failed    a-name-that-is-long     3s  the text of it and more of it", 60, 33, "  failed    a-name-that-is-long     3s  the text of it and\n" + strings.Repeat(" ", 30) + "more of it"},
		{"short", 30, 4, "short"},
	} {
		if got := strings.Join(Hang(c.line, c.width, c.under), "\n"); got != c.want {
			t.Errorf("got\n%s\nwant\n%s", got, c.want)
		}
	}
}

// A command that is broken is still one command.
func TestContinued(t *testing.T) {
	t.Parallel()
	got := strings.Join(Continued("    belay clear k3f9q attempts:fix --why 'a b c' --more", 30), "\n")
	if want := "    belay clear k3f9q \\\n      attempts:fix --why \\\n      'a b c' --more"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := Continued("belay why k3f9q", 0); len(got) != 1 {
		t.Errorf("got %q", got)
	}
}

// A command behind a label can be copied where it is broken; a sentence has no backslash.
func TestFoldTyped(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"to merge the work: git -C /srv/app merge work":               "to merge the work: git -C \\\n  /srv/app merge work",
		"next: belay clear k3f9q a:b --why 'x, y'  # a new run of it": "next: belay clear k3f9q a:b \\\n  --why 'x, y'\n  # a new run of it",
		"next: belay show k3f9q, or belay resume k3f9q":               "next: belay show k3f9q, or\n      belay resume k3f9q",
		"next: belay resume k3f9q   # carries it out":                 "next: belay resume k3f9q\n      # carries it out",
	} {
		if got := strings.Join(FoldTyped(line, 30), "\n"); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}

// What two names begin and end with stays when they are cut.
func TestCutMiddle(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"short": "short", "https://example.org/one": "https…g/one", "https://example.org/two": "https…g/two", "日本語テキスト日本語": "日本…日本語",
	} {
		if got := CutMiddle(in, 11); got != want || Width(got) > 11 {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestTook(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		-time.Second: "0ms", 420 * time.Millisecond: "420ms", 999999 * time.Microsecond: "999ms",
		time.Second: "1s", 1040 * time.Millisecond: "1s", 1100 * time.Millisecond: "1.1s", 1389 * time.Millisecond: "1.4s", 9940 * time.Millisecond: "9.9s",
		9990 * time.Millisecond: "10s", 10900 * time.Millisecond: "11s", 59600 * time.Millisecond: "1m00s", 64 * time.Second: "1m04s",
		3599600 * time.Millisecond: "1h00m", 123 * time.Minute: "2h03m", 123*time.Minute + 40*time.Second: "2h04m",
	} {
		if got := Took(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}
