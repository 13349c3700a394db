package sim

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/belay-run/belay/recipe"
)

// shape is one form of statement that the fake shell reads.
type shape struct {
	form *regexp.Regexp
	make func(m []string) act
}

// shapes are all forms; what fits none is refused. A statement that fails ends
// the script, as it does in a strict shell.
var shapes = []shape{
	{regexp.MustCompile(`^exit (\d+)$`), func(m []string) act {
		return act{do: func(*process) (int, bool) { return digits(m[1]), true }}
	}},
	{regexp.MustCompile(`^sleep ([0-9.]+)$`), func(m []string) act {
		return act{pause: seconds(m[1]), do: func(*process) (int, bool) { return 0, false }}
	}},
	{regexp.MustCompile(`^touch (\S+)$`), func(m []string) act {
		return act{do: func(p *process) (int, bool) { p.touch(m[1]); return 0, false }}
	}},
	{regexp.MustCompile(`^test -f (\S+)$`), func(m []string) act {
		return act{do: func(p *process) (int, bool) { return 1, !p.there(m[1]) }}
	}},
	{regexp.MustCompile(`^test -f (\S+) && exit (\d+)$`), func(m []string) act {
		return act{do: func(p *process) (int, bool) { return digits(m[2]), p.there(m[1]) }}
	}},
	{regexp.MustCompile(`^test -f (\S+) && touch (\S+)$`), func(m []string) act {
		return act{do: func(p *process) (int, bool) {
			if p.there(m[1]) {
				p.touch(m[2])
			}
			return 0, false
		}}
	}},
	{regexp.MustCompile(`^test "\$\(wc -l < (\S+)\)" -ge (\d+)$`), func(m []string) act {
		return act{do: func(p *process) (int, bool) {
			return 1, strings.Count(p.w.files[p.expand(m[1])], "\n") < digits(m[2])
		}}
	}},
	{regexp.MustCompile(`^echo (\S+) >> (\S+)$`), func(m []string) act {
		return act{do: func(p *process) (int, bool) {
			p.w.files[p.expand(m[2])] += p.expand(m[1]) + "\n"
			return 0, false
		}}
	}},
	{regexp.MustCompile(`^echo "?([^"<>|&]*)"?$`), func(m []string) act {
		return act{do: func(p *process) (int, bool) { p.out += p.expand(m[1]); return 0, false }}
	}},
	{regexp.MustCompile(`^printf '([^'%\\]*%0\d+d[^'\\]*)'((?: \d+)+)$`), func(m []string) act {
		return act{do: func(p *process) (int, bool) {
			var numbers []any
			for _, n := range strings.Fields(m[2]) {
				numbers = append(numbers, digits(n))
			}
			p.out += fmt.Sprintf(m[1], numbers...)
			return 0, false
		}}
	}},
	{regexp.MustCompile(`^await (\S+)$`), func(m []string) act {
		return act{do: func(p *process) (int, bool) {
			if !p.there(m[1]) { // look again in a while
				p.next--
				p.prog.acts[p.next].pause = 20 * time.Millisecond
			}
			return 0, false
		}}
	}},
}

var waitLoop = regexp.MustCompile(`while \[ ! -f (\S+) \]; do sleep 0\.02; done`)

// readScript turns a script of the known shapes into a program.
func readScript(text string) (program, error) {
	text = waitLoop.ReplaceAllString(text, "await $1")
	var p program
	for _, statement := range strings.FieldsFunc(text, func(r rune) bool { return r == ';' || r == '\n' }) {
		statement = strings.TrimSpace(statement)
		if statement == "" {
			continue
		}
		a, ok := readStatement(statement)
		if !ok {
			return p, fmt.Errorf("the fake shell cannot read %q", statement)
		}
		p.acts = append(p.acts, a)
	}
	return p, nil
}

func readStatement(text string) (act, bool) {
	for _, s := range shapes {
		if m := s.form.FindStringSubmatch(text); m != nil {
			return s.make(m), true
		}
	}
	return act{}, false
}

func digits(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil { // the form lets only digits through
		return 0
	}
	return n
}

func seconds(s string) time.Duration {
	d, err := time.ParseDuration(s + "s")
	if err != nil { // the form lets only numbers through
		return 0
	}
	return d
}

func (p *process) touch(file string) { p.w.files[p.expand(file)] += "" }

func (p *process) there(file string) bool {
	_, ok := p.w.files[p.expand(file)]
	return ok
}

var variable = regexp.MustCompile(`\$[A-Z_]+`)

// expand puts the values of variables into a word.
func (p *process) expand(word string) string {
	return variable.ReplaceAllStringFunc(word, func(name string) string {
		if name == "$BELAY_ATTEMPT" {
			return strconv.Itoa(p.job.Attempt)
		}
		for _, n := range sortedNames(p.job.Vars) {
			if long, short := recipe.EnvNames(n); name == "$"+long || name == "$"+short {
				return p.w.plain(p.job.Vars[n])
			}
		}
		return ""
	})
}
