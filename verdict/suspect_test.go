package verdict

import (
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
)

// What the last words name is looked for, and nothing else.
// promise: F7
func TestWhatWordsName(t *testing.T) {
	t.Parallel()
	c := NewClassifier()
	for text, want := range map[string]effect.AskProbe{
		"bash: line 1: gh: command not found":                                  {Program: "gh"},
		"/bin/sh: 1: protoc: not found\nmake: *** [Makefile:2: gen] Error 127": {Program: "protoc"},
		"/usr/bin/env: ‘node’: No such file or directory":                      {Program: "node"},
		"bash: line 1: exit 7: command not found":                              {},
		"404: not found":               {},
		"bash: tsc: command not found": {Program: "tsc"},
		"zsh: command not found: jq":   {Program: "jq"},
		"run: exec: \"gofumpt\": executable file not found in $PATH":                 {Program: "gofumpt"},
		"./build.sh: line 2: ./tools/gen: No such file or directory":                 {},
		"curl: (6) Could not resolve host: example.invalid":                          {Host: "example.invalid"},
		"dial tcp: lookup example.invalid on 127.0.0.53:53: no such host":            {Host: "example.invalid"},
		"Error: getaddrinfo ENOTFOUND registry.example.org":                          {Host: "registry.example.org"},
		"ssh: Could not resolve hostname git.example.org: Name or service not known": {Host: "git.example.org"},
	} {
		it := Case{Type: belay.TypeBash, Main: effect.Observation{Began: true, Exit: 127, Tail: text}}
		f := belay.Failure{Kind: belay.BashFailure}
		c.Explain(it, &f, Look{})
		q, ok := it.Suspect(f)
		if f.Kind != belay.BashFailure {
			t.Errorf("%q: words alone made it %s", text, f.Kind)
		}
		if q.Program != want.Program || q.Host != want.Host || !ok && (want.Program != "" || want.Host != "") {
			t.Errorf("%q: program %q, host %q, %t", text, q.Program, q.Host, ok)
		}
	}
}
