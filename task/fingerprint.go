package task

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"

	"github.com/belay-run/belay/internal/pattern"
)

var (
	anURL  = pattern.Lazy(`\b[a-z][a-z0-9+.-]*://[^\s"'<>)]+`)
	aPlace = pattern.Lazy(`(^|[\s"'(=:,])(?:~|[a-z]:)?[/\\][^\s"'():,]+`)
	anUUID = pattern.Lazy(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}\b`)
	anID   = pattern.Lazy(`\b0x[0-9a-f]+\b|\b[0-9a-f]{6,}[0-9][0-9a-f]*\b|\b[0-9][0-9a-f]{6,}\b|\b[\p{L}_]*(?:[0-9]+[\p{L}_]+[0-9]+|[\p{L}_]+[0-9]+[\p{L}_]+)[\p{L}0-9_]*`)
	number = pattern.Lazy(`\p{Nd}+(?:[.:,]\p{Nd}+)*(?:(?:st|nd|rd|th|ns|us|ms|[smhd]|[kmgt]i?b)\b)?`)
	aTime  = pattern.Lazy(`\b(?:mon|tues?|wed|wednes|thu|thurs?|fri|sat|satur|sun)(?:day)?,?\s+#|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec)[a-z]*\.?\s+#|#\s+(?:jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec)(?:uary|ruary|ch|il|e|y|ust|tember|ober|ember)?\b|#\s*(?:am|pm|utc|gmt|z)\b`)
	blanks = pattern.Lazy(`[\s#:.,+/_-]*#[\s#:.,+/_-]*|\s+`)
)

// Fingerprint is the same for the same thing in another run, at another time and
// on another machine: its kind, its headline and its place, without numbers,
// ids, times, addresses and paths outside of the repository, whose root may be "".
func Fingerprint(kind, headline, place, repo string) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{essence(kind, repo), essence(headline, repo), essence(place, repo)}, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// essence is what stays of a text when all that changes from time to time is gone.
func essence(text, repo string) string {
	if repo = strings.TrimRight(repo, "/"); repo != "" {
		text = strings.ReplaceAll(text, repo+"/", "./")
	}
	text = strings.ToLower(strings.ToValidUTF8(text, "\uFFFD"))
	plain := strings.Join(strings.Fields(text), " ")
	text = aPlace().ReplaceAllString(anURL().ReplaceAllString(text, "#"), "${1}#")
	for _, re := range []*regexp.Regexp{anUUID(), anID(), number(), aTime()} {
		text = re.ReplaceAllString(text, "#")
	}
	text = blanks().ReplaceAllStringFunc(text, func(s string) string {
		if strings.Contains(s, "#") {
			return " # "
		}
		return " "
	})
	text = strings.Join(strings.Fields(text), " ")
	if strings.Trim(text, " #") == "" { // nothing but what changes: then that is all there is
		return plain
	}
	return text
}
