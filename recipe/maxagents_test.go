package recipe

import (
	"strings"
	"testing"
)

func TestMaxAgents(t *testing.T) {
	t.Parallel()
	const number = `"max_agents" is a whole number from 1 to 200, or an expression that gives one`
	for _, tt := range []struct{ value, want string }{
		{"80", ""}, {"200", ""}, {"'3'", ""}, {"a", ""}, {"a.most", ""}, {"len(a)", ""},
		{"0", number}, {"201", number}, {"-1", number}, {"1.5", number}, {"true", number}, {"'\"many\"'", number},
		{"'{{a}}'", "without braces"}, {"'a +'", "max_agents: "}, {"[1]", `"max_agents" needs`}, {"''", `"max_agents" is empty`},
	} {
		r, problems := Parse("x.yaml", []byte("name: x\nmax_agents: "+tt.value+"\ncontext: {a: 1}\n"+oneStep))
		text := ""
		for _, p := range problems {
			text += p.String() + "\n"
		}
		switch {
		case tt.want == "" && (text != "" || r == nil || r.MaxAgents == nil):
			t.Errorf("%s: %s", tt.value, text)
		case tt.want != "" && !strings.Contains(text, tt.want):
			t.Errorf("%s: %q, want %q", tt.value, text, tt.want)
		}
	}
}
