package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strconv"
	"strings"
	"testing"
)

// secretOf makes a value of the sort that people use: passwords with all
// signs, keys in base64, sentences, text in other scripts.
func secretOf(rng *rand.Rand) string {
	alphabets := []string{
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
		"0123456789abcdef",
		"ABCDEFGHabcdefgh0123456789+/=",
		`abcXYZ019!"#$%&'()*+,-./:;<=>?@[\]^_{|}~` + "`",
		"aäöüßéñ漢字кл😀 z",
		"ab \t\ncd",
	}
	letters := []rune(alphabets[rng.IntN(len(alphabets))])
	var b strings.Builder
	for n := MinLen + 2 + rng.IntN(60); b.Len() < n; {
		b.WriteRune(letters[rng.IntN(len(letters))])
	}
	return "x" + strings.TrimSpace(b.String()) + "y" // blanks at the ends do not count
}

// forms are the ways in which a program may print a value.
var forms = []struct {
	name string
	of   func(string) string
}{
	{"raw", func(v string) string { return v }},
	{"json", func(v string) string { return jsonText(v) }},
	{"json, ascii", func(v string) string {
		q := strconv.QuoteToASCII(v) // escapes above U+FFFF differ from JSON's
		if strings.Contains(q, `\U`) || strings.Contains(q, `\x`) || strings.Contains(q, `\a`) || strings.Contains(q, `\v`) {
			return jsonText(v)
		}
		return q[1 : len(q)-1]
	}},
	{"query", url.QueryEscape},
	{"path", url.PathEscape},
	{"base64", func(v string) string { return base64.StdEncoding.EncodeToString([]byte(v)) }},
	{"base64url", func(v string) string { return base64.URLEncoding.EncodeToString([]byte(v)) }},
	{"hex", func(v string) string { return hex.EncodeToString([]byte(v)) }},
	{"hex, upper", func(v string) string { return strings.ToUpper(hex.EncodeToString([]byte(v))) }},
	{"shell", func(v string) string { return "'" + strings.ReplaceAll(v, "'", `'\''`) + "'" }},
}

// TestNoLeaks prints 200 values in every form and cuts the text at random. In
// what comes out there is none of them, in any form.
func TestNoLeaks(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same in every run on purpose
	values := make([]string, 200)
	for i := range values {
		values[i] = secretOf(rng)
	}
	r := New(values)
	leaks, looked := 0, 0
	for i, v := range values {
		for _, f := range forms {
			shown := f.of(v)
			text := fmt.Sprintf("line %d: before %s after\n", i, shown)
			got := written(t, r, text, func(int) int { return 1 + rng.IntN(17) })
			looked++
			if left := strings.Trim(shown, "'="); strings.Contains(got, left) || strings.Contains(got, v) {
				leaks++
				t.Errorf("%s: %q is left in %q", f.name, left, got)
			}
			if !strings.HasPrefix(got, fmt.Sprintf("line %d: before ", i)) || !strings.HasSuffix(got, " after\n") {
				t.Errorf("%s: the text around it changed: %q", f.name, got)
			}
		}
	}
	t.Logf("%d values in %d forms, cut at random: %d of %d leaked", len(values), len(forms), leaks, looked)
}

// TestOrdinaryLogs counts what is hidden in logs that hold no secret. Hashes,
// ids and the base64 of pictures must never be.
func TestOrdinaryLogs(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4)) //nolint:gosec // the same in every run on purpose
	hexOf := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		return hex.EncodeToString(b)
	}
	logs := map[string]func(i int) string{
		"hashes": func(int) string { return fmt.Sprintf("sha256:%s  dist/app-%s.tar.gz", hexOf(32), hexOf(4)) },
		"uuids": func(int) string {
			h := hexOf(16)
			return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
		},
		"commits": func(int) string {
			return "commit " + hexOf(20) + "\nAuthor: Ann <ann@example.org>\n\n    task-list: ask-me"
		},
		"pictures": func(int) string { return pictureOf(rng) },
		"go test": func(i int) string {
			return fmt.Sprintf("--- PASS: TestTokenizer/case_%d (0.0%ds)\nok  \texample.org/disk-cache/v2\t1.2s", i, i%10)
		},
		"npm": func(i int) string {
			return fmt.Sprintf("npm http fetch GET 200 https://packages.example.org/@babel%%2fcore %dms\nnpm_config_registry=x npm_package_name=y", i)
		},
		"docker": func(int) string {
			return "Digest: sha256:" + hexOf(32) + "\nStatus: pulled registry:5000/team/app@sha256:" + hexOf(32)
		},
		"json": func(i int) string {
			b, _ := json.Marshal(map[string]any{"id": hexOf(12), "n": i, "next": "https://api/x?cursor=" + hexOf(8)})
			return string(b)
		}, // such a map always encodes
	}
	r := New(append(nasty(rng, 200), "correct-horse-battery", "hunter2-hunter2"))
	for name, line := range logs {
		hidden, size := 0, 0
		for i := range 2000 {
			text := line(i) + "\n"
			size += len(text)
			hidden += strings.Count(r.String(text), Replacement)
		}
		t.Logf("%s: %d bytes, %d false redactions", name, size, hidden)
		if hidden > 0 {
			t.Errorf("%s: %d false redactions", name, hidden)
		}
	}
}

// pictureOf is the base64 of random bytes in lines, as mail and CSS have it.
func pictureOf(rng *rand.Rand) string {
	b := make([]byte, 600)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	text := base64.StdEncoding.EncodeToString(b)
	var lines []string
	for ; len(text) > 76; text = text[76:] {
		lines = append(lines, text[:76])
	}
	return "data:image/png;base64," + strings.Join(append(lines, text), "\n")
}
