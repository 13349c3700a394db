package receipt

import "testing"

// What nobody counted is never told as none.
func TestCounted(t *testing.T) {
	t.Parallel()
	one := []File{{Path: "a", Change: "added"}}
	for want, c := range map[string]Changes{
		"1 file, +1 −0, 0 commits":                               {Files: 1, Added: 1, List: one, Trees: make([]Tree, 1)},
		"Files changed, and are not counted (no git repository)": {Blind: []string{"/d"}, Trees: make([]Tree, 1)},
		"1 file changed; lines are not counted (no git repository)": {
			Files: 1, List: []File{{Path: "a", Uncounted: true}}, Blind: []string{"/d"}, Trees: make([]Tree, 1),
		},
		"1 file, +1 −0, 0 commits; not counted: what changed in `/d` (no git repository)": {
			Files: 1, Added: 1, List: one, Blind: []string{"/d"}, Trees: make([]Tree, 2),
		},
	} {
		if got := c.counted(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
