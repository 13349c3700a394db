package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/agent"
)

// read is a text as a transcript of the kind shows it, given in pieces of n bytes.
func read(t *testing.T, kind agent.Kind, text string, n int) string {
	t.Helper()
	var b strings.Builder
	tale := newTranscript(&b, kind)
	if tale == nil {
		t.Fatalf("no transcript for %s", kind)
	}
	for len(text) > 0 {
		piece := text[:min(n, len(text))]
		if wrote, err := tale.Write([]byte(piece)); err != nil || wrote != len(piece) {
			t.Fatalf("write: %d, %v", wrote, err)
		}
		text = text[len(piece):]
	}
	if err := tale.close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func capture(t *testing.T, kind agent.Kind, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "agent", "testdata", "captures", string(kind), name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// What each program really printed becomes lines that a person can read, however
// it is cut into pieces, and the answer that follows is not shown twice.
func TestTranscriptsOfRealPrograms(t *testing.T) {
	t.Parallel()
	const answer = "MOCK-FINAL-ANSWER ok\n"
	for kind, want := range map[agent.Kind]string{
		agent.Claude:   "Running it.\n$ echo oops >&2; exit 7 → exit 7\n" + answer,
		agent.Codex:    "Running it.\n$ echo oops >&2; exit 7 → exit 7\n" + answer,
		agent.Gemini:   "Running it.\n$ echo oops >&2; exit 7\n" + answer,
		agent.Copilot:  "Running it.\n$ echo oops >&2; exit 7 → exit 7\n" + answer,
		agent.Qwen:     "Running it.\n$ echo oops >&2; exit 7 → exit 7\n" + answer,
		agent.OpenCode: "Running it.\n$ echo oops >&2; exit 7 → exit 7\n" + answer,
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			src := capture(t, kind, "failing-tool") + strings.TrimSpace(answer) // as the attendant ends it
			whole := read(t, kind, src, len(src))
			_, got, _ := strings.Cut(whole, "\n")
			if first, _, _ := strings.Cut(whole, "\n"); !strings.HasPrefix(first, "session ") {
				got = whole
			}
			if got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			for _, n := range []int{1, 7, 1000} {
				if cut := read(t, kind, src, n); cut != whole {
					t.Errorf("in pieces of %d:\n%s", n, cut)
				}
			}
		})
	}
}

func TestTranscriptTellsRetriesAndErrors(t *testing.T) {
	t.Parallel()
	got := read(t, agent.Claude, capture(t, agent.Claude, "knob-retries1-http401"), 4096)
	for _, want := range []string{"\nretry: authentication_failed 401 (in 601ms)\n", "\nerror: not logged in, or wrong credentials: Invalid API key · Fix external API key\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestTranscript(t *testing.T) {
	t.Parallel()
	const final = `{"type":"final","text":"x","stop":"done"}` + "\n"
	for name, c := range map[string]struct{ in, want string }{
		"lines that are no records are passed on":  {"warning: old node\n{\"type\":\"te\n\n… 900 bytes left out …\n", "warning: old node\n{\"type\":\"te\n… 900 bytes left out …\n"},
		"records that tell nothing are not shown":  {`{"type":"usage","usage":{"input":3}}` + "\n", ""},
		"the answer that was said is not repeated": {`{"type":"text","text":"one\ntwo"}` + "\n" + final + "one\ntwo", "one\ntwo\n"},
		"an answer that was not said is shown":     {`{"type":"text","text":"one"}` + "\n" + final + "one\nand more", "one\none\nand more\n"},
		"an answer that is JSON is shown":          {final + `{"a": 1}`, "{\"a\": 1}\n"},
		"an answer of a run that was cut off":      {`{"type":"text","text":"I was"}` + "\nI was", "I was\n"},
		"text that goes on after a line it repeats": {
			`{"type":"text","text":"one"}` + "\none\n" + `{"type":"text","text":"two"}` + "\n", "one\none\ntwo\n",
		},
		"tools that run at the same time": {
			`{"type":"tool","id":"1","tool":{"name":"bash","command":"a"}}` + "\n" + `{"type":"tool","id":"2","tool":{"name":"bash","command":"b\nc"}}` + "\n" +
				`{"type":"done","id":"1","tool":{"exit":0}}` + "\n" + `{"type":"done","id":"2","tool":{"exit":3}}` + "\n",
			"$ a\n$ b c\n$ a → exit 0\n$ b c → exit 3\n",
		},
		"a tool that was denied": {
			`{"type":"tool","id":"1","tool":{"name":"edit","path":"x.go"}}` + "\n" + `{"type":"done","id":"1","tool":{"denied":true}}` + "\n",
			"· edit x.go → denied\n",
		},
		"nothing reaches the terminal but text": {
			`{"type":"text","text":"\u001b[2Ja\u001b]0;t\u0007b\u009b1mc\td\u202ee\r"}` + "\n" + `{"type":"tool","id":"1","tool":{"name":"\u001b[1mx","command":"\u001b[5mls\n"}}` + "\n\x1b[31mred\n",
			"ab1mc\tde\n$ ls\nred\n",
		},
	} {
		if got := read(t, agent.Scripted, c.in, 5); got != c.want {
			t.Errorf("%s: got\n%q, want\n%q", name, got, c.want)
		}
	}
}

// A program without records has its text as it is, and its answer once.
func TestTranscriptOfACommand(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"look\n{\"a\":1}\n\nok\nok\nlook\n{\"a\":1}\n\nok\nok": "look\n{\"a\":1}\n\nok\nok\n",
		"a\nb\na\na\nb\na": "a\nb\na\n",
		"only this":        "only this\n",
		"":                 "",
	} {
		if got := read(t, agent.Command, in, 3); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// The memory of a transcript is bounded: a line without an end is left out and
// said to be, and only the end of what was said is remembered.
func TestTranscriptIsBounded(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	tale := newTranscript(&b, agent.Scripted)
	chunk := []byte(strings.Repeat("x", 1<<20))
	for range 3 * maxRecord / len(chunk) {
		if _, err := tale.Write(chunk); err != nil {
			t.Fatal(err)
		}
		if cap(tale.buf) > 2*maxRecord {
			t.Fatalf("%d bytes are held", cap(tale.buf))
		}
	}
	say := `{"type":"text","text":"` + strings.Repeat("y", maxSaid) + `"}` + "\n"
	if _, err := tale.Write([]byte("\n" + say + say)); err != nil {
		t.Fatal(err)
	}
	if len(tale.said) > maxSaid {
		t.Errorf("%d bytes are remembered", len(tale.said))
	}
	if got, want := b.String(), "… a line of 12.0 MiB is left out; --raw has it …\n"; !strings.HasPrefix(got, want) {
		t.Errorf("got %q", got[:100])
	}
}

type closed struct{}

var errClosed = errors.New("closed")

func (closed) Write([]byte) (int, error) { return 0, errClosed }

func TestTranscriptTellsThatNobodyReads(t *testing.T) {
	t.Parallel()
	tale := newTranscript(closed{}, agent.Scripted)
	if _, err := tale.Write([]byte("text\n")); !errors.Is(err, errClosed) {
		t.Errorf("got %v", err)
	}
}
