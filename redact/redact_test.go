package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"
	"testing"
)

const secret = `pa"ss'w/ord+<é>&  9k`

func TestEncodingsAreHidden(t *testing.T) {
	marshalled, err := json.Marshal(map[string]string{"k": "see " + secret})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"raw":            "a " + secret + " z",
		"json":           string(marshalled),
		"json, ascii":    `"pa\"ss'w/ord+<\u00e9>&  9k"`,
		"query":          "https://h/?k=" + url.QueryEscape(secret) + "&x=1",
		"query, lower":   "k=pa%22ss%27w%2ford%2b%3c%c3%a9%3e%26++9k",
		"path":           "https://h/" + url.PathEscape(secret) + "/x",
		"shell":          `echo '` + strings.ReplaceAll(secret, `'`, `'\''`) + `'`,
		"shell, python":  `echo '` + strings.ReplaceAll(secret, `'`, `'"'"'`) + `'`,
		"hex":            "0x" + hex.EncodeToString([]byte(secret)) + "00",
		"hex, upper":     strings.ToUpper(hex.EncodeToString([]byte(secret))),
		"base64, at 0":   base64.StdEncoding.EncodeToString([]byte(secret + "tail")),
		"base64, at 1":   base64.StdEncoding.EncodeToString([]byte("x" + secret + "t")),
		"base64, at 2":   base64.StdEncoding.EncodeToString([]byte("xy" + secret)),
		"base64, user":   "Basic " + base64.StdEncoding.EncodeToString([]byte("user:"+secret)),
		"base64url at 1": base64.RawURLEncoding.EncodeToString([]byte("x" + secret + "tt")),
		"base64url at 2": base64.URLEncoding.EncodeToString([]byte("yx" + secret + "ttt")),
	} {
		t.Run(name, func(t *testing.T) {
			got := New([]string{secret}).String(text)
			if strings.Count(got, Replacement) != 1 {
				t.Errorf("%q became %q", text, got)
			}
		})
	}
}

// What is left of a base64 text holds no whole byte of the secret.
func TestBase64LeavesOnlyEdges(t *testing.T) {
	for lead := range 3 {
		for tail := range 3 {
			plain := strings.Repeat("x", lead) + secret + strings.Repeat("y", tail)
			got := New([]string{secret}).String(base64.RawStdEncoding.EncodeToString([]byte(plain)))
			rest := strings.Replace(got, Replacement, "", 1)
			if rest == got || len(rest) > (8*(lead+tail)+20)/6 {
				t.Errorf("lead %d, tail %d: %q is left", lead, tail, got)
			}
		}
	}
}

func TestExact(t *testing.T) {
	for _, c := range []struct {
		name   string
		values []string
		text   string
		want   string
	}{
		{"none", nil, "anything", "anything"},
		{"short values are not hidden", []string{"12345", "true", ""}, "12345 true", "12345 true"},
		{"six bytes are", []string{"123456"}, "x123456y", "x[REDACTED]y"},
		{"blanks around a value do not count", []string{" s3cr3t-x\n"}, "k=s3cr3t-x;", "k=[REDACTED];"},
		{"longest first", []string{"s3cr3t", "s3cr3t-and-more"}, "s3cr3t-and-more s3cr3t-and.", "[REDACTED] [REDACTED]-and."},
		{"overlapping", []string{"abcdefgh", "efghijkl"}, "1abcdefghijkl2", "1[REDACTED]2"},
		{"one inside the other", []string{"abcdefghijkl", "cdefgh"}, "abcdefghijkl", "[REDACTED]"},
		{"side by side", []string{"abcdef", "ghijkl"}, "abcdefghijkl", "[REDACTED][REDACTED]"},
		{"repeating itself", []string{"aaaaaa"}, "baaaaaaaaab", "b[REDACTED]b"},
		{"almost", []string{"abcdefgh"}, "abcdefg abcdefgi bcdefgh", "abcdefg abcdefgi bcdefgh"},
		{"any bytes", []string{"abcdefgh"}, "\x00\xff\xfeabcdefgh\x80", "\x00\xff\xfe[REDACTED]\x80"},
		{"secret of any bytes", []string{"\xff\x00\xfe\x01\x80\x81\x82"}, "a\xff\x00\xfe\x01\x80\x81\x82b", "a[REDACTED]b"},
		{"at both ends", []string{"abcdefgh"}, "abcdefgh-abcdefgh", "[REDACTED]-[REDACTED]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := New(c.values)
			if got := r.String(c.text); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			in := []byte(c.text)
			if r.Bytes(in); string(in) != c.text {
				t.Errorf("Bytes changed its argument to %q", in)
			}
			for size := 1; size <= len(c.text); size++ {
				if got := written(t, r, c.text, func(int) int { return size }); got != c.want {
					t.Errorf("in pieces of %d: got %q, want %q", size, got, c.want)
				}
			}
		})
	}
}

// written sends the text through a Writer in pieces of the sizes that next says.
func written(t testing.TB, r *Redactor, text string, next func(i int) int) string {
	t.Helper()
	var out bytes.Buffer
	w := r.Writer(&out)
	for i := 0; text != ""; i++ {
		n := min(len(text), max(0, next(i)))
		if wrote, err := w.Write([]byte(text[:n])); err != nil || wrote != n {
			t.Fatalf("write %d bytes: %d, %v", n, wrote, err)
		}
		text = text[n:]
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// slow is the meaning of a redactor, in the simplest words there are: bytes of
// any secret are hidden, and secrets that share a byte are hidden as one.
func slow(r *Redactor, text string) string {
	longest := make([]int, len(text))
	for i := range len(text) {
		for k := range r.patterns {
			n, head, more := r.spelled.match(&r.patterns[k], []byte(text[i:]))
			if more && r.patterns[k].cutAt(head) {
				n = len(text) - i
			}
			longest[i] = max(longest[i], n)
		}
	}
	var out strings.Builder
	end := 0
	for i := range len(text) {
		if n := longest[i]; n > 0 {
			if i >= end {
				out.WriteString(Replacement)
			}
			end = max(end, i+n)
		}
		if i >= end {
			out.WriteByte(text[i])
		}
	}
	return out.String()
}

func FuzzRedact(f *testing.F) {
	f.Add("hunter2-hunter2", "hunter2-", "before ", " after", []byte{1, 3, 7}, uint8(0))
	f.Add(secret, "ord+<é>&", "x", "y", []byte{2}, uint8(5))
	f.Add("aaaaaaa", "aaaaaa", "aaa", "aaaaaaaaaa", []byte{0, 1}, uint8(13))
	f.Add("", "hunter2-", "z", "0", []byte{0}, uint8(88))
	f.Add("REDACTED", "[REDACTED]", "[", "]", []byte{5}, uint8(1))
	f.Add("\x00\xff\x00\xff\x00\xff\x00", "zzzzzz", "\xff", "\x00", []byte{9}, uint8(2))
	f.Fuzz(func(t *testing.T, one, two, before, after string, cuts []byte, form uint8) {
		if len(one)+len(two) > 1<<8 || len(before)+len(after) > 1<<10 {
			return // bigger ones find nothing new and are slow in the oracle
		}
		r := Values([]string{one, two})
		text := before + forms[int(form)%len(forms)].of(one) + after + two
		want := slow(r, text)
		if got := r.String(text); got != want {
			t.Fatalf("%q\nbecame %q\nwant   %q", text, got, want)
		}
		got := written(t, r, text, func(i int) int {
			if len(cuts) == 0 {
				return 1
			}
			return int(cuts[i%len(cuts)]) + i%2 // never for ever nothing
		})
		if got != want {
			t.Fatalf("in pieces: %q\nbecame %q\nwant   %q", text, got, want)
		}
		for _, v := range []string{strings.TrimSpace(one), strings.TrimSpace(two)} {
			noneLeft(t, v, got, text)
		}
	})
}

// noneLeft looks between the replacements: across one, neighbouring text could
// by chance spell a secret that has "[REDACTED]" in it.
func noneLeft(t *testing.T, v, got, text string) {
	t.Helper()
	if len(v) < MinLen {
		return
	}
	for _, part := range strings.Split(got, Replacement) {
		if strings.Contains(part, v) {
			t.Fatalf("%q is left in %q", v, got)
		}
	}
	if !strings.Contains(got, Replacement) && got != text {
		t.Fatalf("nothing hidden, but %q became %q", text, got)
	}
}
