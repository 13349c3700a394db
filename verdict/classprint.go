package verdict

import (
	"crypto/sha256"
	"encoding/hex"
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
	printID  = pattern.Lazy(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}\b`)
	printDir = pattern.Lazy(`(?:^|[\s"'(=:])(?:~|[a-z]:)?[/\\][^\s"'():,]+`)
)

// tail is the part of a text that is looked at: its last lines, without colours
// and with plain apostrophes.
func tail(text string) string {
	if len(text) > lastBytes {
		text = text[len(text)-lastBytes:]
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	if strings.Contains(text, "\x1b") {
		text = escapes().ReplaceAllString(text, "")
	}
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
	if strings.Contains(text, "://") {
		text = printURL().ReplaceAllString(text, " # ")
	}
	if hasDir(text) {
		text = printDir().ReplaceAllString(text, " # ")
	}
	if strings.Contains(text, "-") {
		text = printID().ReplaceAllString(text, " # ")
	}
	return plainWords(text)
}

func named(tool string, code int) string {
	if tool == "" {
		return strconv.Itoa(code)
	}
	return tool + "." + strconv.Itoa(code)
}
