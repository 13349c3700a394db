package redact

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// fill is n bytes of text of letters and digits.
func fill(n int) string { return strings.Repeat("aB3dE6gH9k", n/10+1)[:n] }

// jwt is a signed token, as one server or another would write it.
var jwt = "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0In0" + "." + fill(43)

func TestShapesAreHidden(t *testing.T) {
	t.Parallel()
	key := strings.Repeat("MIIEpAIBAAKCAQEA7Vq+/0x\n", 30)
	for _, c := range []struct{ name, text, want string }{
		{"github", "use ghp_" + fill(36) + ", now", "use [REDACTED], now"},
		{"github, all kinds", "gho_" + fill(36) + " ghs_" + fill(36) + " ghu_" + fill(36), "[REDACTED] [REDACTED] [REDACTED]"},
		{"github, glued", "tokenghp_" + fill(36), "token[REDACTED]"},
		{"github, fine-grained", "github_pat_" + fill(22) + "_" + fill(59) + ";", "[REDACTED];"},
		{"anthropic", "key=sk-ant-api03-" + fill(60) + "-AA", "key=[REDACTED]"},
		{"openai", `"sk-proj-` + fill(48) + `"`, `"[REDACTED]"`},
		{"slack", "xoxb-1234567890-" + fill(24) + "\n", "[REDACTED]\n"},
		{"aws", "id AKIAIOSFODNN7EXAMPLE\tASIAIOSFODNN7EXAMPLE", "id [REDACTED]\t[REDACTED]"},
		{"google", "AIza" + fill(35), "[REDACTED]"},
		{"gitlab", "glpat-" + fill(20) + " x", "[REDACTED] x"},
		{"npm", "//registry/:_authToken=npm_" + fill(36), "//registry/:_authToken=[REDACTED]"},
		{"jwt", "cookie " + jwt + " end", "cookie [REDACTED] end"},
		{"jwt in json after a newline", `"a\n` + jwt + `"`, `"a\n[REDACTED]"`},
		{"header", "Authorization: Bearer abc.def-123==\r\n", "Authorization: Bearer [REDACTED]\r\n"},
		{"header, basic", "> authorization:Basic dXNlcjpwYXNz", "> authorization:Basic [REDACTED]"},
		{"header in json", `{"Proxy-Authorization": "token abcdef"}`, `{"Proxy-Authorization": "token [REDACTED]"}`},
		{"url", "git clone https://me:hunter2@host/x", "git clone https://me:[REDACTED]@host/x"},
		{"url without a user", "redis://:pw@h", "redis://:[REDACTED]@h"},
		{"private key", "a\n-----BEGIN RSA PRIVATE KEY-----\n" + key + "-----END RSA PRIVATE KEY-----\nb",
			"a\n-----BEGIN RSA PRIVATE KEY-----[REDACTED]-----END RSA PRIVATE KEY-----\nb"},
		{"private key in json", `"-----BEGIN PRIVATE KEY-----\nMIIE\nabc=\n-----END PRIVATE KEY-----\n"`,
			`"-----BEGIN PRIVATE KEY-----[REDACTED]-----END PRIVATE KEY-----\n"`},
		{"private key that is cut off", "-----BEGIN EC PRIVATE KEY-----\nMIIE\nabcd (cut)", "-----BEGIN EC PRIVATE KEY-----[REDACTED](cut)"},
		{"only the mark of a key", `grep "-----BEGIN RSA PRIVATE KEY-----" .`, `grep "-----BEGIN RSA PRIVATE KEY-----" .`},
		{"a certificate", "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----", "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----"},
		{"not quite", "ghp_short sk-words-with-dashes-and-more-words task-" + fill(30) + " eyJ0.eyJ1 AKIAIOSFODNN7EXAMPLEX",
			"ghp_short sk-words-with-dashes-and-more-words task-" + fill(30) + " eyJ0.eyJ1 AKIAIOSFODNN7EXAMPLEX"},
		{"plain urls", "https://host:443/a@b http://h/x?u=a:b@c ssh://git@h/r", "https://host:443/a@b http://h/x?u=a:b@c ssh://git@h/r"},
		{"plain words", "Authorization: none, Basic authentication, Authorization failed", "Authorization: none, Basic authentication, Authorization failed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := New([]string{"some-known-value"})
			if got := r.String(c.text); got != c.want {
				t.Fatalf("got  %q\nwant %q", got, c.want)
			}
			for size := 1; size <= min(len(c.text), 60); size++ {
				if got := written(t, r, c.text, func(int) int { return size }); got != c.want {
					t.Errorf("in pieces of %d: got %q", size, got)
				}
			}
		})
	}
}

// A token of any length is hidden whole, with a bounded memory.
func TestLongTokens(t *testing.T) {
	t.Parallel()
	long := fill(1 << 20)
	for _, text := range []string{
		"ghp_" + long, "eyJhbGciOiJIUzI1NiJ9.eyJz" + long + "." + long, "Authorization: Bearer " + long,
		"-----BEGIN PRIVATE KEY-----" + long,
	} {
		var out strings.Builder
		w := New(nil).Writer(&out)
		for i := 0; i < len(text); i += 777 {
			if _, err := w.Write([]byte(text[i:min(len(text), i+777)])); err != nil {
				t.Fatal(err)
			}
			if len(w.held) > 2*maxPart {
				t.Fatalf("%d bytes of %.20q are held", len(w.held), text)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); len(got) > 60 || !strings.HasSuffix(got, Replacement) {
			t.Errorf("%.20q became %.200q", text, got)
		}
	}
}

// What is held back without a reason is not seen while a program runs.
func TestNothingIsHeldForEver(t *testing.T) {
	t.Parallel()
	r := New([]string{"some-known-value"})
	for _, text := range []string{
		strings.Repeat("eyJ", 4000) + "|", strings.Repeat("://a", 4000) + " ", strings.Repeat("-", 9000) + " ",
		strings.Repeat("ghp_", 9000) + "!", strings.Repeat("authorization ", 999), strings.Repeat("-----BEGIN ", 999) + "\x00" + fill(70),
	} {
		var out strings.Builder
		w := r.Writer(&out)
		if _, err := w.Write([]byte(text + "done\n")); err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(out.String(), "done\n") {
			t.Errorf("%.30q: %d bytes are held", text, len(w.held))
		}
	}
}

func TestHid(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"plain [REDACTED] text": false, "a some-known-value b": true, "ghp_" + fill(36): true, "": false,
	} {
		r := New([]string{"some-known-value"})
		if _, hid := r.Hide([]byte(text)); hid != want {
			t.Errorf("Hide(%q) says %v", text, hid)
		}
		w := r.Writer(new(strings.Builder))
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil || w.Hid() != want {
			t.Errorf("after %q the writer says %v, %v", text, w.Hid(), err)
		}
	}
}

// parts are what texts are made of that are hard to cut.
var parts = []string{
	"ghp_", "github_pat_", "sk-", "sk-ant-", "xoxb-", "AKIA", "AIza", "npm_", "eyJ", ".", "-----", "BEGIN ", "PRIVATE KEY-----",
	"-----BEGIN PRIVATE KEY-----", "-----END", "authorization", "Authorization: ", "Bearer ", "basic", "://", ":", "@", "/", "\n", `\n`, " ",
	"-", "--", "_", "=", "\"", "aB3dE6gH9k", "ABCDEFGH12345678", "word", "some-known", "-value", "\x00", "\xff", "é", "https",
	"aB3dE6gH9kaB3dE6gH9kaB3dE6gH9kaB3dE6gH9k", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.", "user:pass@host",
}

// TestRandomCuts is the fuzz target's claim on texts that are drawn: the answer
// for the pieces is the answer for the whole.
func TestRandomCuts(t *testing.T) {
	t.Parallel()
	r := New([]string{"some-known-value", "ghp_aB3dE6", "-----BEGIN"})
	for seed := range uint64(4000) {
		rng := rand.New(rand.NewPCG(seed, 7)) //nolint:gosec // the same in every run on purpose
		var b strings.Builder
		for range 1 + rng.IntN(24) {
			b.WriteString(parts[rng.IntN(len(parts))])
		}
		text := b.String()
		want := r.String(text)
		if got := written(t, r, text, func(int) int { return 1 + rng.IntN(20) }); got != want {
			t.Fatalf("seed %d: %q\nin pieces %q\nwhole     %q", seed, text, got, want)
		}
	}
}

// FuzzShapes cuts a text of hard parts in every way: the answer must be the
// same as for the whole.
func FuzzShapes(f *testing.F) {
	f.Add([]byte{0, 31, 31, 31}, []byte{1})
	f.Add([]byte{13, 31, 23, 31, 14, 10, 12}, []byte{3, 1})
	f.Add([]byte{15, 24, 17, 31, 31, 25}, []byte{7, 2, 9})
	f.Add([]byte{39, 19, 41, 22, 34, 35}, []byte{2})
	f.Add([]byte{34, 0, 31, 31, 31, 35, 40, 31}, []byte{5, 1})
	f.Fuzz(func(t *testing.T, picks, cuts []byte) {
		if len(picks) > 200 {
			return // longer ones find nothing new
		}
		var text strings.Builder
		for _, p := range picks {
			text.WriteString(parts[int(p)%len(parts)])
		}
		r := New([]string{"some-known-value", "ghp_aB3dE6", "-----BEGIN"})
		want := r.String(text.String())
		got := written(t, r, text.String(), func(i int) int {
			if len(cuts) == 0 {
				return 1
			}
			return int(cuts[i%len(cuts)])%9 + i%2
		})
		if got != want {
			t.Fatalf("%q\nin pieces %q\nwhole     %q", text.String(), got, want)
		}
	})
}
