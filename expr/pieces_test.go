package expr

import "testing"

// The pieces of a text, filled in one by one, are the text filled in.
func TestPiecesMakeTheWhole(t *testing.T) {
	t.Parallel()
	look := func(name string) (any, bool) { return "<" + name + ">", name != "none" }
	for _, src := range []string{"", "plain", "{{a}}", "é {{a}}{{b | trim}} and {{none | default('x')}}.", "{{a}} { {b}} {{c}}"} {
		text, err := ParseText(src)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := text.Render(look)
		if err != nil {
			t.Fatal(err)
		}
		joined := ""
		for _, p := range text.Pieces() {
			s, err := p.Render(look)
			if err != nil {
				t.Fatal(err)
			}
			joined += s
		}
		if joined != whole {
			t.Errorf("%q: the pieces give %q, the whole %q", src, joined, whole)
		}
	}
}
