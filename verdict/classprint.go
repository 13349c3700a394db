package verdict

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"

	"github.com/belay-run/belay/internal/pattern"
)

// lastLines is how much of a text is looked at: the cause stands at its end.
const lastLines = 40

// lastBytes bounds what 40 very long lines may cost.
const lastBytes = 64 << 10

var (
	escapes  = pattern.Lazy("\x1b\\[[0-9;?]*[ -/]*[@-~]")
	printURL = pattern.Lazy(`\b[a-z][a-z0-9+.-]*://[^\s"'<>)]+`)
	printID  = pattern.Lazy(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}\b|\b[a-z]+_[a-z0-9]*[0-9][a-z0-9]*\b`)
	printHex = pattern.Lazy(`\b(?:0x[0-9a-f]+|[0-9a-f]*[0-9][0-9a-f]*[a-f][0-9a-f]*|[0-9a-f]*[a-f][0-9a-f]*[0-9][0-9a-f]*)\b`)
	printDay = pattern.Lazy(`\b(?:mon|tue|wed|thu|fri|sat|sun|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b|\b[ap]m\b|\b(?:utc|gmt|z)\b`)
	printNum = pattern.Lazy(`[0-9]+(?:[.:,][0-9]+)*(?:(?:st|nd|rd|th|ns|us|µs|ms|[smhd]|[kmgt]i?b)\b)?`)
	printDir = pattern.Lazy(`(?:^|[\s"'(=:])(?:~|[a-z]:)?[/\\][^\s"'():,]+`)
	spaces   = pattern.Lazy(`[\s#]+`)
)

// tail is the part of a text that is looked at: its last lines, without colours
// and with plain apostrophes.
func tail(text string) string {
	if len(text) > lastBytes {
		text = text[len(text)-lastBytes:]
	}
	text = escapes().ReplaceAllString(strings.ToValidUTF8(text, "\uFFFD"), "")
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2019", "'", "\u2018", "'").Replace(text)
	lines := strings.Split(strings.TrimRight(text, " \t\n"), "\n")
	if len(lines) > lastLines {
		lines = lines[len(lines)-lastLines:]
	}
	return strings.Join(lines, "\n")
}

// fingerprint is the same for the same failure in another run, at another time
// and on another machine: the tool, the exit code, and the text without numbers,
// ids, times and places outside of the repository.
func fingerprint(f Facts, text string) string {
	sum := sha256.Sum256([]byte(f.Tool + "\x00" + strconv.Itoa(f.Exit) + "\x00" + strconv.Itoa(f.Signal) + "\x00" + essence(text, f.Repo)))
	return hex.EncodeToString(sum[:8])
}

// essence is what stays of a text when all that changes from run to run is gone.
func essence(text, repo string) string {
	if repo = strings.TrimRight(repo, "/"); repo != "" {
		text = strings.ReplaceAll(text, repo+"/", "./")
	}
	text = strings.ToLower(text)
	for _, re := range []*regexp.Regexp{printURL(), printDir(), printID(), printHex(), printDay(), printNum()} {
		text = re.ReplaceAllString(text, " # ")
	}
	return strings.TrimSpace(spaces().ReplaceAllString(text, " "))
}

func named(tool string, code int) string {
	if tool == "" {
		return strconv.Itoa(code)
	}
	return tool + "." + strconv.Itoa(code)
}
