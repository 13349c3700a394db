package recipe_test

import (
	"fmt"

	"github.com/belay-run/belay/recipe"
)

func ExampleParse() {
	r, problems := recipe.Parse("release.yaml", []byte(`
name: release
steps:
  - id: build
    command: make build
    output: archive
  - id: publish
    needs: [build]
    command: ./publish {{archive}}
    once: true
`))
	fmt.Println(r.Name, len(problems))
	for _, s := range r.Steps {
		fmt.Println(s.ID, s.Type, s.Once)
	}
	// Output:
	// release 0
	// build bash false
	// publish bash true
}

// Every problem has its place, and nearly every one says what to write instead. With an
// error among them there is no recipe.
func ExampleParse_problems() {
	r, problems := recipe.Parse("release.yaml", []byte(`name: release
steps:
  - id: build
    comand: make build
  - id: publish
    needs: [bild]
    command: ./publish
`))
	fmt.Println(r == nil)
	for _, p := range problems {
		fmt.Println(p)
		fmt.Println("  ", p.Hint)
	}
	// Output:
	// true
	// release.yaml:4:5: error: unknown key "comand"
	//    did you mean "command"?
	// release.yaml:6:13: error: no step has the id "bild"
	//    did you mean "build"?
}
