package cli

import (
	"golang.org/x/sys/unix"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/tui"
	"github.com/belay-run/belay/story"
)

// saidOf tells of which failed steps a screen said why, and whether that was last, to those who read the end of a run
// as well; nil where others may read only one of the two.
func (a *app) saidOf(screen *tui.Screen) func(story.Place) (told, last bool) {
	if screen == nil || !a.together && !sameFile(a.out.w, a.std.Err) {
		return nil
	}
	return screen.Told
}

// sameFile tells whether two streams go to the same terminal, file or pipe.
func sameFile(streams ...any) bool {
	var stats [2]unix.Stat_t
	for i, w := range streams {
		f, ok := w.(interface{ Fd() uintptr })
		if !ok || unix.Fstat(int(f.Fd()), &stats[i]) != nil { //nolint:gosec // a descriptor is small
			return false // nothing is left out
		}
	}
	return stats[0].Dev == stats[1].Dev && stats[0].Ino == stats[1].Ino
}

// withReceipt names the receipt in a summary; how the run stands stays its last line.
func withReceipt(lines []string, name string, run belay.RunID) []string {
	last := len(lines) - 1
	return append(lines[:last:last], "receipt: "+name+" receipt "+string(run), lines[last])
}
