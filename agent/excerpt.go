package agent

import (
	"strings"
	"unicode/utf8"

	"github.com/belay-run/belay/internal/pattern"
)

const (
	maxWords = 8 << 10 // of one line of stderr
	// margin is what is not believed at the end of a text that was cut before
	// its secrets were hidden: half of one may be there. No secret is longer.
	margin = 8 << 10
)

// Conceal has a reader hide secrets in a text before it cuts it for a record:
// half a secret is one that nobody recognises afterwards.
func Conceal(r Reader, hide func(string) string) {
	if b, ok := r.(interface{ conceal(func(string) string) }); ok {
		b.conceal(hide)
	}
}

func (b *book) conceal(hide func(string) string) { b.hide = hide }

func (b *book) short(s string, n int) string { return Short(s, n, b.hide) }

// Short cuts a text to a number of bytes for a record, and hides secrets before
// where it is cut. Of a long text only the beginning is looked at, so that it
// takes a bounded time.
func Short(s string, n int, hide func(string) string) string {
	switch {
	case len(s) <= n:
		return s
	case hide == nil:
		return cut(s, n)
	case len(s) <= MaxLook:
		return cut(hide(s), n)
	}
	s = hide(cut(s, MaxLook))
	return cut(s, max(0, min(n, len(s)-margin)))
}

// ShortEnd is the end of a text for a record, as Short is the beginning.
func ShortEnd(s string, n int, hide func(string) string) string {
	if len(s) <= n {
		return s
	}
	cutOff := len(s) > MaxLook
	if cutOff {
		s = s[len(s)-MaxLook:]
	}
	s = hide(s)
	if cutOff {
		s = s[min(margin, len(s)):]
	}
	return strings.ToValidUTF8(s[max(0, len(s)-n):], "")
}

// cut shortens text to a number of bytes, never inside a character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// words is what a line of stderr says; of a very long one, its beginning.
func words(line []byte) string {
	return strings.TrimSpace(plain(string(line[:min(len(line), MaxLook)])))
}

// plain takes the colours of a terminal out of a line.
func plain(s string) string {
	if !strings.Contains(s, "\x1b[") {
		return s
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(s, "\x1b[")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		j := 0
		for j < len(rest) && (rest[j] == ';' || rest[j] >= '0' && rest[j] <= '9') {
			j++
		}
		s = rest[min(j+1, len(rest)):]
	}
}

var (
	// telling are lines that say what happened, in the words of runtimes.
	telling = pattern.Lazy(`^(?:SIG[A-Z]+: |panic: |fatal error: |Segmentation fault|thread '.*' panicked|(?:Uncaught )?(?:[A-Z]\w*)?(?:Error|Exception)\b.*: )`)
	// dumped are lines of a crash that say nothing to a person: registers,
	// frames and addresses.
	dumped = pattern.Lazy(`^(?:[a-z]\w{1,6}\s+0x[0-9a-f]+|at .*|\S+:\d+ \+0x[0-9a-f]+|goroutine \d+ .*|\S+\(.*\)|Node\.js v\S+|exit status \d+)$`)
)

// reason is the line that says best why a program ended: the last one, unless
// that is the end of a crash dump.
func reason(lines []string) string {
	end := last(lines)
	if !dumped().MatchString(end) {
		return end
	}
	for i := len(lines) - 1; i >= 0; i-- {
		if telling().MatchString(lines[i]) {
			return lines[i]
		}
	}
	return end
}

// Excerpt is the beginning and the end of a text, for records.
func Excerpt(text string) string {
	const head, tail = 3 << 10, 1 << 10
	if len(text) <= head+tail {
		return strings.ToValidUTF8(text, "\uFFFD")
	}
	return strings.ToValidUTF8(text[:head], "") + "\n…\n" + strings.ToValidUTF8(text[len(text)-tail:], "")
}
