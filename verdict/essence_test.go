package verdict

import (
	"regexp"
	"strings"
	"testing"
)

// essenceBefore is how the essence of a text is defined. The prints of failures
// are in journals: they must stay as they are.
func essenceBefore(text string) string {
	text = strings.ToLower(text)
	for _, re := range essenceExprs {
		text = re.ReplaceAllString(text, " # ")
	}
	return strings.TrimSpace(regexp.MustCompile(`[\s#]+`).ReplaceAllString(text, " "))
}

var essenceExprs = []*regexp.Regexp{
	regexp.MustCompile(`\b[a-z][a-z0-9+.-]*://[^\s"'<>)]+`),
	regexp.MustCompile(`(?:^|[\s"'(=:])(?:~|[a-z]:)?[/\\][^\s"'():,]+`),
	regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}\b|\b[a-z]+_[a-z0-9]*[0-9][a-z0-9]*\b`),
	regexp.MustCompile(`\b(?:0x[0-9a-f]+|[0-9a-f]*[0-9][0-9a-f]*[a-f][0-9a-f]*|[0-9a-f]*[a-f][0-9a-f]*[0-9][0-9a-f]*)\b`),
	regexp.MustCompile(`\b(?:mon|tue|wed|thu|fri|sat|sun|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b|\b[ap]m\b|\b(?:utc|gmt|z)\b`),
	regexp.MustCompile(`[0-9]+(?:[.:,][0-9]+)*(?:(?:st|nd|rd|th|ns|us|µs|ms|[smhd]|[kmgt]i?b)\b)?`),
}

func TestEssence(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"common.tsv", "errors-more.tsv", "errors.tsv", "fresh.tsv", "others.tsv"} {
		for _, r := range readLabelled(t, file) {
			sameEssence(t, r.text)
		}
	}
}

func FuzzEssence(f *testing.F) {
	for _, s := range []string{
		"a 0xff 0x 12 3.5ms 7µs 7µsx 1,2:3. 4.th dec december deca3 am pm z utc x_1 _1 a_b_1 a__1 feed face1 3rd5 1e5 9_9",
		"/tmp/x ~/y c:\\z src/part1.go:3:4: \"/a\" a=/b (/c) http://x.y/z?q=1 0123abcd-0000-1111-2222-333344445555 12-13",
		"# ## \t\n 12\n#3 \xff1 ſ K 5K 12,13mb 10kib 10 s 10s. dec", "1:2:3.4.5,6", "12.x 13.", "0xg 0x1g 00x1",
	} {
		f.Add(s)
	}
	f.Fuzz(sameEssence)
}

func sameEssence(t *testing.T, text string) {
	t.Helper()
	text = strings.ToValidUTF8(text, "\uFFFD") // as tail gives it
	if got, want := essence(text, ""), essenceBefore(text); got != want {
		t.Errorf("%q:\ngot  %q\nwant %q", text, got, want)
	}
}
