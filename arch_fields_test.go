package belay_test

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/recipe"
)

// TestKeysAreUsed finds what a recipe says and nobody heeds: a field of a recipe,
// a step or a job that is filled in and read by none of the rooms behind it.
func TestKeysAreUsed(t *testing.T) {
	t.Parallel()
	for _, of := range []struct {
		value any
		rooms []string // where it is read
	}{
		{recipe.Recipe{}, []string{"flow", "engine", "internal/"}},
		{recipe.Step{}, []string{"flow", "engine", "internal/"}},
		{effect.Job{}, []string{"engine", "internal/"}},
	} {
		read := selected(t, of.rooms)
		typ := reflect.TypeOf(of.value)
		for i := range typ.NumField() {
			if f := typ.Field(i); f.IsExported() && !read[f.Name] {
				t.Errorf("%s.%s: nobody in %s reads it", typ, f.Name, strings.Join(of.rooms, ", "))
			}
		}
	}
}

var selector = regexp.MustCompile(`\.([A-Z]\w*)`)

// selected are the names after a dot in the sources of rooms.
func selected(t *testing.T, rooms []string) map[string]bool {
	t.Helper()
	met := map[string]bool{}
	for _, s := range read(t, ".") {
		of := false
		for _, room := range rooms {
			of = of || s.room() == room || strings.HasSuffix(room, "/") && strings.HasPrefix(s.path, room)
		}
		if !of || s.test() {
			continue
		}
		for _, m := range selector.FindAllStringSubmatch(s.text, -1) {
			met[m[1]] = true
		}
	}
	if len(met) < 100 {
		t.Fatalf("only %d names in %v: the test looks at too little", len(met), rooms)
	}
	return met
}
