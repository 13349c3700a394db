package belay_test

import (
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestRaceRooms holds that every room which may start a goroutine is among those
// that make race looks at.
func TestRaceRooms(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?s)\nRACE_ROOMS\s*:=(.*?[^\\])\n`).FindSubmatch(makefile)
	if found == nil {
		t.Fatal("the Makefile has no RACE_ROOMS")
	}
	rooms := strings.Fields(string(found[1]))
	for place := range mayGo {
		room := place
		if strings.HasSuffix(place, ".go") {
			room = path.Dir(place)
		}
		if !slices.Contains(rooms, "./"+room) {
			t.Errorf("%s may start goroutines, and make race does not look at it", room)
		}
	}
}
