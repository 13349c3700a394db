package redact

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/belay-run/belay/belaytest/scratch"
)

// encoder is a program that writes each of its values in some forms: it reads a
// JSON list of texts and prints a line for each, a JSON list of what it made.
type encoder struct {
	name string
	argv []string
}

const pythonEncodes = `
import base64, binascii, csv, html, io, json, pprint, quopri, re, shlex, sys, urllib.parse, xml.sax.saxutils as x
def table(v):
    f = io.StringIO(); csv.writer(f).writerow([v]); return f.getvalue()
for v in json.load(sys.stdin):
    b = v.encode()
    long = b"some text before " + b + b" and quite a lot of text behind it, so that lines are broken somewhere"
    print(json.dumps([
        repr(v), ascii(v), repr(b), json.dumps(v), json.dumps(v, ensure_ascii=False), json.dumps(json.dumps(v)), json.dumps({"k": v}, indent=1),
        repr({"k": v}), json.dumps(repr(v)), html.escape(v), html.escape(v, quote=False), x.escape(v), x.quoteattr(v), html.escape(json.dumps(v)),
        json.dumps(html.escape(v)), urllib.parse.quote(v), urllib.parse.quote(v, safe=""), urllib.parse.quote_plus(v), urllib.parse.urlencode({"k": v}),
        urllib.parse.quote(json.dumps({"k": v})), urllib.parse.quote(urllib.parse.quote(v)), json.dumps("http://h/?k=" + urllib.parse.quote(v)),
        shlex.quote(v), json.dumps(shlex.quote(v)), shlex.join(["curl", "-H", v]), table(v), re.escape(v), "\n" + quopri.encodestring(b).decode().replace("=\n", ""),
        base64.b64encode(b).decode(), base64.urlsafe_b64encode(b).decode().rstrip("="), base64.encodebytes(long).decode(), json.dumps(base64.encodebytes(long).decode()),
        base64.encodebytes(long).decode().replace("\n", "\r\n"), urllib.parse.quote_plus(base64.b64encode(b).decode()), json.dumps({"k": base64.b64encode(b).decode()}).replace("/", "\\/"),
        b.hex(), b.hex().upper(), b.hex(" "), b.hex(":"), "".join("\\x%02x" % c for c in b), "".join("%%%02X" % c for c in b), ", ".join("0x%02x" % c for c in b),
        "".join("&#%d;" % ord(c) if not c.isalnum() else c for c in v), "".join("&#x%X;" % ord(c) if not c.isalnum() else c for c in v),
        v.replace("'", "''"), v.replace("\n", "\r\n"), v.replace("$", "$$"), v.encode("ascii", "xmlcharrefreplace").decode(), v.encode("unicode_escape").decode(),
    ]))
`

const nodeEncodes = `
const util = require('util'), qs = require('querystring');
for (const v of JSON.parse(require('fs').readFileSync(0))) {
  const b = Buffer.from(v);
  console.log(JSON.stringify([JSON.stringify(v), encodeURIComponent(v), encodeURI(v), escape(v), util.inspect(v), util.inspect({k: v}), qs.escape(v),
    new URLSearchParams({k: v}).toString(), JSON.stringify({u: 'http://h/?k=' + encodeURIComponent(v)}), encodeURIComponent(JSON.stringify({k: v})),
    JSON.stringify(JSON.stringify({k: v})), b.toString('base64'), b.toString('base64url'), b.toString('hex'), String.raw({raw: [v]})]));
}`

const jqEncodes = `.[] | [., @json, @uri, @html, @sh, @base64, ([.] | @csv), ([.] | @tsv), (@json | @uri), (@uri | @json), (@html | @json), (@json | @json), (@json | @sh), (tojson | @html)]`

// bash decides by what stands around a character whether it is escaped.
const bashEncodes = `
while IFS= read -r -d '' v; do
  arr=("$v"); s=${v//\\/\\\\}; doc="{\"k\":\"${s//\"/\\\"}\"}"; printf -v q %q "$v"; alias k="$v"
  printf '%s\0' "$q" "${v@Q}" "${doc@Q}" "${v@A}" "${arr[*]@A}"
  printf '%q\0' "$doc" "$q" "--key=$v"
  declare -p v; printf '\0'; declare -p arr; printf '\0'; alias k; printf '\0'
  { set -x; : "$v"; x=$v; } 2>&1; { set +x; } 2>/dev/null; printf '\0'
  printf 'end\0'
done`

var encoders = []encoder{
	{"python3", []string{"python3", "-c", pythonEncodes}},
	{"node", []string{"node", "-e", nodeEncodes}},
	{"jq", []string{"jq", "-c", jqEncodes}},
	{"bash", []string{"bash", "-c", bashEncodes}},
}

// nasty makes values of the characters that programs escape, few of them with a
// letter between.
func nasty(rng *rand.Rand, n int) []string {
	signs := []rune(`!"#$%&'()*+,-./:;<=>?@[\]^_{|}~` + "` \t")
	rare := []rune("éß漢😀\u00a0\u2028\n\x1b\x01")
	var values []string
	for len(values) < n {
		var b strings.Builder
		for range 8 + rng.IntN(30) {
			switch pick := rng.IntN(20); {
			case pick == 0 && len(values)%2 == 0:
				b.WriteRune(rare[rng.IntN(len(rare))])
			case pick < 12:
				b.WriteRune(signs[rng.IntN(len(signs))])
			default:
				b.WriteByte("abnrtuxzABEU0179"[rng.IntN(16)])
			}
		}
		v := b.String()
		if v == strings.TrimSpace(v) { // blanks at the ends do not count
			values = append(values, v)
		}
	}
	return append(values, `a=b#c~d~e`, `#a=~b:~c`, `~x=~y z`, `a'b"c<d>&e`, `it's "q" & more`, `\\\\\\\\`, `""""""""`, `''''''''`, `%%%%%%%%`, `&amp;&lt;&`, `\n\t\x41\u0041`, `%41%42+%20 +`)
}

// TestLongRealEncoders gives nasty values to the programs that people use, and
// hides what they make of them. Of the value there is left, at the most, the
// edge of a longer text in base64.
func TestLongRealEncoders(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6)) //nolint:gosec // the same in every run on purpose
	values := nasty(rng, 240)
	for _, e := range encoders {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(e.argv[0]); err != nil {
				t.Skipf("%s is not installed: its forms are not looked at", e.name)
			}
			looked, leaks := 0, 0
			for i, made := range e.run(t, values) {
				r := New([]string{values[i]})
				for k, text := range made {
					looked++
					if got := r.String(text); shows(values[i], got) {
						if leaks++; leaks <= 10 {
							t.Errorf("form %d of %q: %q is shown as %q", k, values[i], text, got)
						}
					}
				}
			}
			t.Logf("%s: %d values, %d texts, %d leaks", e.name, len(values), looked, leaks)
		})
	}
}

// shows tells whether nothing was hidden in a text, or a part of the value is
// still there.
func shows(value, text string) bool {
	const part = 6
	for i := 0; i+part <= len(value); i++ {
		if strings.Contains(text, value[i:i+part]) {
			return true
		}
	}
	return !strings.Contains(text, Replacement)
}

func (e encoder) run(t *testing.T, values []string) [][]string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), e.argv[0], e.argv[1:]...) //nolint:gosec // the programs above
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
	if e.name == "bash" {
		cmd.Stdin = strings.NewReader(strings.Join(values, "\x00") + "\x00")
	} else {
		b, err := json.Marshal(values)
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stdin = bytes.NewReader(b)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v: %s", e.name, err, &stderr)
	}
	all := madeOf(t, e, out)
	if len(all) != len(values) {
		t.Fatalf("%s made %d lines of %d values", e.name, len(all), len(values))
	}
	return all
}

func madeOf(t *testing.T, e encoder, out []byte) (all [][]string) {
	t.Helper()
	if e.name == "bash" {
		for _, one := range strings.SplitAfter(string(out), "\x00end\x00") {
			if one = strings.TrimSuffix(one, "\x00end\x00"); one != "" {
				all = append(all, strings.Split(one, "\x00"))
			}
		}
		return all
	}
	for line := range strings.Lines(string(out)) {
		var made []string
		if err := json.Unmarshal([]byte(line), &made); err != nil {
			t.Fatalf("%s: %v: %s", e.name, err, line)
		}
		all = append(all, made)
	}
	return all
}
