package recipe

import (
	"bytes"

	"go.yaml.in/yaml/v3"
)

// Values reads a file of variables: a mapping from names to values, read as
// context: of a recipe is. Like Parse it reports every problem, and gives nothing
// when one of them is an error.
func Values(file string, src []byte) ([]Var, []Problem) {
	p := &parser{file: file, src: newSource(bytes.TrimPrefix(src, bom)), env: map[string]string{}}
	p.src.values = true
	var list []Var
	if at, msg := p.src.unreadable(); msg != "" {
		p.fail(at, "", "%s", msg)
	} else if root := p.tree(); root != nil {
		p.variables(root, root, func(name, value *yaml.Node) {
			list = append(list, Var{Name: name.Value, JSON: p.asJSON(value, p.value(value)), Pos: posOf(name)})
		})
	}
	if len(p.errors) > 0 {
		return nil, p.list()
	}
	return list, p.list()
}
