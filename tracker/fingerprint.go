package tracker

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/belay-run/belay/internal/pattern"
	"github.com/belay-run/belay/task"
)

const (
	maxTitle = 200   // characters of a title
	maxText  = 60000 // characters of a body: GitHub takes 65536
)

var (
	printForm = pattern.Lazy(`^[a-z0-9][a-z0-9._-]{0,63}$`)
	markLine  = pattern.Lazy(`(?m)^belay-fingerprint: ([a-z0-9][a-z0-9._-]{0,63})(?: ([0-9a-f]{16}))?[ \t\r]*$`)
	markWord  = pattern.Lazy(`(?i)belay-(fingerprint|seen):`)
	seenLine  = pattern.Lazy(`(?m)^belay-seen: ([a-z0-9][a-z0-9._-]{0,63})[ \t\r]*$`)
)

// Fingerprint is the mark of an issue; see task.Fingerprint.
func Fingerprint(kind, headline, place, repo string) string {
	return task.Fingerprint(kind, headline, place, repo)
}

// CheckFingerprint gives the form in which a fingerprint is kept.
func CheckFingerprint(text string) (string, error) {
	p := strings.ToLower(text)
	if !printForm().MatchString(p) {
		return "", fmt.Errorf("%q cannot be a fingerprint: it takes 1 to 64 of a-z, 0-9, dot, - and _, with a letter or digit first", text)
	}
	return p, nil
}

// headline is a text as a title: one line, of a length that trackers take.
func headline(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	return cut(strings.Join(strings.Fields(text), " "), maxTitle)
}

// plain is a text without what a terminal would act on.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

func cut(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}

// marked is a body with its marker. It stands in plain sight: what is hidden in
// a comment of HTML does not survive every program that handles issues. Words of
// the text that look like a marker lose that look.
func marked(text, mark, filing string) string {
	return fmt.Sprintf("%s\n\n---\nbelay-fingerprint: %s %s\n", strings.TrimSpace(harmless(text)), mark, filing)
}

// seenAgain is a comment with its marker.
func seenAgain(text, mark string) string {
	return fmt.Sprintf("%s\n\n---\nbelay-seen: %s\n", strings.TrimSpace(harmless(text)), mark)
}

func harmless(text string) string {
	return markWord().ReplaceAllString(cut(plain(text), maxText), "belay $1:")
}

// MarkIn tells whether a body carries a fingerprint, and which filing made it.
// The last marker counts: it is the one that Belay wrote.
func MarkIn(body, mark string) (filing string, ok bool) {
	all := markLine().FindAllStringSubmatch(strings.ReplaceAll(body, "\r\n", "\n"), -1)
	if len(all) == 0 || all[len(all)-1][1] != mark {
		return "", false
	}
	return all[len(all)-1][2], true
}

// SaidIn tells whether a comment carries a fingerprint.
func SaidIn(comment, mark string) bool {
	all := seenLine().FindAllStringSubmatch(strings.ReplaceAll(comment, "\r\n", "\n"), -1)
	return len(all) > 0 && all[len(all)-1][1] == mark
}

var issueNumber = pattern.Lazy(`(?:^|[\s(\[,;:])#([1-9][0-9]{0,8})\b`)

// Named is the issue that a task names itself (#12): that one is its issue then,
// and no other is filed for it. Of several the first counts.
func Named(task string) (number int, ok bool) {
	m := issueNumber().FindStringSubmatch(task)
	if m == nil {
		return 0, false
	}
	n, err := strconv.Atoi(m[1])
	return n, err == nil
}

// times is how a comment says how often something was seen.
func times(n int, last time.Time) string {
	return fmt.Sprintf("Seen again: %d times on this machine so far, last at %s.", n, last.UTC().Format(time.RFC3339))
}
