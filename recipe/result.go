package recipe

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/belay-run/belay/effect"
)

func readOutput(p *parser, d *draft, k, v *yaml.Node) {
	name, ok := p.filled(k, v)
	if ok && p.variable(v, name, varForm) {
		d.Output = name
		p.sets(v, name)
	}
}

// readParseJSON reads both keys; the stricter one wins.
func readParseJSON(p *parser, d *draft, k, v *yaml.Node) {
	if !p.boolean(k, v) {
		return
	}
	if !p.muted {
		d.jsonPos = posOf(k)
	}
	switch {
	case k.Value == "parse_json_required":
		d.JSON = effect.JSONRequired
	case d.JSON == effect.JSONAuto:
		d.JSON = effect.JSONExtract
	}
}

func readJSONKeys(p *parser, d *draft, k, v *yaml.Node) {
	if d.Keys = p.texts(k, v); len(d.Keys) > 0 && d.JSON == effect.JSONAuto { // whatever key comes first
		d.JSON = effect.JSONExtract
	}
}

// readOutputs reads results beyond stdout.
func readOutputs(p *parser, d *draft, k, v *yaml.Node) {
	const form = "write outputs: {name: {file: PATH}} or {name: {json: PATH}}"
	if v.Kind != yaml.MappingNode {
		p.wrong(k, v, "a mapping", form)
		return
	}
	for i := 0; i+1 < len(v.Content); i += 2 {
		name, what := v.Content[i], v.Content[i+1]
		if p.twice[name] || !p.variable(name, name.Value, varForm) {
			continue
		}
		if what.Kind != yaml.MappingNode {
			p.wrong(name, what, "a mapping", form)
			continue
		}
		spec := effect.OutputSpec{Name: name.Value}
		readKeys(p, what, outputKeys, 0, &spec)
		switch {
		case spec.File != "" && spec.Path != "":
			p.fail(posOf(name), "leave one of them out", "%q is a file or a place in the JSON, not both", name.Value)
		case len(what.Content) == 0:
			p.fail(posOf(name), form, "nothing says where %q comes from", name.Value)
		case d.Output == name.Value:
			p.fail(posOf(name), "rename one of them", "%q is already the output of this step", name.Value)
		default:
			p.sets(name, name.Value)
			d.Outputs = append(d.Outputs, spec)
		}
	}
}

var outputKeys = newTable(map[string]string{"path": "file"},
	key[effect.OutputSpec]{name: "file", bound: bounds{text: formFile}, types: []string{typeText}, form: "PATH", doc: "A file that the step wrote, from its directory on.",
		read: func(p *parser, o *effect.OutputSpec, k, v *yaml.Node) {
			name, ok := p.filled(k, v)
			switch {
			case !ok:
			case strings.Contains(name, "{{"):
				p.fail(posOf(v), "", "the name of the file is taken as it is written, nothing is filled in")
			case strings.HasPrefix(name, "/"):
				p.fail(posOf(v), "", "the file is named from the step's directory on, so not with a / in front")
			default:
				o.File = name
			}
		}},
	key[effect.OutputSpec]{name: "json", bound: bounds{text: formPath}, types: []string{typeText}, form: "items[0].id", doc: "A place in the JSON that the step printed.",
		read: func(p *parser, o *effect.OutputSpec, k, v *yaml.Node) {
			path, ok := p.filled(k, v)
			if ok && !pathForm(path) {
				p.fail(posOf(v), "write it like items[0].id", "%q is no place in JSON", clip(path))
				return
			}
			o.Path = path
		}},
)

// pathForm tells whether s is names and indexes: a.b[0].c or [1].x.
func pathForm(s string) bool {
	first := true
	for s != "" {
		if s[0] == '[' {
			end := strings.IndexByte(s, ']')
			if end < 2 || end > 10 || strings.Trim(s[1:end], "0123456789") != "" {
				return false
			}
			s, first = s[end+1:], false
			continue
		}
		if !first {
			if s[0] != '.' {
				return false
			}
			s = s[1:]
		}
		end := strings.IndexAny(s, ".[")
		if end < 0 {
			end = len(s)
		}
		if end == 0 || strings.ContainsAny(s[:end], "]{}\"' \t\n") {
			return false
		}
		s, first = s[end:], false
	}
	return !first
}
