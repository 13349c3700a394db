package tracker

import (
	"strings"
	"testing"
)

// The same thing has the same fingerprint wherever and whenever it is seen, and
// two things do not share one.
//
// promise: D1
func TestFingerprint(t *testing.T) {
	t.Parallel()
	for _, same := range [][]string{
		{"build fails after 3 tries", "build fails after 12 tries", "Build  fails after 1,200 tries"},
		{"run k3f9q: step build fails", "run 8x2pz: step build fails"},
		{"cannot read /home/ann/x/y.go", "cannot read /var/lib/z.go", `cannot read C:\users\bob\y.go`, "cannot read ~/y.go"},
		{"no route at 2026-11-16T05:28:41Z", "no route at 2025-01-02T23:00:00+02:00"},
		{"no route on Mon, 16 Nov 2026", "no route on Tue, 3 Mar 2025"},
		{"commit 1f0e9d8c7b is missing", "commit deadbeef01 is missing"},
		{"job 8d7a2f10-1111-2222-3333-444455556666 hangs", "job 00000000-0000-4000-8000-000000000001 hangs"},
		{"took 350ms", "took 3.5s", "took 1h"},
		{"see https://a.example/x?id=9", "see http://b.example"},
		{"repo/pkg/x.go:12 fails", "repo/pkg/x.go:99 fails"},
	} {
		for _, s := range same[1:] {
			if a, b := Fingerprint("bug", same[0], "", ""), Fingerprint("bug", s, "", ""); a != b {
				t.Errorf("%q and %q are two", same[0], s)
			}
		}
	}
	seen := map[string]string{}
	for _, s := range []string{
		"decode fails", "separate fails", "marker fails", "monitor fails", "may fail", "sunday fails to parse",
		"pkg/a.go fails", "pkg/b.go fails", "12", "13", "", "größe fehlt", "工作失败", "工作成功", "second step fails",
	} {
		mark := Fingerprint("bug", s, "", "")
		if seen[mark] != "" {
			t.Errorf("%q and %q are one", s, seen[mark])
		}
		seen[mark] = s
	}
	if Fingerprint("bug", "x", "", "") == Fingerprint("task", "x", "", "") || Fingerprint("bug", "x", "a.go", "") == Fingerprint("bug", "x", "b.go", "") {
		t.Error("kind and place are not part of it")
	}
	if Fingerprint("bug", "x", "/home/ann/repo/a.go", "/home/ann/repo") != Fingerprint("bug", "x", "/srv/repo/a.go", "/srv/repo/") {
		t.Error("a place in the repository is another one on another machine")
	}
}

// A text cannot pass itself off as the issue of another fingerprint.
func TestMarkers(t *testing.T) {
	t.Parallel()
	const filing = "0123456789abcdef"
	hostile := "x\nbelay-fingerprint: other 0000000000000000\nBELAY-Fingerprint: other\nbelay-seen: other"
	body := marked(hostile, "mine", filing)
	if got, ok := MarkIn(strings.ReplaceAll(body, "\n", "\r\n"), "mine"); !ok || got != filing {
		t.Errorf("the marker is not found: %q, %v in\n%s", got, ok, body)
	}
	if _, ok := MarkIn(body, "other"); ok || SaidIn(body, "other") {
		t.Errorf("a text brings a marker of its own:\n%s", body)
	}
	for _, no := range []string{"", "mine", "> belay-fingerprint: mine 0123456789abcdef", "about belay-fingerprint: mine", "belay-fingerprint: mine2"} {
		if _, ok := MarkIn(no, "mine"); ok {
			t.Errorf("a marker in %q", no)
		}
	}
	if !SaidIn(seenAgain(hostile, "mine"), "mine") || SaidIn(seenAgain(hostile, "mine"), "other") {
		t.Error("the marker of a comment")
	}
	if long := marked(strings.Repeat("é", 100_000), "mine", filing); len([]rune(long)) > 65_536 {
		t.Errorf("%d characters are more than GitHub takes", len([]rune(long)))
	} else if _, ok := MarkIn(long, "mine"); !ok {
		t.Error("the marker is lost with the end of a long text")
	}
	if got := headline("a\x1b[31m\nb\t" + strings.Repeat("x", 300)); strings.ContainsAny(got, "\x1b\n\t") || len([]rune(got)) > maxTitle+1 {
		t.Errorf("title %q", got)
	}
}

// promise: D2
func TestNamed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"fix #12": 12, "#7": 7, "(#8) and #9": 8, "see x\n#10 there": 10, "see: #1, please": 1,
		"": 0, "#": 0, "#0": 0, "a#12": 0, "owner/repo#12": 0, "&#39;": 0, "#12ab": 0, "# 12": 0, "https://x/y#12": 0, "#99999999999": 0,
	} {
		if got, ok := Named(text); got != want || ok != (want > 0) {
			t.Errorf("Named(%q) = %d, %v; want %d", text, got, ok, want)
		}
	}
}

func TestCheckFingerprint(t *testing.T) {
	t.Parallel()
	if got, err := CheckFingerprint("Routing-Gap.1"); err != nil || got != "routing-gap.1" {
		t.Errorf("%q, %v", got, err)
	}
	for _, bad := range []string{"", "-x", ".x", "../x", "a/b", "a b", "a\n", "é", strings.Repeat("a", 65)} {
		if _, err := CheckFingerprint(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// FuzzMarked holds that any text leaves the marker of its own issue, and no other.
func FuzzMarked(f *testing.F) {
	for _, s := range []string{"", "x", "belay-fingerprint: other", "a\r\nbelay-fingerprint: other 0123456789abcdef\r\n", "belay-\x00fingerprint: other", "BELAY-SEEN: other\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		body, comment := marked(text, "mine", "0123456789abcdef"), seenAgain(text, "mine")
		if filing, ok := MarkIn(body, "mine"); !ok || filing != "0123456789abcdef" || !SaidIn(comment, "mine") {
			t.Errorf("the marker of %q is lost", text)
		}
		for _, line := range strings.FieldsFunc(body+"\n"+comment, func(r rune) bool { return r == '\n' || r == '\r' }) {
			if _, ok := MarkIn(line, "other"); ok || SaidIn(line, "other") {
				t.Errorf("%q brings a marker: %q", text, line)
			}
		}
		if h := headline(text); strings.ContainsAny(h, "\n\r\x1b") || len([]rune(h)) > maxTitle+1 {
			t.Errorf("the title %q", h)
		}
		if Fingerprint("k", text, "", "") != Fingerprint("k", "  "+text+" ", "", "") {
			t.Errorf("blanks around %q change its fingerprint", text)
		}
	})
}
