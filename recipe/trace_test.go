package recipe

import (
	"math/rand/v2"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// marker is found again in the source, however its text is written.
const marker = "{{zz}}"

// scalarOf is the value of the last key of a source.
func scalarOf(t *testing.T, src string) *yaml.Node {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(src), &doc); err != nil {
		t.Fatalf("%q: %v", src, err)
	}
	n := doc.Content[0]
	for n.Kind != yaml.ScalarNode {
		n = n.Content[len(n.Content)-1]
	}
	return n
}

func checkMarker(t *testing.T, src string) {
	t.Helper()
	s, n := newSource([]byte(src)), scalarOf(t, src)
	from := strings.Index(n.Value, marker)
	if from < 0 {
		t.Fatalf("%q: the value %q has no marker", src, n.Value)
	}
	at := s.place(n).offset(from)
	if i := s.offset(at); !strings.HasPrefix(src[i:], marker) {
		t.Errorf("%d:%d is %.20q, not the placeholder of\n%s", at.Line, at.Col, src[i:], src)
	}
	line := strings.Count(n.Value[:from], "\n") + 1
	col := len([]rune(n.Value[strings.LastIndexByte(n.Value[:from], '\n')+1:from])) + 1
	if got := s.place(n).at(Pos{line, col}); got != at {
		t.Errorf("by line and column it is at %v, by offset at %v:\n%s", got, at, src)
	}
	if got := s.inside(n, len([]rune(n.Value[:from]))+1); got != at {
		t.Errorf("by character it is at %v, by offset at %v:\n%s", got, at, src)
	}
}

func TestPlacesOfEveryStyle(t *testing.T) {
	for _, src := range []string{
		"a: x {{zz}}", "é: [é, {k: 'é {{zz}}'}]", "a: 'it''s {{zz}}'", `a: "\"é\" \u00e9\x41\t{{zz}}"`, `a: "{{zz}}\n"`,
		"a: one\n  two\n\n  three {{zz}}\n  four", "a: 'one  \n\n   two {{zz}} \n  x'", "a: \"one \\\n   two\\\n  \\  {{zz}}\"", "a: \"x\\\\ \n  {{zz}}\"",
		"a: |\n  one\n\n    two {{zz}}\n", "a: |2-\n    one\n  {{zz}}\n", "a: |+ # note\n\n  é {{zz}}\n\n", "a: |\r\n  one\r\n  {{zz}}\r\n",
		"a: >-\n  one\n  two {{zz}}\n", "a: >\n  one\n\n\n  two\n    more {{zz}}\n    x\n  end\n", "a: >\n\n  one {{zz}} one\n", "a: >\n  one\n\n    {{zz}}\n",
		"- id: a\n  b: >-\n    echo\n    'x'  {{zz}}\n", "a: \"\\U0001F600 {{zz}}\"", "a: \"one\r\n  {{zz}}\"", "a: '{{zz}}'", "{a: \"{{zz}}\"}",
	} {
		checkMarker(t, src)
	}
}

// Whatever a text is and however it is written, its places are found.
func TestPlacesOfGeneratedTexts(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	words := []string{"a", "be", " ", "  ", "\n", "\n\n", "'", `"`, `\`, "é", "日本", "\t", "#", ": ", "- ", "{", "}}", "\u00a0", "x\n  y", "%", "\u0085", "long words to fold "}
	styles := []yaml.Style{0, yaml.SingleQuotedStyle, yaml.DoubleQuotedStyle, yaml.LiteralStyle, yaml.FoldedStyle}
	checked := 0
	for range 3000 {
		var b strings.Builder
		for i, at, n := 0, r.IntN(12), 12; i < n; i++ {
			if i == at {
				b.WriteString(marker)
			}
			b.WriteString(words[r.IntN(len(words))])
		}
		n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: b.String(), Style: styles[r.IntN(len(styles))]}
		src, err := yaml.Marshal(map[string]any{"k": []*yaml.Node{n}})
		if err != nil {
			t.Fatal(err)
		}
		var back map[string][]string
		if err := yaml.Unmarshal(src, &back); err != nil || back["k"][0] != n.Value {
			continue // the writer of YAML has bugs of its own
		}
		checked++
		checkMarker(t, string(src))
	}
	if checked < 2500 {
		t.Errorf("only %d texts could be looked at", checked)
	}
}

// A value that is not the one of the source is placed at its scalar.
func TestPlaceOfForeignValue(t *testing.T) {
	for _, src := range []string{"a: 'x y'", "a: x y", `a: "x y"`, "a: |\n  x\n  y\n", "a: >\n  x\n"} {
		s, n := newSource([]byte(src)), scalarOf(t, src)
		n.Value = "other {{zz}}"
		if got := s.place(n).offset(6); got != posOf(n) {
			t.Errorf("%q: %v, want %v", src, got, posOf(n))
		}
	}
}
