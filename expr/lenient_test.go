package expr

import "testing"

// What is not there is nothing where the older runner's ways are asked for.
func TestLenient(t *testing.T) {
	for src, want := range map[string]string{
		"[{{missing}}]": "[]", "[{{missing.a}}]": "[]", "[{{missing.a.b}}]": "[]", "[{{nothing.a}}]": "[]", "[{{obj.no}}]": "[]", "[{{s.k}}]": "[]",
		"[{{lst[9]}}]": "[]", "{{obj.k}}": "v", "{{missing.a | default('x')}}": "x",
	} {
		text, err := ParseText(src)
		if err != nil {
			t.Fatal(err)
		}
		text.Lenient()
		if got, err := text.Render(look(vars())); err != nil || got != want {
			t.Errorf("%s is %q, %v; want %q", src, got, err, want)
		}
	}
	for src, want := range map[string]bool{
		"empty.a == 'x'": false, "nothing.a.b == null": true, "obj.no.x == null": true, "s.k == null": true, "empty[0] == null": true, "obj.k == 'v'": true,
	} {
		e, err := Parse(src)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Eval(look(vars())); err == nil && src != "obj.k == 'v'" {
			t.Errorf("%s is no error", src)
		}
		e.Lenient()
		if got, err := e.Truth(look(vars())); err != nil || got != want {
			t.Errorf("%s is %v, %v; want %v", src, got, err, want)
		}
	}
}
