package redact

import (
	"encoding/base64"
	"strings"
	"testing"
)

// TestAsProgramsPrintIt: forms that shells, URLs, pages and base64 give a value.
func TestAsProgramsPrintIt(t *testing.T) {
	t.Parallel()
	const v = `with space$and"quo/te&more`
	long := strings.Repeat("0123456789abcdef", 8)
	r := New([]string{v, long})
	for name, text := range map[string]string{
		"encodeURIComponent": `with%20space%24and%22quo%2Fte%26more`,
		"python quote":       `with%20space%24and%22quo/te%26more`,
		"printf %q":          `with\ space\$and\"quo/te\&more`,
		"declare -p":         `with space\$and\"quo/te&more`,
		"html":               `with space$and&#34;quo/te&amp;more`,
		"json in json":       `with space$and\\\"quo/te&more`,
		"od -tx1":            `77 69 74 68 20 73 70 61 63 65 24 61 6e 64 22 71 75 6f 2f 74 65 26 6d 6f 72 65`,
	} {
		if got := r.String("x " + text + " y"); got != "x "+Replacement+" y" {
			t.Errorf("%s: %s", name, got)
		}
	}
	for _, width := range []int{76, 64} {
		all := base64.StdEncoding.EncodeToString([]byte(long))
		var lines []string
		for len(all) > width {
			lines, all = append(lines, all[:width]), all[width:]
		}
		lines = append(lines, all)
		for _, l := range strings.Split(r.String(strings.Join(lines, "\n")), "\n") {
			if l != Replacement {
				t.Errorf("base64 in lines of %d: %s", width, l)
			}
		}
	}
}
