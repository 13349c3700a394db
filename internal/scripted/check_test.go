package scripted

import (
	"errors"
	"testing"
)

// A mistake is found wherever it stands, also in a part that this start would
// not have come to.
func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		name, script string
		line         int // 0 = it is fine
	}{
		{"acts", "- say: x\n- answer: {n: 1}\n- hang\n", 0},
		{"all shapes", "steps:\n  a: {attempts: [[{say: x}], {cases: [{when: y, acts: [hang]}]}]}\n  \"*\": [{answer: z}]\n", 0},
		{"empty", "", 1},
		{"no list", "just words\n", 1},
		{"unknown act", "- say: x\n- sai: y\n", 2},
		{"in another step", "steps:\n  a:\n    - answer: x\n  b:\n    - sai: y\n", 5},
		{"in another attempt", "attempts:\n  - - answer: x\n  - - sai: y\n", 3},
		{"in a mapping under an attempt", "attempts:\n  - - answer: x\n  - acts:\n      - sai: y\n", 4},
		{"in another case", "cases:\n  - {when: a, acts: [{answer: x}]}\n  - {when: b, acts: [{sai: y}]}\n", 3},
		{"unknown key", "stepz:\n  a: [{answer: x}]\n", 1},
		{"two keys", "acts: [{answer: x}]\nattempts: [[{answer: x}]]\n", 1},
		{"only when", "cases:\n  - {when: a}\n", 2},
		{"bad size", "- flood: many\n", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := Check([]byte(tt.script))
			var bad *Bad
			switch {
			case tt.line == 0:
				if err != nil {
					t.Error(err)
				}
			case !errors.As(err, &bad) || bad.Line != tt.line:
				t.Errorf("%v, want line %d", err, tt.line)
			}
		})
	}
	if err := Check([]byte("a: [1\n")); err == nil {
		t.Error("what is no YAML is taken")
	}
}
