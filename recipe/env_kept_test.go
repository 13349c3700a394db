package recipe

import (
	"os"
	"strings"
	"testing"
)

// The page lists exactly the names that the code keeps.
func TestKeptNamesAreListed(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/reference/templates.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, found := strings.Cut(string(page), "These are\n")
	list, _, ended := strings.Cut(list, " and all that begin with `"+keptPrefix+"`.")
	if !found || !ended {
		t.Fatal("the page has no list of kept names")
	}
	got := strings.Fields(strings.NewReplacer("`", "", ",", " ").Replace(list))
	if want := strings.Join(keptNames, " "); strings.Join(got, " ") != want {
		t.Errorf("the page lists %s\nthe code keeps %s", got, want)
	}
	for _, name := range keptNames {
		if _, short := EnvNames(strings.ToLower(name)); short != "" {
			t.Errorf("%s is exported", short)
		}
	}
}
