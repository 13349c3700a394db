package redact

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
)

const pem = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgevZzL1gdAFr88hb2
OF/2NxApJCzGCEDdfSp6VQO30hyhRANCAAQRWz+jn65BtOMvdyHKcvjBeBSDZH2r
1RTwjmYSi9R/zpBnuQ4EiMnCqfMPWiZqB4QdbAd0E7oH50VpuZ1P087G
-----END PRIVATE KEY-----
`

func TestParts(t *testing.T) {
	t.Parallel()
	account := `{
  "type": "service_account",
  "auths": {
    "registry.example.org": {"auth": "dXNlcjpodW50ZXIy"}
  },
  "private_key": ` + string(mustJSON(pem)) + `,
  "pin": "1234567",
  "list": ["alpha-beta-1"],
  "count": 12345678
}`
	list := "first-pass-phrase\n\n{\nshort\nsecond pass phrase\n}\n"
	yaml := "---\nproduction:\n  password: hunter22\n- name: |\n"
	for _, c := range []struct{ name, value, text, want string }{
		{"a line", list, "second pass phrase!", "[REDACTED]!"},
		{"the first line", list, "it is first-pass-phrase.", "it is [REDACTED]."},
		{"a short line", list, "short {}", "short {}"},
		{"the whole", list, "<" + strings.TrimSpace(list) + ">", "<[REDACTED]>"},
		{"a line in base64", list, base64.StdEncoding.EncodeToString([]byte("second pass phrase")), "[REDACTED]"},
		{"a line of a key", pem, "> OF/2NxApJCzGCEDdfSp6VQO30hyhRANCAAQRWz+jn65BtOMvdyHKcvjBeBSDZH2r <", "> [REDACTED] <"},
		{"the frame of a key", pem, "no -----BEGIN PRIVATE KEY----- and no -----END PRIVATE KEY----- here", ""},
		{"a string in JSON", account, "auth dXNlcjpodW50ZXIy.", "auth [REDACTED]."},
		{"a string in a list in JSON", account, "alpha-beta-1.", "[REDACTED]."},
		{"a line of a key in JSON", account, "1RTwjmYSi9R/zpBnuQ4EiMnCqfMPWiZqB4QdbAd0E7oH50VpuZ1P087G.", "[REDACTED]."},
		{"JSON: names, short strings, numbers, well-known words", account, "private_key registry.example.org 1234567 12345678 service_account, \"auths\": { done", ""},
		{"JSON in one line", `{"a":"hunter22-x"}`, "hunter22-x.", "[REDACTED]."},
		{"a line of YAML", yaml, "password: hunter22.", "[REDACTED]."},
		{"the frame of YAML", yaml, "production:\n--- - name: | ", ""},
		{"one line has no parts", "swordfish lagoon", "swordfish and lagoon.", ""},
		{"no JSON", `{"a":"hunter22-x"`, "hunter22-x.", ""},
	} {
		want := c.want
		if want == "" {
			want = c.text
		}
		if got := Values([]string{c.value}).String(c.text); got != want {
			t.Errorf("%s: %q became %q, want %q", c.name, c.text, got, want)
		}
	}
}

// What was cut off at the end of a text is hidden by its beginning.
func TestCutOff(t *testing.T) {
	t.Parallel()
	const value = "hunter22-swordfish"
	encoded := base64.StdEncoding.EncodeToString([]byte("user:" + value))
	for _, c := range []struct{ name, value, text, want string }{
		{"eight characters", value, "pass hunter22", "pass [REDACTED]"},
		{"seven", value, "pass hunter2", "pass hunter2"},
		{"all but one", value, "pass hunter22-swordfis", "pass [REDACTED]"},
		{"in the middle of an escape", "hunter22\"swordfish", `pass hunter22\`, "pass [REDACTED]"},
		{"not at the end", value, "hunter22-swordfi.", "hunter22-swordfi."},
		{"in base64", value, encoded[:20], encoded[:7] + "[REDACTED]"},
		{"in hex", value, "68756e74657232322d73776f", "[REDACTED]"},
		{"a line", "alpha-1-one\nbeta-22-two", "x beta-22-t", "x [REDACTED]"},
		{"a key", pem, pem[:60], "[REDACTED]"},
		{"only the frame of a key", pem, "see -----BEGIN PRIVATE KEY-----", "see -----BEGIN PRIVATE KEY-----"},
		{"a word that the value begins with", "production/db-1/x", "deploy to production", "deploy to production"},
		{"part of such a word", "production/db-1/x", "deploy to producti", "deploy to [REDACTED]"},
	} {
		r := Values([]string{c.value})
		if got := r.String(c.text); got != c.want {
			t.Errorf("%s: %q became %q, want %q", c.name, c.text, got, c.want)
		}
		for size := 1; size <= len(c.text); size++ {
			if got := written(t, r, c.text, func(int) int { return size }); got != c.want {
				t.Errorf("%s, in pieces of %d: %q, want %q", c.name, size, got, c.want)
			}
		}
	}
}

func mustJSON(s string) []byte {
	b, _ := json.Marshal(s) // a string always marshals
	return b
}
