package library

import (
	"regexp"
	"strings"
	"testing"
)

// What a shipped recipe calls gh for is pull requests. Issues go through belay issue file,
// which files each of them once.
//
// promise: D7
func TestShippedFileNoIssues(t *testing.T) {
	t.Parallel()
	gh := regexp.MustCompile(`\bgh\s+([a-z-]+)`)
	names, files := ShippedNames(), 0
	for _, name := range names {
		text := string(Shipped(name))
		for _, m := range gh.FindAllStringSubmatch(text, -1) {
			if m[1] != "pr" {
				t.Errorf("%s calls %q", name, m[0])
			}
		}
		files += strings.Count(text, `"$BELAY_PROGRAM" issue file`)
	}
	if len(names) < 9 || files < 3 {
		t.Errorf("%d recipes with %d calls of belay issue file: that shows nothing", len(names), files)
	}
}
