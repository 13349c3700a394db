package recipe

import (
	"bytes"
	"fmt"
	"testing"

	"go.yaml.in/yaml/v3"
)

// usual is a recipe of n steps as people write them: a script of a few lines
// with a placeholder, a condition, an output, a timeout.
func usual(n int) []byte {
	var b bytes.Buffer
	b.WriteString("name: usual\ndescription: a recipe like many\ncontext:\n  task: build it\n  repo_path: .\n  level: 3\nsteps:\n")
	for i := range n {
		fmt.Fprintf(&b, `  - id: step-%02d
    type: bash
    description: does part %d of the work
    condition: level >= 2 and task != ''
    working_dir: "{{repo_path}}"
    timeout: 90
    command: |
      echo "part %d of {{task}}"
      if [ -f Makefile ]; then
        make -s check
      fi
    output: part_%02d
`, i, i, i, i)
	}
	return b.Bytes()
}

// BenchmarkParse is to be read beside BenchmarkYAML, which is what the YAML
// library alone needs for the same source: three times that is the limit.
func BenchmarkParse(b *testing.B) {
	src := usual(50)
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		r, problems := Parse("usual.yaml", src)
		if r == nil || len(CheckCalls(r, nil)) > 0 {
			b.Fatal(problems)
		}
	}
}

func BenchmarkYAML(b *testing.B) {
	src := usual(50)
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		var doc yaml.Node
		if err := yaml.Unmarshal(src, &doc); err != nil {
			b.Fatal(err)
		}
	}
}
